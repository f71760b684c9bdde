package artifact

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// The kinds of error, for errors.Is.
var (
	ErrNetwork     = errors.New("no network connection")
	errStatus      = errors.New("HTTP error status")
	ErrDamaged     = errors.New("damaged or altered file")
	ErrDiskFull    = errors.New("disk full")
	ErrNotWritable = errors.New("folder not writable")
)

// explained is an error with one sentence for the user; it wraps its kind and its cause.
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

// IsDiskFull says whether the system's error is that of a full disk, or of a quota that is used up.
func IsDiskFull(err error) bool {
	return slices.ContainsFunc(diskFull, func(full syscall.Errno) bool { return errors.Is(err, full) })
}

// explainDisk returns an error of the file system on path as a sentence that says what to
// do. An error that is already explained is returned unchanged.
func explainDisk(err error, path, name string) error {
	if _, known := errors.AsType[*explained](err); err == nil || known {
		return err
	}
	dir, advice := filepath.Dir(path), [2]string{}
	if cache, e := CacheDir(); e == nil && strings.HasPrefix(path, cache+string(filepath.Separator)) {
		advice = [2]string{" or set TVPS_CACHE to a folder on another disk", " or set TVPS_CACHE to another one"}
	}
	if IsDiskFull(err) {
		return explain(ErrDiskFull, err, "cannot write %s: the disk of %s is full, or your quota on it is used up (%v); "+
			"free some space%s", name, dir, err, advice[0])
	}
	return explain(ErrNotWritable, err, "cannot write %s in %s (%v); make the folder writable%s", name, dir, err,
		advice[1])
}
