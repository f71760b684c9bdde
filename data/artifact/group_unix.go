//go:build unix

package artifact

import (
	"os/exec"
	"syscall"
)

// setGroup makes a command the leader of a process group of its own, or a member of ours.
func setGroup(cmd *exec.Cmd, own bool) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: own}
	dieWithParent(cmd.SysProcAttr)
}

// KillGroup kills all processes of a group.
func KillGroup(pid int) { syscall.Kill(-pid, syscall.SIGKILL) }

// InterruptGroup sends the interrupt signal to all processes of a group.
func InterruptGroup(pid int) error { return syscall.Kill(-pid, syscall.SIGINT) }

// GroupExists says whether a group still has a process.
func GroupExists(pid int) bool { return syscall.Kill(-pid, 0) == nil }
