package artifact

import (
	"fmt"
	"os"
	"time"
)

// TempFolder makes a folder in $TMPDIR whose name is prefix and digits, and remove removes it. It tries several times,
// as a process that is being killed may still write into it. A process that is killed itself leaves its folder: the
// next call with the prefix removes it.
func TempFolder(prefix string) (dir string, remove func() error, err error) {
	removeDead(os.TempDir(), prefix)
	for {
		if dir, err = os.MkdirTemp("", prefix); err != nil {
			return "", nil, err
		}
		alive := lockAlive(dir)
		if _, err := os.Lstat(dir); err != nil { // another process took it for dead before it was locked
			_ = alive.Close()
			continue
		}
		return dir, func() (err error) {
			_ = alive.Close()
			for range 10 {
				if err = os.RemoveAll(dir); err == nil {
					return nil
				}
				time.Sleep(20 * time.Millisecond)
			}
			return fmt.Errorf("cannot remove the temporary folder: %w", err)
		}, nil
	}
}
