package jupyter

import (
	"os"
	"strconv"
	"syscall"
)

// parentGone returns a function that says whether the client that started this process has ended. JPY_PARENT_PID
// names the client. It is usually the parent process; a script between both is allowed. If that variable names no
// process, the client is the parent process: when a parent ends, its children get another one.
func parentGone() func() bool {
	parent := os.Getppid()
	pid, _ := strconv.Atoi(os.Getenv("JPY_PARENT_PID"))
	if pid > 0 && pid != parent && exists(pid) {
		return func() bool { return !exists(pid) }
	}
	return func() bool { return os.Getppid() != parent }
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
