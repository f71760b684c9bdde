package backend

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"tvps/data/artifact"

	"golang.org/x/sys/unix"
)

// stamp is the cached hash of a file. It is valid as long as all of the file's other marks stay
// the same. Without it every start would spend a second on hashing a plugin of 260 MB. The change
// time is set by the system at each write and cannot be set back by a program, as the
// modification time can. Backend.VerifyPlugin finds what the marks do not show.
type stamp struct {
	Path       string `json:"path"`
	Size       int64  `json:"size"`
	ModTime    int64  `json:"mod_time_ns"`
	Device     uint64 `json:"device"`
	Inode      uint64 `json:"inode"`
	ChangeTime int64  `json:"change_time_ns"`
	SHA256     string `json:"sha256"`
}

// marksOf returns the stamp of a file without its hash.
func marksOf(path string) (stamp, error) {
	var s unix.Stat_t
	if err := unix.Stat(path, &s); err != nil {
		return stamp{}, fmt.Errorf("%s: %w", path, err)
	}
	return stamp{Path: path, Size: s.Size, ModTime: unix.TimespecToNsec(s.Mtim), Device: uint64(s.Dev), Inode: s.Ino,
		ChangeTime: unix.TimespecToNsec(s.Ctim)}, nil
}

// fileSHA256 returns the SHA-256 of the file in hexadecimal, taken from its stamp in the
// cache folder if that is valid. If the stamp cannot be written, the next call computes the
// hash again.
func fileSHA256(path, cacheDir string) (string, error) {
	now, err := marksOf(path)
	if err != nil {
		return "", err
	}
	file := stampFile(path, cacheDir)
	if old, err := readStamp(file); err == nil {
		now.SHA256 = old.SHA256
		if now == old {
			return old.SHA256, nil
		}
	}
	return hashAndStamp(path, cacheDir)
}

// hashAndStamp computes the SHA-256 of the file and renews its stamp, unless the file changes meanwhile.
func hashAndStamp(path, cacheDir string) (string, error) {
	now, err := marksOf(path)
	if err != nil {
		return "", err
	}
	sum, err := artifact.SHA256(path)
	if err != nil {
		return "", err
	}
	if after, err := marksOf(path); err == nil && after == now {
		now.SHA256 = sum
		writeStamp(stampFile(path, cacheDir), now)
	}
	return sum, nil
}

func stampFile(path, cacheDir string) string {
	key := sha256.Sum256([]byte(path))
	return filepath.Join(cacheDir, "pjrt", "stamps", fmt.Sprintf("%x.json", key[:8]))
}

func readStamp(file string) (stamp, error) {
	var s stamp
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	return s, err
}

// writeStamp ignores errors.
func writeStamp(file string, s stamp) {
	if data, err := json.Marshal(s); err == nil && artifact.MakeFolder(filepath.Dir(file)) == nil {
		_ = artifact.Replace(file, data, 0o644)
	}
}
