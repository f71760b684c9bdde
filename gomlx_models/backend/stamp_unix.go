//go:build unix

package backend

import "golang.org/x/sys/unix"

// setSystemMarks sets device, inode and change time.
func (s *stamp) setSystemMarks() {
	var stat unix.Stat_t
	if unix.Stat(s.Path, &stat) == nil {
		s.Device, s.Inode, s.ChangeTime = uint64(stat.Dev), stat.Ino, unix.TimespecToNsec(stat.Ctim)
	}
}
