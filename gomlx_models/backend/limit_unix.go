//go:build unix

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
	if unix.Getrlimit(unix.RLIMIT_AS, &limit) != nil || uint64(limit.Cur) >= least {
		return nil
	}
	return fmt.Errorf("%w to %.1f GB, but this backend needs at least %.1f GB: raise the limit (ulimit -v unlimited)",
		errAddressSpace, float64(limit.Cur)/1e9, float64(least)/1e9)
}
