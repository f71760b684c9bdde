package artifact

import (
	"errors"
	"fmt"
	"path/filepath"
	"syscall"
)

// The kinds of failure, for errors.Is.
var (
	ErrNetwork     = errors.New("no connection, or a broken one")
	ErrStatus      = errors.New("the server refused")
	ErrDamaged     = errors.New("damaged or altered file")
	ErrDiskFull    = errors.New("disk full")
	ErrNotWritable = errors.New("folder not writable")
)

// explained is an error whose text is one sentence for a person and whose kind and
// cause are there for errors.Is.
type explained struct {
	text        string
	kind, cause error
}

func (e *explained) Error() string { return e.text }

func (e *explained) Unwrap() []error {
	if e.cause == nil {
		return []error{e.kind}
	}
	return []error{e.kind, e.cause}
}

func explain(kind, cause error, format string, args ...any) error {
	return &explained{fmt.Sprintf(format, args...), kind, cause}
}

// explainDisk turns an error of the file system on path into a sentence that says what
// to do. Errors that are already explained pass through.
func explainDisk(err error, path, name string) error {
	var known *explained
	if err == nil || errors.As(err, &known) {
		return err
	}
	dir := filepath.Dir(path)
	for _, full := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG} {
		if errors.Is(err, full) {
			return explain(ErrDiskFull, err, "cannot write %s: the disk (or your quota on it) of %s is full (%v); "+
				"free some space or set TVPS_CACHE to a folder on another disk", name, dir, err)
		}
	}
	return explain(ErrNotWritable, err, "cannot write %s in %s (%v); make the folder writable or set TVPS_CACHE to another one",
		name, dir, err)
}
