//go:build !unix

package jupyter

import (
	"errors"
	"os"
	"os/exec"
)

// There are no process groups here: only the kernel itself is killed.

func ownGroup(*exec.Cmd) {}

func killGroup(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		p.Kill()
	}
}

func interruptGroup(int) error {
	return errors.New("this system has no interrupt signal; the kernel must take interrupt_mode message")
}

func groupExists(int) bool { return false }
