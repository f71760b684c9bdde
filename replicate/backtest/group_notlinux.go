//go:build unix && !linux

package backtest

import "syscall"

// dieWithParent does nothing: only Linux supports it.
func dieWithParent(*syscall.SysProcAttr) {}
