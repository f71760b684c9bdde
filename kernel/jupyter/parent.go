package jupyter

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"tvps/data/process"
)

const (
	parentEvery = time.Second         // between two looks at the parent process
	guarded     = "TVPS_KERNEL_GUARD" // set in the environment of a guarded relay
	guardPipe   = 3                   // its file that ends with the guard
)

// guardRelay runs this program again, as the relay, in a process group of its own, and returns its exit code. A client
// may kill the guard at any time: then the relay, which nobody kills, ends the kernel and its processes. The guard ends
// the relay at a signal, and when the process that started it is gone.
func guardRelay(signals <-chan os.Signal, l *log) (code int, err error) {
	gone := parentGone()
	program, err := os.Executable()
	if err != nil {
		return 0, err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	cmd := exec.Command(program, os.Args[1:]...)
	cmd.Env = append(os.Environ(), guarded+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = os.Stdin, os.Stdout, os.Stderr, []*os.File{read}
	wait, err := process.Start(cmd, process.OwnGroup)
	read.Close()
	if err != nil {
		return 0, err
	}
	p := &running{cmd: cmd, log: l, exited: make(chan struct{})}
	go func() {
		_ = wait()
		close(p.exited)
	}()
	look := time.NewTicker(parentEvery)
	defer look.Stop()
	for {
		select {
		case <-p.exited:
			write.Close() // only now
			return p.code(), nil
		case s := <-signals:
			if s == os.Interrupt {
				_ = p.interrupt()
			} else {
				_ = cmd.Process.Signal(s)
			}
		case <-look.C:
			if gone() {
				_ = cmd.Process.Signal(syscall.SIGTERM)
			}
		}
	}
}

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
