package artifact

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// quietWait is how long Lock waits before it says so: programs that start together check the same plugin, for less.
const quietWait = 3 * time.Second

// Lock locks the lock file at path, and creates file and folder if they do not exist. If
// another process holds the lock, it waits, and after quietWait writes a line with what to log. The lock ends
// with unlock or with the process; the file stays. Errors are ErrNotWritable, ErrDiskFull or
// the context's.
func Lock(ctx context.Context, path, what string, log io.Writer) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, explainDisk(err, path, what)
	}
	l := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o644))
	quiet, cancel := context.WithTimeout(ctx, quietWait)
	defer cancel()
	ok, err := l.TryLockContext(quiet, 100*time.Millisecond)
	if !ok && quiet.Err() != nil && ctx.Err() == nil {
		logf(log, "waiting for another process that is preparing %s", what)
		_, err = l.TryLockContext(ctx, 100*time.Millisecond)
	}
	if ctx.Err() != nil {
		l.Unlock()
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, explainDisk(err, path, what)
	}
	return func() { l.Unlock() }, nil
}

// writeFile writes a file in one step, as Create and Commit do, with what write gives. After an
// error path is unchanged and no temporary file is left. Errors of the disk are ErrDiskFull or
// ErrNotWritable; other errors of write are returned unchanged. Messages call the file what.
func writeFile(path, what string, perm os.FileMode, write func(io.Writer) error) error {
	file, err := Create(path, perm)
	if err != nil {
		return explainDisk(err, path, what)
	}
	defer file.Cleanup()
	w := &diskWriter{file: file, path: path, what: what}
	err = write(w)
	if w.err != nil {
		return w.err // the disk's error, not what write made of it
	}
	if err != nil {
		return err
	}
	return explainDisk(Commit(file), path, what)
}

// diskWriter keeps the first error of the disk, explained.
type diskWriter struct {
	file       io.Writer
	path, what string
	err        error
}

func (w *diskWriter) Write(p []byte) (int, error) {
	n, err := w.file.Write(p)
	if err != nil && w.err == nil {
		w.err = explainDisk(err, w.path, w.what)
	}
	return n, err
}

func syncRename(from, to string) error {
	file, err := os.OpenFile(from, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(to))
}
