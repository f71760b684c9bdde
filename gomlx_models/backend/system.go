package backend

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

// checkAddressSpace returns errAddressSpace if the process may use less than least bytes of addresses and perProcessor
// bytes for each processor. The system libraries and XLA end the program in the middle of a run where they get no more:
// they do not return an error.
func checkAddressSpace(least uint64) error {
	least += perProcessor * uint64(max(runtime.NumCPU(), runtime.GOMAXPROCS(0)))
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &limit) != nil || limit.Cur >= least {
		return nil
	}
	return fmt.Errorf("%w to %.1f GB, but this backend needs at least %.1f GB: raise the limit (ulimit -v unlimited)",
		errAddressSpace, float64(limit.Cur)/1e9, float64(least)/1e9)
}

// freeBytes returns the free space on dir's disk that is available to the user.
func freeBytes(dir string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return s.Bavail * uint64(s.Bsize), nil
}

// setSystemMarks sets device, inode and change time.
func (s *stamp) setSystemMarks() {
	var stat unix.Stat_t
	if unix.Stat(s.Path, &stat) == nil {
		s.Device, s.Inode, s.ChangeTime = uint64(stat.Dev), stat.Ino, unix.TimespecToNsec(stat.Ctim)
	}
}
