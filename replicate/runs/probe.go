package runs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// A file system may grant a lock to several machines at once (NFS mounted with local_lock or nolock). Each would then
// compute all runs. Two processes on two machines find that out: one holds a lock while the other tries it.

// probePath is the file on which they do.
func probePath(dir string) string { return filepath.Join(dir, ".probe.lock") }

// HoldProbe holds a lock in a results folder until release is called, which removes its file. While another process
// holds it, it waits until ctx is cancelled. It returns a *FolderError if there is no such folder, or nothing can be
// locked in it.
func HoldProbe(ctx context.Context, dir string) (release func(), err error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, &FolderError{Dir: dir, Problem: "cannot be used", Err: err}
	}
	for attempts := 1; ; attempts++ {
		held, err := tryLock(probePath(dir), unix.LOCK_EX)
		switch {
		case err != nil:
			return nil, folderLockError(dir, "cannot lock a file", err)
		case held != nil:
			held.sign()
			return held.release, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("another process probes the locks of results folder %s: %w", dir, ctx.Err())
		case <-time.After(pauseAfter(attempts)):
		}
	}
}

// TryProbe tries the lock that another process of the same Slurm job (or none) holds by HoldProbe. It returns nil if
// the lock excludes this process, a *FolderError if it does not, or another error if no process holds it.
func TryProbe(dir string) error {
	path := probePath(dir)
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("no process holds the lock in results folder %s that should be tried", dir)
	}
	if err != nil {
		return &FolderError{Dir: dir, Problem: "cannot be written", Err: err}
	}
	tried := &lock{path, file}
	defer tried.unlock()
	err = flock(file, unix.LOCK_EX|unix.LOCK_NB)
	switch {
	case errors.Is(err, unix.EWOULDBLOCK):
		return nil
	case err != nil:
		return folderLockError(dir, "cannot lock a file", err)
	case !tried.current() || !tried.signedByJob(): // released meanwhile, or not locked yet
		return fmt.Errorf("no process holds the lock in results folder %s that should be tried", dir)
	}
	const problem = "grants one lock to two processes, which would compute the same runs"
	return &FolderError{Dir: dir, Problem: problem, Locks: true}
}
