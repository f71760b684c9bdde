//go:build unix

package jupyter

import (
	"os/exec"
	"syscall"
)

// setGroup makes a command the leader of a process group of its own, or a member of ours.
func setGroup(cmd *exec.Cmd, own bool) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: own}
	dieWithParent(cmd.SysProcAttr)
}

// killGroup kills all processes of a group.
func killGroup(pid int) { syscall.Kill(-pid, syscall.SIGKILL) }

// interruptGroup sends the interrupt signal to all processes of a group.
func interruptGroup(pid int) error { return syscall.Kill(-pid, syscall.SIGINT) }

// groupExists says whether a group still has a process.
func groupExists(pid int) bool { return syscall.Kill(-pid, 0) == nil }
