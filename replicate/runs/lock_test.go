package runs

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"tvps/ci/demand"
)

// systemFlock is the system call itself.
var systemFlock = flock

// inject replaces the system call during a test.
func inject(t *testing.T, call func(file *os.File, how int) error) {
	t.Helper()
	flock = call
	t.Cleanup(func() { flock = systemFlock })
}

// Without locks the first claim ends everything with a sentence, before a step is computed, and leaves no file.
func TestNoLocks(t *testing.T) {
	for _, code := range []error{syscall.ENOSYS, syscall.ENOTSUP, syscall.EOPNOTSUPP, syscall.ENOLCK} {
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
	inject(t, func(*os.File, int) error { return syscall.EIO })
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
		if _, err := file.Write(nil); err == nil && runtime.GOOS != "windows" { // which looks at no empty write
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
		demand.Equal(t, store.State(spec(0), upTo(3)).String(), want, "%.30q: state", text)
	}
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// A process whose lock file was removed writes nothing more: another one has the run, and the first waits for it.
func TestLockIsRemoved(t *testing.T) {
	store := open(t, t.TempDir())
	job, count := testJob(0, upTo(3), new(atomic.Int64)), 0
	step, path := stepOf(job), store.lockPath(spec(0))
	var others func()
	job = stepJob(spec(0), upTo(3), func(ctx context.Context, at int) ([]Row, error) {
		if count++; count == 2 {
			demand.NoError(t, os.Remove(path))
			others = claimed(t, store, spec(0))
			time.AfterFunc(time.Second/2, func() {
				if known, _, _ := store.known(spec(0)); len(known) != 1 || !isThere(path) {
					t.Errorf("steps %v are stored without the lock; the other's lock file is there: %t", known, isThere(path))
				}
				others()
			})
		}
		return step(ctx, at)
	})
	var out bytes.Buffer
	execute(t, store, &out, job)
	demand.Words(t, out.String(), "its lock file was removed", "waiting for it")
	demand.Equal(t, count, 4, "computed steps, three and one again")
}

// Where two machines get one lock, the first stops before it writes its next step and says so. The other continues.
func TestLockIsGivenTwice(t *testing.T) {
	inject(t, func(*os.File, int) error { return nil })
	store := open(t, t.TempDir())
	job := testJob(0, upTo(3), new(atomic.Int64))
	step := stepOf(job)
	job = stepJob(spec(0), upTo(3), func(ctx context.Context, at int) ([]Row, error) {
		if at == 1 {
			t.Setenv("SLURM_JOB_ID", "77") // the other machine's
			claimed(t, store, spec(0))
		}
		return step(ctx, at)
	})
	_, err := Execute(t.Context(), store, []Job{job}, Options{})
	var folder *FolderError
	if !errors.As(err, &folder) || !folder.Locks {
		t.Fatalf("%v", err)
	}
	demand.Error(t, err, "locked one file twice", "job 77")
	if known, _, _ := store.known(spec(0)); len(known) != 1 || !isThere(store.lockPath(spec(0))) {
		t.Errorf("%d steps are stored, the lock file is there: %t", len(known), isThere(store.lockPath(spec(0))))
	}
}
