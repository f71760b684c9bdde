//go:build unix

package artifact

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// diskFull are the errors of a full disk.
var diskFull = []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG}

var rename = os.Rename

// The process group of a started command.
const (
	OwnGroup   = true
	InOurGroup = false
)

// Start starts a command, as the leader of a process group of its own or as a member of ours. On Linux the system kills
// the command, not its children, when this process ends, even if it is killed itself. The system watches the thread
// that started the command, so that thread is kept until wait returns. wait is the command's Wait and must be called
// once. Errors are those of the command's Start.
func Start(cmd *exec.Cmd, own bool) (wait func() error, err error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: own}
	dieWithParent(cmd.SysProcAttr)
	started, asked, ended := make(chan error), make(chan struct{}), make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		<-asked
		ended <- cmd.Wait()
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return func() error {
		close(asked)
		return <-ended
	}, nil
}

// KillGroup kills all processes of a group.
func KillGroup(pid int) { syscall.Kill(-pid, syscall.SIGKILL) }

// InterruptGroup sends the interrupt signal to all processes of a group.
func InterruptGroup(pid int) error { return syscall.Kill(-pid, syscall.SIGINT) }

// GroupExists says whether a group still has a process.
func GroupExists(pid int) bool { return syscall.Kill(-pid, 0) == nil }
