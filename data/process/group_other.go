//go:build !unix

package process

import (
	"errors"
	"os"
	"os/exec"
)

// These systems have no process groups: only the command itself is killed.

func setGroup(*exec.Cmd, bool) {}

// KillGroup kills the process.
func KillGroup(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		p.Kill()
	}
}

// InterruptGroup returns an error.
func InterruptGroup(int) error {
	return errors.New("this system has no interrupt signal; set interrupt_mode to message in kernel.json")
}

// GroupExists returns false.
func GroupExists(int) bool { return false }
