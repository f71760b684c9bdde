package artifact

import (
	"context"
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
