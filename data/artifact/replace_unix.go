//go:build unix

package artifact

import (
	"os"
	"syscall"
)

// diskFull are the errors of a full disk.
var diskFull = []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG}

var rename = os.Rename
