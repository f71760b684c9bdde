package artifact

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// Lock takes the lock file at path, making its folder if need be, and waits as long as
// another process holds it (with a line to log that names what is waited for). The lock
// ends with unlock or with the process; the file itself stays. Errors are
// ErrNotWritable, ErrDiskFull or the context's.
func Lock(ctx context.Context, path, what string, log io.Writer) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, explainDisk(err, path, what)
	}
	l := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o644))
	ok, err := l.TryLock()
	if err == nil && !ok {
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

// WriteFile makes path appear at once and whole: write fills "<path>.tmp", which is
// synced to disk and renamed. If write or the disk fails there is no new path and no
// temporary file. The caller holds a Lock that covers path. Errors of the disk are
// ErrDiskFull or ErrNotWritable; what write itself returns is passed on.
func WriteFile(path, what string, perm os.FileMode, write func(io.Writer) error) error {
	tmp := path + ".tmp"
	file, err := os.OpenFile(tmp, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, perm)
	if err != nil {
		return explainDisk(err, path, what)
	}
	w := &diskWriter{file: file, path: path, what: what}
	err = write(w)
	if w.err != nil {
		err = w.err // rather than what a reader or a zip makes of it
	}
	if closeErr := file.Close(); err == nil && closeErr != nil {
		err = explainDisk(closeErr, path, what)
	}
	if err == nil {
		err = explainDisk(syncRename(tmp, path), path, what)
	}
	if err != nil {
		os.Remove(tmp)
	}
	return err
}

// diskWriter remembers the first error of the disk, explained, apart from other errors.
type diskWriter struct {
	file       *os.File
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

// syncRename brings the bytes of from to the disk, then gives them their final name.
func syncRename(from, to string) error {
	file, err := os.OpenFile(from, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	err = file.Sync()
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	if err := os.Rename(from, to); err != nil {
		return err
	}
	if dir, err := os.Open(filepath.Dir(to)); err == nil {
		dir.Sync() // best effort: not every file system can
		dir.Close()
	}
	return nil
}
