//go:build linux || darwin

package backend

import "syscall"

// freeBytes returns the free space on dir's disk that is available to the user.
func freeBytes(dir string) (uint64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return uint64(s.Bavail) * uint64(s.Bsize), nil
}
