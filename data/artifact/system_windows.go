package artifact

import (
	"errors"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/windows"
)

// diskFull are the errors of a full disk.
var diskFull = []syscall.Errno{windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL,
	windows.ERROR_DISK_QUOTA_EXCEEDED}

// rename replaces the file at to and returns when the disk has the new name. Windows promises no atomic replacement,
// which is why renameio and its like offer none; but within a folder of NTFS this call changes one name and copies
// nothing, and the content was synced before. Neither file may be open: readers and virus scanners close theirs soon.
func rename(from, to string) error {
	source, err := windows.UTF16PtrFromString(from)
	if err != nil {
		return err
	}
	target, err := windows.UTF16PtrFromString(to)
	if err != nil {
		return err
	}
	for end := time.Now().Add(2 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		err := windows.MoveFileEx(source, target, windows.MOVEFILE_REPLACE_EXISTING|windows.MOVEFILE_WRITE_THROUGH)
		open := errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_ACCESS_DENIED)
		if !open || time.Now().After(end) {
			return err
		}
	}
}

// OwnGroup is for Start.
const OwnGroup = true

// Start returns an error, as Windows has no process groups.
func Start(*exec.Cmd, bool) (wait func() error, err error) {
	return nil, errors.New("it needs process groups, which Windows does not have; use Linux, macOS or WSL")
}

// KillGroup does nothing: see Start.
func KillGroup(int) {}
