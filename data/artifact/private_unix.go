//go:build unix

package artifact

import (
	"errors"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// CheckPrivate returns ErrShared if other users could replace the file at path: if the file or one of its folders, up
// to the cache folder root, belongs to another user than this one or root, or may be written by others. Native
// code is loaded from such a file, and a hash that was checked before does not help against a later change.
//
// A folder with the sticky bit, such as /tmp, may be written by all: only the owner of a file in it can replace that
// file. Nor is it a fault that the group may write if that is the user's private group, which has the user's name, as
// on systems with umask 002. Files that do not exist yet are passed over, and folders above root are not looked at:
// whoever swaps the cache folder itself becomes its owner.
func CheckPrivate(root, path string) error {
	root = filepath.Clean(root)
	for path = filepath.Clean(path); ; path = filepath.Dir(path) {
		if err := checkPrivate(path); err != nil {
			return err
		}
		if path == root || path == filepath.Dir(path) {
			return nil
		}
	}
}

func checkPrivate(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	if err != nil {
		return explainDisk(err, path, "the cache")
	}
	owner := info.Sys().(*syscall.Stat_t)
	const remedy = "native code is loaded from there: set TVPS_CACHE to a folder of your own"
	uid := uint32(os.Geteuid())
	if owner.Uid != 0 && owner.Uid != uid {
		return explain(ErrShared, nil, "%s belongs to user %d, who could replace it, and this program runs as user %d; %s",
			path, owner.Uid, uid, remedy)
	}
	byAll := info.Mode().Perm()&0o002 != 0
	byGroup := info.Mode().Perm()&0o020 != 0 && !privateGroup(owner.Uid, owner.Gid)
	if info.Mode()&os.ModeSticky == 0 && (byAll || byGroup) {
		return explain(ErrShared, nil, "%s may be written by other users (mode %04o); %s, or run: chmod go-w %s",
			path, info.Mode().Perm(), remedy, path)
	}
	return nil
}

// privateGroup tells whether the group is the user's main one and has the user's name.
func privateGroup(uid, gid uint32) bool {
	owner, err := user.LookupId(strconv.Itoa(int(uid)))
	if err != nil || owner.Gid != strconv.Itoa(int(gid)) {
		return false
	}
	group, err := user.LookupGroupId(owner.Gid)
	return err == nil && group.Name == owner.Username
}
