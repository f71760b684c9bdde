package jupyter

import (
	"os"
	"strconv"
	"syscall"
)

// parentGone returns a function that says whether the client that started this process has ended. JPY_PARENT_PID
// names the client. It is usually the parent process; a script between both is allowed. Without that variable the
// result is always false.
func parentGone() func() bool {
	pid, _ := strconv.Atoi(os.Getenv("JPY_PARENT_PID"))
	switch {
	case pid > 1 && pid == os.Getppid():
		return func() bool { return os.Getppid() != pid }
	case pid > 1 && exists(pid):
		return func() bool { return !exists(pid) }
	}
	return func() bool { return false }
}

// exists says whether a process exists. One of another user does.
func exists(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer p.Release()
	err = p.Signal(syscall.Signal(0))
	return err == nil || os.IsPermission(err)
}
