package artifact

import (
	"fmt"
	"os"
	"time"
)

// TempFolder makes a folder in $TMPDIR whose name begins with prefix, and remove removes it. It tries several times, as
// a process that is being killed may still write into it.
func TempFolder(prefix string) (dir string, remove func() error, err error) {
	if dir, err = os.MkdirTemp("", prefix); err != nil {
		return "", nil, err
	}
	return dir, func() (err error) {
		for range 10 {
			if err = os.RemoveAll(dir); err == nil {
				return nil
			}
			time.Sleep(20 * time.Millisecond)
		}
		return fmt.Errorf("cannot remove the temporary folder: %w", err)
	}, nil
}
