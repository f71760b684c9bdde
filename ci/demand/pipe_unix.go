//go:build unix

package demand

import "syscall"

// Pipe makes a named pipe.
func Pipe(path string) error { return syscall.Mkfifo(path, 0o600) }
