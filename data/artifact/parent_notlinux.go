//go:build unix && !linux

package artifact

import "syscall"

// dieWithParent does nothing: only Linux supports it.
func dieWithParent(*syscall.SysProcAttr) {}
