package runs

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// What flock does: it takes a lock without waiting, or frees it.
const (
	lockExclusive = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	lockShared    = windows.LOCKFILE_FAIL_IMMEDIATELY
	lockNone      = 0
)

// errRemoved is the error of opening a file that is being removed.
const errRemoved = windows.ERROR_SHARING_VIOLATION

// flock locks a byte far behind the end of the file: Windows would let nobody else read or write one within. As on
// Unix, the lock is the open file's, and ends with it or with the process.
var flock = func(file *os.File, how int) error {
	at := &windows.Overlapped{OffsetHigh: 1 << 30}
	if how == lockNone {
		return windows.UnlockFileEx(windows.Handle(file.Fd()), 0, 1, 0, at)
	}
	err := windows.LockFileEx(windows.Handle(file.Fd()), uint32(how), 0, 1, 0, at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return syscall.EWOULDBLOCK
	}
	return err
}
