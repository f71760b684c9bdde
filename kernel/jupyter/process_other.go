//go:build !unix

package jupyter

import (
	"errors"
	"os"
	"os/exec"
)

// These systems have no process groups: only the kernel itself is killed.

func setGroup(*exec.Cmd, bool) {}

func killGroup(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		p.Kill()
	}
}

func interruptGroup(int) error {
	return errors.New("this system has no interrupt signal; set interrupt_mode to message in kernel.json")
}

func groupExists(int) bool { return false }
