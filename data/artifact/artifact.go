// Package artifact downloads pinned files. Each file is declared with its size and hash, so
// either the file on disk is exactly the one that the program was written for, or an error
// says why not.
//
// A download is written to "<dst>.part" and resumes there after an interruption (HTTP
// Range). It is then checked as a whole, synced to disk and renamed to dst, so an incomplete
// file never has the final name. With the lock file "<dst>.lock" several processes may ask
// for the same file at the same time: one downloads, the others wait for it.
package artifact

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// File is a pinned file: its source, size and hash.
type File struct {
	Name   string // for messages
	URL    string
	SHA256 string // lower-case hexadecimal; "" for an archive of which only the members have one
	Size   int64  // bytes
}

// fetch downloads f to dst unless dst already is f, and shows the progress in log, which may be nil. Every call hashes
// the whole file, about half a second for 200 MB.
//
// Every error is one sentence. It wraps ErrNetwork, errStatus, ErrDamaged, ErrDiskFull,
// ErrNotWritable or the context's error. After an error dst is unchanged; a partial download
// that can be resumed stays in dst.part.
func fetch(ctx context.Context, f File, dst string, log io.Writer) error {
	if f.Verify(dst) == nil {
		return nil // before the lock, so that it works in a read-only folder
	}
	unlock, err := Lock(ctx, dst+".lock", f.Name, log)
	if err != nil {
		return err
	}
	defer unlock()
	switch err := f.Verify(dst); {
	case err == nil:
		return nil // another process downloaded it meanwhile
	case !errors.Is(err, fs.ErrNotExist):
		logf(log, "%s is damaged (%v): downloading it again", dst, err)
	}
	return f.fetchLocked(ctx, dst, log)
}

// fetchLocked downloads to dst.part, checks it and renames it. If a part of an earlier
// download turns out to be damaged, it downloads once more from the start.
func (f File) fetchLocked(ctx context.Context, dst string, log io.Writer) error {
	part := dst + ".part"
	resumed := partSize(part) > 0
	err := download(ctx, f, part, log)
	if err == nil {
		err = f.Verify(part)
	}
	if err != nil && resumed && errors.Is(err, ErrDamaged) {
		logf(log, "the earlier partial download of %s is damaged: downloading it from the start", f.Name)
		os.Remove(part)
		if err = download(ctx, f, part, log); err == nil {
			err = f.Verify(part)
		}
	}
	if errors.Is(err, ErrDamaged) {
		os.Remove(part)
		return explain(ErrDamaged, err, "%s from %s is damaged or was altered (%v); it was deleted: "+
			"try again; if it fails again, check whether a proxy changes downloads", f.Name, f.URL, err)
	}
	if err != nil {
		return err
	}
	if err := syncRename(part, dst); err != nil {
		return explainDisk(err, dst, f.Name)
	}
	return nil
}

// Verify returns nil if path is the file f. It returns fs.ErrNotExist if there is no file,
// and ErrDamaged, with the expected and the found size or hash, if it is another one.
func (f File) Verify(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if info.Size() != f.Size {
		return explain(ErrDamaged, nil, "%d bytes instead of %d", info.Size(), f.Size)
	}
	got, err := sum(sha256.New(), file)
	if err != nil {
		return err
	}
	if f.SHA256 != "" && got != f.SHA256 {
		return explain(ErrDamaged, nil, "SHA-256 %s instead of %s", got, f.SHA256)
	}
	return nil
}

// SHA256 returns the SHA-256 of a file in hexadecimal.
func SHA256(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	text, err := sum(sha256.New(), file)
	if err != nil {
		return "", fmt.Errorf("cannot read %s: %w", path, err)
	}
	return text, nil
}

func sum(h hash.Hash, r io.Reader) (string, error) {
	if _, err := io.CopyBuffer(h, r, make([]byte, 1<<20)); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// InCache returns the path of a file or folder of the cache, or "" if it is not there.
func InCache(name string) (string, error) {
	path, err := CacheDir(name)
	if err != nil {
		return "", nil // there is no cache folder
	}
	switch _, err := os.Stat(path); {
	case err == nil:
		return path, nil
	case os.IsNotExist(err):
		return "", nil
	default:
		return "", fmt.Errorf("cannot look for data in the cache: %w; set TVPS_CACHE to a readable folder", err)
	}
}

// CacheDir returns the folder for files that can be downloaded or computed again:
// $TVPS_CACHE, or "tvps" in the user's cache folder (~/.cache on Linux), or the path of an
// element in it. It may not exist yet.
func CacheDir(element ...string) (string, error) {
	within := filepath.Join(element...)
	if dir := os.Getenv("TVPS_CACHE"); dir != "" {
		return filepath.Abs(filepath.Join(dir, within))
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("cannot find a cache folder (%w): set TVPS_CACHE to one", err)
	}
	return filepath.Join(dir, "tvps", within), nil
}
