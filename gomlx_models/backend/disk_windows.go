package backend

import "golang.org/x/sys/windows"

// freeSpace returns the bytes that this user may still write to the disk of a folder.
func freeSpace(dir string) (free uint64, err error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err == nil {
		err = windows.GetDiskFreeSpaceEx(name, &free, nil, nil)
	}
	return free, err
}
