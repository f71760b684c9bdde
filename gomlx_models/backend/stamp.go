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
// set back by a program, as the modification time can. Diagnose finds what these marks do not show.
func stampFile(path, cacheDir string) (string, error) {
	var s unix.Stat_t
	if err := unix.Stat(path, &s); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	marks := fmt.Sprint(path, s.Size, s.Mtim, s.Ctim, s.Dev, s.Ino)
	return filepath.Join(cacheDir, "pjrt", "stamps", fmt.Sprintf("%x", sha256.Sum256([]byte(marks)))), nil
}

// fileSHA256 returns the SHA-256 of the file in hexadecimal, from its stamp if there is one. If the stamp cannot be
// written, the next call computes the hash again.
func fileSHA256(path, cacheDir string) (string, error) {
	stamp, err := stampFile(path, cacheDir)
	if err != nil {
		return "", err
	}
	if sum, err := os.ReadFile(stamp); err == nil && len(sum) == 2*sha256.Size {
		return string(sum), nil
	}
	return hashAndStamp(path, cacheDir)
}

// hashAndStamp computes the SHA-256 of the file and renews its stamp, unless the file changes meanwhile.
func hashAndStamp(path, cacheDir string) (string, error) {
	before, err := stampFile(path, cacheDir)
	if err != nil {
		return "", err
	}
	sum, err := artifact.SHA256(path)
	if err != nil {
		return "", err
	}
	if after, err := stampFile(path, cacheDir); err == nil && after == before {
		if os.MkdirAll(filepath.Dir(after), 0o755) == nil {
			_ = artifact.Replace(after, []byte(sum), 0o644)
		}
	}
	return sum, nil
}
