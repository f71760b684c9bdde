package backend

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// stamp is the cached hash of a file. It is valid as long as the file's size and
// modification time stay the same. Without it every start would spend a second on hashing a
// plugin of 260 MB.
type stamp struct {
	Path    string `json:"path"`
	Size    int64  `json:"size"`
	ModTime int64  `json:"mod_time_ns"`
	SHA256  string `json:"sha256"`
}

// fileSHA256 returns the SHA-256 of the file in hexadecimal, taken from its stamp in the
// cache folder if that is valid. If the stamp cannot be written, the next call computes the
// hash again.
func fileSHA256(path, cacheDir string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	now := stamp{Path: path, Size: info.Size(), ModTime: info.ModTime().UnixNano()}
	file := stampFile(path, cacheDir)
	if old, err := readStamp(file); err == nil {
		now.SHA256 = old.SHA256
		if now == old {
			return old.SHA256, nil
		}
	}
	if now.SHA256, err = hashFile(path); err != nil {
		return "", err
	}
	writeStamp(file, now)
	return now.SHA256, nil
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

// writeStamp ignores errors. It is atomic, because two processes may write at the same time.
func writeStamp(file string, s stamp) {
	data, err := json.Marshal(s)
	if err != nil || os.MkdirAll(filepath.Dir(file), 0o755) != nil {
		return
	}
	tmp := fmt.Sprintf("%s.%d", file, os.Getpid())
	if os.WriteFile(tmp, data, 0o644) != nil || os.Rename(tmp, file) != nil {
		os.Remove(tmp)
	}
}

func hashFile(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.CopyBuffer(h, file, make([]byte, 1<<20)); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
