//go:build !unix

package backtest

import "os/exec"

// group does nothing: there are no process groups.
func group(*exec.Cmd) {}

// killGroup ends the command at once.
func killGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = cmd.Process.Kill()
	}
}
