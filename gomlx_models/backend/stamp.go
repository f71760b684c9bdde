//go:build !noxla

package backend

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"

	"tvps/data/artifact"

	"golang.org/x/sys/unix"
)

// stampFile returns the file in the cache folder that holds the hash of the file at path. Its name follows from the
// file's path, size, times, device and inode, so a file that changed has another stamp. Without stamps every start
// would spend a second on hashing a plugin of 260 MB. The change time is set by the system at each write and cannot be
// set back by a program, as the modification time can.
func stampFile(path, cacheDir string) (string, error) {
	var s unix.Stat_t
	if err := unix.Stat(path, &s); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	marks := fmt.Sprint(path, s.Size, s.Mtim, s.Ctim, s.Dev, s.Ino)
	return filepath.Join(cacheDir, "pjrt", "stamps", fmt.Sprintf("%x", sha256.Sum256([]byte(marks)))), nil
}

// fileSHA256 returns the SHA-256 of the file in hexadecimal, from its stamp if there is one. Otherwise it writes the
// stamp, unless the file changes meanwhile. If the stamp cannot be written, the next call computes the hash again.
func fileSHA256(path, cacheDir string) (string, error) {
	stamp, err := stampFile(path, cacheDir)
	if err != nil {
		return "", err
	}
	if sum, err := os.ReadFile(stamp); err == nil && len(sum) == 2*sha256.Size {
		return string(sum), nil
	}
	sum, err := artifact.SHA256(path)
	if err != nil {
		return "", err
	}
	if after, err := stampFile(path, cacheDir); err == nil && after == stamp {
		if os.MkdirAll(filepath.Dir(stamp), 0o755) == nil {
			_ = artifact.Replace(stamp, []byte(sum), 0o644)
		}
	}
	return sum, nil
}
