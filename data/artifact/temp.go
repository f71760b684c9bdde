package artifact

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// tempLock is the file in a temporary folder that its process holds a lock of.
const tempLock = ".lock"

// TempFolder makes a folder in $TMPDIR whose name begins with prefix, and remove removes it. The folders of that prefix
// whose processes were killed are removed first. A lock tells them from those of living processes, so it does not
// matter that numbers of processes are used again, or are others in a container.
func TempFolder(prefix string) (dir string, remove func() error, err error) {
	removeStale(prefix)
	if dir, err = os.MkdirTemp("", prefix); err != nil {
		return "", nil, err
	}
	lock := flock.New(filepath.Join(dir, tempLock), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	if _, err := lock.TryLock(); err != nil { // the file system has no locks: without the file nothing is removed
		_ = os.Remove(lock.Path())
	}
	return dir, func() error { return errors.Join(lock.Unlock(), removeAll(dir)) }, nil
}

// removeStale removes the folders of TempFolder whose processes have ended. One that was just made may not be locked
// yet.
func removeStale(prefix string) {
	entries, _ := os.ReadDir(os.TempDir())
	for _, entry := range entries {
		if !entry.IsDir() || !strings.HasPrefix(entry.Name(), prefix) {
			continue
		}
		dir := filepath.Join(os.TempDir(), entry.Name())
		if info, err := os.Lstat(filepath.Join(dir, tempLock)); err == nil && info.Mode().IsRegular() &&
			time.Since(info.ModTime()) > temporaryAge {
			lock := flock.New(filepath.Join(dir, tempLock), flock.SetFlag(os.O_RDWR))
			if free, err := lock.TryLock(); err == nil && free {
				_ = errors.Join(lock.Unlock(), removeAll(dir)) // what cannot be removed is no fault of this process
			}
		}
	}
}

// removeAll removes a folder. It tries several times, as a process that is being killed may still write into it.
func removeAll(dir string) (err error) {
	for range 10 {
		if err = os.RemoveAll(dir); err == nil {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return fmt.Errorf("cannot remove the temporary folder: %w", err)
}
