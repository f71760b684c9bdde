package artifact

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tvps/ci/demand"
)

// Replace keeps the permissions of the file. The temporary file lies in the file's folder, also where $TMPDIR is on the
// same file system.
func TestReplace(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	path := filepath.Join(t.TempDir(), "plan.json")
	demand.NoError(t, errors.Join(os.WriteFile(path, []byte("old"), 0o600), Replace(path, []byte("new"), 0o644)))
	demand.Equal(t, string(demand.Read(t, path)), "new", "the file")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has permissions %v, error %v", info.Mode(), err)
	}
	file, err := Create(path, 0o644)
	demand.NoError(t, err)
	if dir, name := filepath.Split(file.Name()); filepath.Clean(dir) != filepath.Dir(path) ||
		!strings.HasPrefix(name, ".plan.json") {
		t.Errorf("the temporary file is %s", file.Name())
	}
	demand.NoError(t, file.Cleanup())
	demand.List(t, names(t, path), []string{"plan.json"}, "the folder")
}

// TestDead: what a killed process has left of a file goes with the next one after deadAfter; a file that is being
// written stays, as does what has another name.
func TestDead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.html")
	for _, name := range []string{".index.html123", ".index.htmlx", ".other7"} {
		name = filepath.Join(filepath.Dir(path), name)
		demand.NoError(t, os.WriteFile(name, nil, 0o644))
		demand.NoError(t, os.Chtimes(name, time.Time{}, time.Now().Add(-deadAfter-time.Minute)))
	}
	first, err := Create(path, 0o644)
	demand.NoError(t, err)
	demand.NoError(t, Replace(path, []byte("new"), 0o644))
	demand.NoError(t, Commit(first))
	demand.List(t, names(t, path), []string{".index.htmlx", ".other7", "index.html"}, "the folder")
}

// synced collects the paths of the folders that are synced, and makes the syncs fail with err.
func synced(t *testing.T, err error) *[]string {
	list := new([]string)
	syncFile = func(f *os.File) error {
		*list = append(*list, f.Name())
		return err
	}
	t.Cleanup(func() { syncFile = (*os.File).Sync })
	return list
}

// Each folder is synced once after the files have their names. A file system that cannot do that is no error.
func TestCommit(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	paths := []string{filepath.Join(one, "a"), filepath.Join(one, "b"), filepath.Join(two, "c")}
	for _, cannot := range []error{nil, syscall.EINVAL, syscall.ENOTSUP} {
		list := synced(t, cannot)
		var files []*Pending
		for _, path := range paths {
			file, err := Create(path, 0o644)
			demand.NoError(t, err)
			files = append(files, file)
		}
		demand.NoError(t, Commit(files...))
		demand.List(t, *list, []string{one, two}, "synced")
	}
	synced(t, syscall.EIO)
	if err := Replace(paths[0], nil, 0o644); !errors.Is(err, syscall.EIO) {
		t.Errorf("a folder that cannot be synced: error %v", err)
	}
}

// An error names the file, not the temporary one.
func TestReplaceError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "folder")
	demand.NoError(t, os.Mkdir(path, 0o755))
	var at *fs.PathError
	if err := Replace(path, nil, 0o644); !errors.As(err, &at) || at.Path != path || strings.Contains(err.Error(), "/.folder") {
		t.Errorf("error %v", err)
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := demand.Pipe(pipe); err != nil {
		t.Skip("no named pipes here: ", err)
	}
	err := Replace(pipe, nil, 0o644)
	if info, _ := os.Lstat(pipe); err == nil || info.Mode().Type() != fs.ModeNamedPipe {
		t.Errorf("a pipe: error %v, then mode %v", err, info.Mode())
	}
}
