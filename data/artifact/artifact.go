// Package artifact downloads pinned files: each is named with its size and hash,
// so what is on disk afterwards is exactly what the program was written for, or an
// error says why not.
//
// A download goes to "<dst>.part", goes on there after a break (HTTP Range), is
// checked as a whole, synced to disk and renamed to dst. Nobody ever sees half a
// file under its final name. A lock file, "<dst>.lock", lets several processes ask
// for the same file at once: one downloads, the others wait for it.
package artifact

import (
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// File is a pinned file: where it comes from and what it must be. Size and at least
// one of the two hashes are required; where both are given, SHA-256 decides.
type File struct {
	Name   string // what messages call it
	URL    string
	SHA256 string // lower-case hexadecimal
	MD5    string // lower-case hexadecimal, for files published with nothing better
	Size   int64  // bytes
}

// Options adjusts Fetch. The zero value is silent and uses the defaults.
type Options struct {
	Log   io.Writer     // progress: a bar on a terminal, plain lines elsewhere; nil for none
	HTTP  *http.Client  // nil: a client with timeouts for connecting and for the first answer
	Tries int           // attempts to go on after a broken transfer; 0 means 5
	Stall time.Duration // give up on a transfer that brings no byte for this long; 0 means 1 minute
}

// Fetch makes sure that dst is the file f, and downloads it if it is not there or not
// whole. The whole file is hashed at each call, about half a second for 200 MB.
//
// Every error is one sentence and is, for errors.Is, one of ErrNetwork, ErrStatus,
// ErrDamaged, ErrDiskFull, ErrNotWritable, or the context's error. After an error dst
// is as it was before; a partial download that can be gone on with stays in dst.part.
func Fetch(ctx context.Context, f File, dst string, opts Options) error {
	if f.Size <= 0 || f.SHA256 == "" && f.MD5 == "" || f.URL == "" {
		return fmt.Errorf("artifact: %q needs a URL, a size and a hash", f.Name)
	}
	if f.Verify(dst) == nil {
		return nil // also when the folder is read-only
	}
	unlock, err := Lock(ctx, dst+".lock", f.Name, opts.Log)
	if err != nil {
		return err
	}
	defer unlock()
	switch err := f.Verify(dst); {
	case err == nil:
		return nil // another process was faster
	case !errors.Is(err, fs.ErrNotExist):
		logf(opts.Log, "%s is damaged (%v): downloading it again", dst, err)
	}
	return f.fetchLocked(ctx, dst, opts)
}

// fetchLocked downloads to dst.part, checks it and renames it. A part left by an
// earlier process may hold wrong bytes: then the download starts over, once.
func (f File) fetchLocked(ctx context.Context, dst string, opts Options) error {
	part := dst + ".part"
	resumed := partSize(part) > 0
	err := download(ctx, f, part, opts)
	if err == nil {
		err = f.Verify(part)
	}
	if err != nil && resumed && errors.Is(err, ErrDamaged) {
		logf(opts.Log, "the earlier part of %s is damaged: starting over", f.Name)
		os.Remove(part)
		if err = download(ctx, f, part, opts); err == nil {
			err = f.Verify(part)
		}
	}
	if errors.Is(err, ErrDamaged) {
		os.Remove(part)
		return explain(ErrDamaged, err, "%s from %s is damaged or was altered (%v); it was deleted: "+
			"try again, and if that does not help, look for a proxy that changes downloads", f.Name, f.URL, err)
	}
	if err != nil {
		return err
	}
	if err := syncRename(part, dst); err != nil {
		return explainDisk(err, dst, f.Name)
	}
	return nil
}

// Verify says whether path is the file f: nil, or an error that is fs.ErrNotExist or
// ErrDamaged and names expected and found size or hash.
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
	name, want, h := "SHA-256", f.SHA256, sha256.New()
	if want == "" {
		name, want, h = "MD5", f.MD5, md5.New()
	}
	got, err := sum(h, file)
	if err != nil {
		return err
	}
	if !strings.EqualFold(got, want) {
		return explain(ErrDamaged, nil, "%s %s instead of %s", name, got, want)
	}
	return nil
}

func sum(h hash.Hash, r io.Reader) (string, error) {
	if _, err := io.CopyBuffer(h, r, make([]byte, 1<<20)); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// CacheDirOr is the given folder, or CacheDir if it is empty.
func CacheDirOr(dir string) (string, error) {
	if dir != "" {
		return dir, nil
	}
	return CacheDir()
}

// CacheDir is the folder for downloaded and computed files that can be had again:
// $TVPS_CACHE, or "tvps" in the user's cache folder (~/.cache on Linux). It need not
// exist yet.
func CacheDir() (string, error) {
	if dir := os.Getenv("TVPS_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no folder for the cache is known (%w): set TVPS_CACHE to one", err)
	}
	return filepath.Join(dir, "tvps"), nil
}
