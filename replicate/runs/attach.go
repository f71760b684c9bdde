package runs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Files are what a group may write beside its runs.
type Files struct {
	State string // what it needs to go on after a break; removed when all its runs are finished
	store *Store
}

// attachmentPath keeps a run's attachments apart from its own files, which have a dot
// behind the ID.
func (s *Store) attachmentPath(spec Spec, name string) string { return s.path(spec, "-"+name) }

// Attach writes a file that stays beside a run, such as "film.svg", in one atomic step. No
// number may depend on it: it may be lacking.
func (f Files) Attach(spec Spec, name string, content []byte) error {
	if err := writeAtomic(f.store.attachmentPath(spec, name), content); err != nil {
		return fmt.Errorf("%s of %s cannot be kept (%w)", name, spec, cause(err))
	}
	return nil
}

// Attached reads an attachment of a run; nil if there is none.
func (s *Store) Attached(spec Spec, name string) []byte {
	content, err := os.ReadFile(s.attachmentPath(spec, name))
	if err != nil {
		return nil
	}
	return content
}

// copyAttachments takes over those that are not there yet.
func (s *Store) copyAttachments(from *Store, spec Spec) error {
	paths, err := filepath.Glob(from.attachmentPath(spec, "*"))
	if err != nil {
		return err
	}
	for _, path := range paths {
		name := strings.TrimPrefix(filepath.Base(path), spec.ID()+"-")
		own := s.attachmentPath(spec, name)
		if _, err := os.Stat(own); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		content, err := os.ReadFile(path)
		if err == nil {
			err = writeAtomic(own, content)
		}
		if err != nil {
			return fmt.Errorf("%s cannot be copied (%w)", path, cause(err))
		}
	}
	return nil
}
