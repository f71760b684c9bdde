//go:build unix

package artifact

import (
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"tvps/ci/demand"
)

// TestCheckPrivate: whoever may write a file or one of the folders below the cache could replace native code.
func TestCheckPrivate(t *testing.T) {
	root := filepath.Join(t.TempDir(), "cache")
	file := filepath.Join(root, "a", "b", "lib.so")
	demand.NoError(t, errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, nil, 0o755)))
	if err := CheckPrivate(root, filepath.Join(file, "missing")); err != nil {
		t.Errorf("what does not exist: %v", err)
	}
	me, err := user.Current()
	if err != nil {
		t.Skip(err)
	}
	group, err := user.LookupGroupId(me.Gid)
	private := err == nil && group.Name == me.Username
	for _, c := range []struct {
		path   string
		mode   os.FileMode
		gid    int // -1: unchanged
		shared bool
	}{
		{root, 0o755, -1, false},
		{root, 0o757, -1, true},
		{root, 0o777 | os.ModeSticky, -1, false},
		{filepath.Dir(root), 0o777, -1, false}, // above the cache
		{filepath.Join(root, "a"), 0o777, -1, true},
		{file, 0o722, -1, true},
		{filepath.Dir(file), 0o775, -1, !private},
		{filepath.Dir(file), 0o775, 54321, true},
	} {
		if c.gid >= 0 && os.Chown(c.path, -1, c.gid) != nil {
			continue // only root may
		}
		demand.NoError(t, os.Chmod(c.path, c.mode))
		err := CheckPrivate(root, file)
		if errors.Is(err, ErrShared) != c.shared || c.shared && !strings.Contains(err.Error(), "chmod go-w "+c.path) {
			t.Errorf("%s with mode %v: %v", c.path, c.mode, err)
		}
		os.Chmod(c.path, 0o755)
	}
	if os.Geteuid() != 0 {
		return
	}
	if err := os.Chown(root, 54321, -1); err != nil {
		t.Skip(err)
	}
	if err := CheckPrivate(root, file); !errors.Is(err, ErrShared) || !strings.Contains(err.Error(), "belongs to user 54321") {
		t.Errorf("another user's folder: %v", err)
	}
}
