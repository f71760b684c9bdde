//go:build unix

package backtest

import (
	"os/exec"
	"syscall"
)

// group starts the command in a process group of its own, so its children can be ended with it.
// On Linux the system kills the command, not its children, when the thread that started it ends: see start.
func group(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(cmd.SysProcAttr)
}

// killGroup ends the command and its children at once.
func killGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
}
