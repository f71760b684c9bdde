package jupyter

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

const setChildSubreaper = 36 // PR_SET_CHILD_SUBREAPER, which package syscall lacks

// adopt makes this process the parent of its descendants whose own parent ends, so that killAdopted finds them. It
// also takes back the guard's request that we are killed with it (see process.Start): the relay has a kernel to end.
// That request belongs to the main thread.
func adopt() {
	syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0)
	syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_PDEATHSIG, 0, 0)
}

// killAdopted kills all descendants of this process.
func killAdopted() {
	for end := time.Now().Add(defaultLimits.sockets); time.Now().Before(end); time.Sleep(time.Millisecond) {
		all := ownChildren()
		if len(all) == 0 {
			return
		}
		for _, pid := range all {
			syscall.Kill(pid, syscall.SIGKILL)
			syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
		}
	}
}

func ownChildren() (found []int) {
	ours := fmt.Appendf(nil, "\nPPid:\t%d\n", os.Getpid())
	files, _ := filepath.Glob("/proc/[0-9]*/status")
	for _, file := range files {
		if status, err := os.ReadFile(file); err == nil && bytes.Contains(status, ours) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			found = append(found, pid)
		}
	}
	return found
}
