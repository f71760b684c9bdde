package runs

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"tvps/ci/demand"

	"golang.org/x/sys/unix"
)

// TestLinks: a link, a pipe or a folder in the place of a file that a run writes is one sentence. The link's target is
// not changed, and nothing waits for the pipe's other end.
func TestLinks(t *testing.T) {
	for _, suffix := range []string{lockSuffix, partialSuffix} {
		for kind, place := range map[string]func(path, precious string) error{
			"link":   func(path, precious string) error { return os.Symlink(precious, path) },
			"pipe":   func(path, _ string) error { return unix.Mkfifo(path, 0o644) },
			"folder": func(path, _ string) error { return os.Mkdir(path, 0o755) },
		} {
			store := open(t, t.TempDir())
			path, precious := store.path(spec(0), suffix), filepath.Join(store.dir, "precious")
			demand.Write(t, precious, "mine")
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := place(path, precious); err != nil {
				t.Fatal(err)
			}
			store.holder(spec(0))
			store.list(partialSuffix, readPartialSpec)
			report, err := Execute(t.Context(), store, []Job{testJob(0, upTo(2), new(atomic.Int64))}, Options{})
			if err == nil {
				err = report.Err()
			}
			if err == nil || !strings.Contains(err.Error(), filepath.Base(path)) {
				t.Errorf("a %s at *%s: error %v", kind, suffix, err)
			}
			if text := demand.Read(t, precious); string(text) != "mine" {
				t.Errorf("a %s at *%s: its target is %q", kind, suffix, text)
			}
		}
	}
}

// TestOtherUser: in a shared folder, where the files of others can be read but not written, a run that another user
// began is continued.
func TestOtherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can act as another user")
	}
	dir := t.TempDir()
	store := open(t, dir)
	begun(t, store, spec(0), upTo(3), Provenance{})
	for _, folder := range []string{filepath.Dir(dir), dir, filepath.Join(dir, "test")} {
		if err := os.Chmod(folder, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	runtime.LockOSThread() // never unlocked: the thread ends with the test
	if err := unix.Setfsuid(65534); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Setfsuid(0) })
	if _, err := os.OpenFile(store.partialPath(spec(0)), os.O_WRONLY, 0); err == nil {
		t.Skip("this user may write all files")
	}
	begun(t, store, spec(0), []int{3}, Provenance{})
	if done := stepsDone(t, store, spec(0)); done != 4 {
		t.Errorf("%d steps, want 4", done)
	}
}
