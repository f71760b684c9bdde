package jupyter

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"tvps/data/artifact"
)

// guarded names the variable with the process id of a relay's guard.
const guarded = "TVPS_KERNEL_GUARD"

// relayFolder is the begin of the names of the relays' temporary folders.
const relayFolder = "tvps-relay-"

// guardRelay runs this program again, as the relay, in a process group of its own, and returns its exit code. A client
// may kill the guard at any time: then the relay, which nobody kills, ends the kernel and its processes. The guard ends
// the relay at a signal, and when the process that started it is gone. Of a relay that is killed it ends the processes,
// and removes the folder.
func guardRelay(signals <-chan os.Signal, l *log) (code int, err error) {
	gone := parentGone()
	program, err := os.Executable()
	if err != nil {
		return 0, err
	}
	cmd := exec.Command(program, os.Args[1:]...)
	cmd.Env = append(os.Environ(), guarded+"="+strconv.Itoa(os.Getpid()))
	p, err := launch(cmd, l, artifact.OwnGroup)
	if err != nil {
		return 0, err
	}
	p.wait(signals, gone, 5*termTime, p.interrupt)
	killAdopted()
	if _, remove, err := artifact.TempFolder(relayFolder); err == nil { // this removes that of a killed relay
		_ = remove()
	}
	return p.code(), nil
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
	err := syscall.Kill(pid, 0)
	return err == nil || os.IsPermission(err)
}
