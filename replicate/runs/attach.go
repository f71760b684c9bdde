package runs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"tvps/data/artifact"
)

// Files are what a group may write in addition to the rows of its runs, and what it may read of them.
type Files struct {
	store    *Store
	verified func() error // see Options.Verify
}

// State is the path of the file from which a group continues after an interruption: first is its first member. It is
// removed when that run is finished. The error is that of Options.Verify, for which State waits.
func (f Files) State(first Spec) (path string, err error) {
	return f.store.path(first, stateSuffix), f.verified()
}

// Rows are those of a run's stored steps, for steps that depend on earlier ones.
func (f Files) Rows(spec Spec) (map[int][]Row, error) { return f.store.known(spec) }

// attachmentPath is the path of an attachment. The run's own files have a dot behind the ID instead of a dash.
func (s *Store) attachmentPath(spec Spec, name string) string { return s.path(spec, "-"+name) }

// Attach stores a file with a run, such as "film.svg", in one atomic step. No number may depend on it: it may be
// missing. It returns a *WriteError if the file cannot be written.
func (f Files) Attach(spec Spec, name string, content []byte) error {
	path := f.store.attachmentPath(spec, name)
	if err := artifact.Replace(path, content, 0o644); err != nil {
		return &WriteError{"attachment", path, err}
	}
	return nil
}

// Attached reads an attachment of a run; nil if there is none.
func (s *Store) Attached(spec Spec, name string) []byte {
	content, err := readFile(s.attachmentPath(spec, name))
	if err != nil {
		return nil
	}
	return content
}

// withPrefix lists the files of a folder whose names begin with a prefix; none if there is no such folder. A pattern
// of package filepath would misread folders such as res[1].
func withPrefix(folder, prefix string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var out []string
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), prefix) {
			out = append(out, filepath.Join(folder, entry.Name()))
		}
	}
	return out, nil
}

// copyAttachments copies the attachments of a run that s does not have yet.
func (s *Store) copyAttachments(from *Store, spec Spec) error {
	prefix := from.attachmentPath(spec, "")
	paths, err := withPrefix(filepath.Dir(prefix), filepath.Base(prefix))
	if err != nil {
		return err
	}
	for _, path := range paths {
		name := strings.TrimPrefix(filepath.Base(path), spec.ID()+"-")
		own := s.attachmentPath(spec, name)
		if _, err := os.Stat(own); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		content, err := readFile(path)
		if err == nil {
			err = artifact.Replace(own, content, 0o644)
		}
		if err != nil {
			return fmt.Errorf("%s cannot be copied (%w)", path, cause(err))
		}
	}
	return nil
}
