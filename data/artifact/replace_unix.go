//go:build unix

package artifact

import (
	"io"
	"os"
	"syscall"

	"github.com/gofrs/flock"
)

// diskFull are the errors of a full disk.
var diskFull = []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG}

var rename = os.Rename

// lockAlive locks a temporary file or folder until its process ends. Where nothing can be locked, nothing is taken for
// dead.
func lockAlive(path string) io.Closer {
	alive := flock.New(path, flock.SetFlag(os.O_RDONLY))
	_ = alive.Lock()
	return alive
}

// removeIfDead removes a temporary file or folder that is not locked.
func removeIfDead(path string) {
	dead := flock.New(path, flock.SetFlag(os.O_RDONLY))
	if free, _ := dead.TryLock(); free {
		os.RemoveAll(path)
	}
	_ = dead.Close()
}
