package runs

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"tvps/data/artifact"
)

// Files are what a group may write in addition to the rows of its runs.
type Files struct{ store *Store }

// State is the path of the file from which a group continues after an interruption: first is its first member. It is
// removed when that run is finished.
func (f Files) State(first Spec) string { return f.store.path(first, stateSuffix) }

// attachmentPath is the path of an attachment. The run's own files have a dot behind the ID instead of a dash.
func (s *Store) attachmentPath(spec Spec, name string) string { return s.path(spec, "-"+name) }

// An attachment ends with its checksum, as a comment of XML.
const (
	checksumBegin = "\n<!-- sha256 "
	checksumEnd   = " -->\n"
)

// Attach stores an XML file with a run, such as "film.svg", in one atomic step. No number may depend on it: it may be
// missing. It returns a *WriteError if the file cannot be written.
func (f Files) Attach(spec Spec, name string, content []byte) error {
	path := f.store.attachmentPath(spec, name)
	content = append(bytes.Clone(content), checksumBegin+digest(content)+checksumEnd...)
	if err := artifact.Replace(path, content, 0o644); err != nil {
		return &WriteError{"attachment", path, err}
	}
	return nil
}

// Attached reads an attachment of a run; nil if there is none, or a damaged one.
func (s *Store) Attached(spec Spec, name string) []byte {
	file, err := readFile(s.attachmentPath(spec, name))
	if err != nil {
		return nil
	}
	content, ok := attachment(file)
	if !ok {
		return nil
	}
	return content
}

// attachment returns the content of an attachment's file without its checksum; ok is false if they do not match, or if
// there is none.
func attachment(file []byte) (content []byte, ok bool) {
	at := bytes.LastIndex(file, []byte(checksumBegin))
	if at < 0 {
		return nil, false
	}
	content = file[:at]
	return content, string(file[at:]) == checksumBegin+digest(content)+checksumEnd
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

// copyAttachments copies the attachments of a run that s does not have yet, but for damaged ones.
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
		if _, ok := attachment(content); err == nil && ok {
			err = artifact.Replace(own, content, 0o644)
		}
		if err != nil {
			return fmt.Errorf("%s cannot be copied (%w)", path, cause(err))
		}
	}
	return nil
}
