//go:build unix

package jupyter

import (
	"os/exec"
	"syscall"
)

// ownGroup makes a command the leader of a process group of its own.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(cmd.SysProcAttr)
}

// killGroup kills all processes of a group.
func killGroup(pid int) { syscall.Kill(-pid, syscall.SIGKILL) }

// interruptGroup sends the interrupt signal to all processes of a group.
func interruptGroup(pid int) error { return syscall.Kill(-pid, syscall.SIGINT) }

// groupExists says whether a group still has a process.
func groupExists(pid int) bool { return syscall.Kill(-pid, 0) == nil }
