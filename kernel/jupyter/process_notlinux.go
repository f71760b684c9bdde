//go:build unix && !linux

package jupyter

import "syscall"

// dieWithParent does nothing: only Linux supports it.
func dieWithParent(*syscall.SysProcAttr) {}
