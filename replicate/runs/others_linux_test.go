package runs

import (
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"

	"tvps/ci/demand"

	"golang.org/x/sys/unix"
)

// NFSv4 locks only files exclusively that are open for writing, also those that a umask of 077 made.
func TestLockFilesAreOpenForWriting(t *testing.T) {
	old := unix.Umask(0o077)
	defer unix.Umask(old)
	inject(t, func(file *os.File, how int) error {
		if _, err := file.Write(nil); how == lockExclusive && err != nil {
			return syscall.EBADF
		}
		return systemFlock(file, how)
	})
	store := open(t, t.TempDir())
	stale := store.lockPath(spec(0))
	demand.Write(t, stale, "of a killed process")
	execute(t, store, nil, testJob(0, upTo(2), new(atomic.Int64)))
	_, err := store.Read(spec(0))
	demand.NoError(t, err)
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
		demand.NoError(t, os.Chmod(folder, 0o777))
	}
	runtime.LockOSThread() // never unlocked: the thread ends with the test
	demand.NoError(t, unix.Setfsuid(65534))
	t.Cleanup(func() { _ = unix.Setfsuid(0) })
	if _, err := os.OpenFile(store.partialPath(spec(0)), os.O_WRONLY, 0); err == nil {
		t.Skip("this user may write all files")
	}
	begun(t, store, spec(0), []int{3}, Provenance{})
	demand.Equal(t, stepsDone(t, store, spec(0)), 4, "steps")
}
