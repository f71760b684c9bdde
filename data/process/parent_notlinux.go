//go:build unix && !linux

package process

import "syscall"

// dieWithParent does nothing: only Linux supports it.
func dieWithParent(*syscall.SysProcAttr) {}
