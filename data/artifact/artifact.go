// Package artifact downloads pinned files, and writes files in one step. Each file is declared with its size and hash,
// so either the file on disk is exactly the one that the program was written for, or an error says why not. The package
// also starts commands that end with this process, and signals their groups.
package artifact

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
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

// SHA256 returns the SHA-256 of a file in hexadecimal.
func SHA256(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	text, err := sum(file)
	if err != nil {
		return "", fmt.Errorf("cannot read %s: %w", path, err)
	}
	return text, nil
}

func sum(r io.Reader) (string, error) {
	h := sha256.New()
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
