package runs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"tvps/ci/demand"

	"golang.org/x/sys/unix"
)

// systemFlock is the system call itself.
var systemFlock = flock

// inject replaces the system call during a test.
func inject(t *testing.T, call func(file *os.File, how int) error) {
	t.Helper()
	flock = call
	t.Cleanup(func() { flock = systemFlock })
}

// writable tells whether a file is open for writing.
func writable(t *testing.T, file *os.File) bool {
	t.Helper()
	flags, err := unix.FcntlInt(file.Fd(), unix.F_GETFL, 0)
	demand.NoError(t, err)
	return flags&unix.O_ACCMODE != unix.O_RDONLY
}

// NFSv4 locks only files exclusively that are open for writing, also those that a umask of 077 made.
func TestLockFilesAreOpenForWriting(t *testing.T) {
	old := unix.Umask(0o077)
	defer unix.Umask(old)
	inject(t, func(file *os.File, how int) error {
		if how&unix.LOCK_EX != 0 && !writable(t, file) {
			return unix.EBADF
		}
		return systemFlock(file, how)
	})
	store := open(t, t.TempDir())
	stale := store.lockPath(spec(0))
	demand.Write(t, stale, "of a killed process")
	execute(t, store, nil, testJob(0, upTo(2), new(atomic.Int64)))
	if _, err := store.load(spec(0)); err != nil {
		t.Error(err)
	}
}

// Without locks the first claim ends everything with a sentence, before a step is computed, and leaves no file.
func TestNoLocks(t *testing.T) {
	for _, code := range []error{unix.ENOSYS, unix.ENOTSUP, unix.EOPNOTSUPP, unix.ENOLCK} {
		inject(t, func(*os.File, int) error { return code })
		store := open(t, t.TempDir())
		_, err := Execute(t.Context(), store, []Job{testJob(0, upTo(2), nil)}, Options{})
		var folder *FolderError
		if !errors.As(err, &folder) || !folder.Locks || !errors.Is(err, code) {
			t.Fatalf("%v: %v", code, err)
		}
		demand.Error(t, err, "results folder "+filepath.Join(store.dir, "test"),
			"is on a file system that does not lock files", code.Error())
		if left, _ := filepath.Glob(filepath.Join(store.dir, "test", "*")); len(left) != 0 {
			t.Errorf("%v: files left %q", code, left)
		}
		if state := store.State(spec(0), upTo(2)); state.Kind != Missing {
			t.Errorf("%v: state %v", code, state)
		}
	}
}

// A lock that fails for another reason keeps its own sentence, and a file that was there stays.
func TestLockFails(t *testing.T) {
	store := open(t, t.TempDir())
	path := store.lockPath(spec(0))
	demand.Write(t, path, "")
	inject(t, func(*os.File, int) error { return unix.EIO })
	_, err := store.claim(spec(0))
	var folder *FolderError
	if !errors.As(err, &folder) || folder.Locks {
		t.Fatalf("%v", err)
	}
	demand.Error(t, err, "cannot lock run test/ours seed 0", "input/output error")
	if _, err := os.Stat(path); err != nil {
		t.Errorf("another's lock file is gone: %v", err)
	}
}

// Reading who computes a run makes no file, changes none, and needs no permission to write.
func TestStateOfALockedRun(t *testing.T) {
	store := open(t, t.TempDir())
	if store.State(spec(0), upTo(2)); isThere(filepath.Join(store.dir, "test")) {
		t.Error("asking for the state made a folder")
	}
	t.Setenv("SLURM_JOB_ID", "124")
	release := claimed(t, store, spec(0))
	defer func() { release() }()
	inject(t, func(file *os.File, how int) error {
		if writable(t, file) {
			t.Error("opened for writing")
		}
		return systemFlock(file, how)
	})
	host, _ := os.Hostname()
	if got, want := store.State(spec(0), upTo(3)).String(), "running: 0 of 3 steps, on "+host+", job 124"; got != want {
		t.Errorf("state %q, want %q", got, want)
	}
	flock = systemFlock
	release()
	t.Setenv("SLURM_ARRAY_JOB_ID", "123")
	t.Setenv("SLURM_ARRAY_TASK_ID", "4")
	release = claimed(t, store, spec(0))
	if got := store.State(spec(0), upTo(3)).By; got.Job != "123_4" || got.PID != os.Getpid() {
		t.Errorf("by %+v", got)
	}
	for text, want := range map[string]string{ // a file of another program
		"": "running: 0 of 3 steps", "hello": "running: 0 of 3 steps",
		`{"host":"n","pid":7}` + "\nmore": "running: 0 of 3 steps, on n, process 7",
		strings.Repeat("a", maxLine+9):    "running: 0 of 3 steps",
	} {
		demand.Write(t, store.lockPath(spec(0)), text)
		if got := store.State(spec(0), upTo(3)).String(); got != want {
			t.Errorf("%.30q: state %q, want %q", text, got, want)
		}
	}
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
