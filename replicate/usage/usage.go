// Package usage is shared by the module's command lines. It has the root command, the exit codes, and error messages
// of one sentence with advice. The packages below use it to mark two kinds of errors: usage errors, such as an unknown
// name or an impossible value, and interruptions.
package usage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/agext/levenshtein"
)

// Err is matched, with errors.Is, by every error that Error or Errorf marked.
var Err = errors.New("usage")

// Error marks err as a usage error. The text stays the same; nil stays nil.
func Error(err error) error {
	if err == nil {
		return nil
	}
	return marked{err}
}

// Errorf returns the error of fmt.Errorf, marked as a usage error.
func Errorf(format string, args ...any) error { return Error(fmt.Errorf(format, args...)) }

// Known returns a usage error for the first of the names that is not known; missing begins it, as "there is no figure".
func Known(missing string, names, known []string) error {
	for _, name := range names {
		if !slices.Contains(known, name) {
			return Errorf("%s %q%s (%s)", missing, name, Proposal(name, known), strings.Join(known, ", "))
		}
	}
	return nil
}

// Proposal is `; did you mean "..."?` with the known name that has the fewest edits from name, or nothing where more
// than half of that name would have to be changed. It ignores the upper case of name.
func Proposal(name string, known []string) string {
	nearest, least := "", 1<<30
	for _, k := range known {
		if d := levenshtein.Distance(strings.ToLower(name), k, nil); d < least {
			nearest, least = k, d
		}
	}
	if 2*least > max(len(name), len(nearest)) {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", nearest)
}

// Folder returns a usage error if path exists and is no folder, or is below a file.
func Folder(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		return Errorf("the output folder %s is a file; name a folder", path)
	}
	if errors.Is(err, syscall.ENOTDIR) {
		return Errorf("the output folder %s is below a file; choose another one", path)
	}
	return nil
}

// File returns a usage error if path is a folder.
func File(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return Errorf("the output %s is a folder; name a file", path)
	}
	return nil
}

// KeepPage returns a usage error if the page of an answer is there and lacks the mark: then another program or another
// command wrote it. why says so in the error.
func KeepPage(page, why, mark string) error {
	text, err := os.ReadFile(page)
	if errors.Is(err, fs.ErrNotExist) || err == nil && (len(text) == 0 || strings.Contains(string(text), mark)) {
		return nil
	}
	return Errorf("%s %s, so it is kept: remove it first, or name another place with --out", page, why)
}

// interruption is the error of work that Ctrl-C stopped and that says where, or what is kept. It matches
// context.Canceled.
type interruption string

// Interruptedf returns an interruption.
func Interruptedf(format string, args ...any) error {
	return interruption(fmt.Sprintf(format, args...))
}

func (e interruption) Error() string { return string(e) }

// Interrupted marks the error.
func (interruption) Interrupted() {}

// Unwrap returns context.Canceled.
func (interruption) Unwrap() error { return context.Canceled }

type marked struct{ error }

func (marked) Is(target error) bool { return target == Err }
func (m marked) Unwrap() error      { return m.error }
