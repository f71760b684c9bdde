// Package usage is shared by the module's command lines. It has the root command, the exit codes, and error messages
// of one sentence with advice. The packages below use it to mark two kinds of errors: usage errors, such as an unknown
// name or an impossible value, and interruptions.
package usage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

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

// Folder returns a usage error if path exists and is no folder.
func Folder(path string) error {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return Errorf("the output folder %s is a file; name a folder", path)
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

// KeepForeign returns a usage error if the file of an answer is there, has a content, and its beginning and end lack
// one of the marks: then another program wrote it. why says so in the error, and flag names another place.
func KeepForeign(file, why, flag string, marks ...string) error {
	if info, err := os.Stat(file); err != nil || info.Size() == 0 || !info.Mode().IsRegular() {
		return nil
	}
	text, err := ends(file)
	if err != nil || slices.ContainsFunc(marks, func(mark string) bool { return !strings.Contains(text, mark) }) {
		return Errorf("%s %s, so it is kept: remove it first, or name another place with %s", file, why, flag)
	}
	return nil
}

// KeepBesides returns a usage error if a folder has none of the marks, files that every answer has, but another file
// whose name is one of an answer's: then another program wrote it.
func KeepBesides(dir, flag string, names *regexp.Regexp, marks ...string) error {
	for _, mark := range marks {
		if info, err := os.Stat(filepath.Join(dir, mark)); err == nil && info.Size() > 0 {
			return nil
		}
	}
	entries, _ := os.ReadDir(dir) // a folder that is not there has no files
	for _, entry := range entries {
		if names.MatchString(entry.Name()) {
			return Errorf("%s is there without a %s of this command, so it is kept: remove it first, or name another "+
				"place with %s", filepath.Join(dir, entry.Name()), marks[0], flag)
		}
	}
	return nil
}

// ends returns the first and the last 64 KB of a file: the title of a page, the names of a table's columns (of Parquet
// they are at the end).
func ends(path string) (string, error) {
	const most = 64 << 10
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	head, err := io.ReadAll(io.LimitReader(file, most))
	if err != nil {
		return "", err
	}
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return "", err
	}
	tail, err := io.ReadAll(io.NewSectionReader(file, max(0, size-most), most))
	return string(head) + "\n" + string(tail), err
}

// interruption is the error of work that Ctrl-C stopped and that says where, or what is kept. It matches
// context.Canceled.
type interruption struct{ Text string }

// Interruptedf returns an *interruption.
func Interruptedf(format string, args ...any) error {
	return &interruption{fmt.Sprintf(format, args...)}
}

func (e *interruption) Error() string { return e.Text }

// Interrupted marks the error.
func (e *interruption) Interrupted() {}

// Unwrap returns context.Canceled.
func (e *interruption) Unwrap() error { return context.Canceled }

type marked struct{ error }

func (marked) Is(target error) bool { return target == Err }
func (m marked) Unwrap() error      { return m.error }
