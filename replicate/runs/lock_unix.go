//go:build unix

package runs

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// What flock does: it takes a lock without waiting, or frees it.
const (
	lockExclusive = unix.LOCK_EX | unix.LOCK_NB
	lockShared    = unix.LOCK_SH | unix.LOCK_NB
	lockNone      = unix.LOCK_UN
)

// errRemoved is the error of opening a file that is being removed.
const errRemoved = syscall.ENOENT

// flock is the system call; EWOULDBLOCK if another holds the lock. Tests replace it.
var flock = func(file *os.File, how int) error {
	for {
		if err := unix.Flock(int(file.Fd()), how); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
