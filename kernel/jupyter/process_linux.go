package jupyter

import "syscall"

// dieWithParent has the system kill the process when the thread that starts it ends.
func dieWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }
