package clear

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Layout is one of the published arrangements of files.
type Layout string

const (
	Public Layout = "clear10-public" // 2021: features/ and training_folder/ at the top
	Parts  Layout = "clear10"        // 2022: features/ in train/ and test/
)

// published are the zips with usable features. A folder may contain one of them.
var published = []string{"clear10-public.zip", "clear10-train.zip"}

// source is an opened folder or zip.
type source struct {
	fs.FS
	path   string // for messages
	layout Layout
	base   string // the folder within FS that holds features or training_folder
	test   bool   // there is a part test next to base
	close  func() error
}

// open finds the data set at a path.
func open(at string) (*source, error) {
	info, err := os.Stat(at)
	if err != nil {
		return nil, fmt.Errorf("clear: cannot open the data set: %w", err)
	}
	if !info.IsDir() {
		return openZip(at)
	}
	s := &source{FS: os.DirFS(at), path: at, close: func() error { return nil }}
	err = s.locate()
	if err == nil {
		return s, nil
	}
	if errors.Is(err, errNoFeatures) {
		for _, name := range published {
			if isFile(s.FS, name) {
				return openZip(filepath.Join(at, name))
			}
		}
	}
	return nil, err
}

func openZip(at string) (*source, error) {
	z, err := zip.OpenReader(at)
	if err != nil {
		return nil, fmt.Errorf("clear: %s is neither a folder nor a complete zip (%w); get the archive again", at, err)
	}
	s := &source{FS: z, path: at, close: z.Close}
	if err := s.locate(); err != nil {
		z.Close()
		return nil, err
	}
	return s, nil
}

var errNoFeatures = errors.New("no features")

// locate looks for a layout in the top folder and in the folders one level below.
func (s *source) locate() error {
	if s.at(".") {
		return nil
	}
	entries, err := fs.ReadDir(s.FS, ".")
	if err != nil {
		return fmt.Errorf("clear: cannot list %s: %w", s.path, err)
	}
	var found []string
	for _, e := range entries {
		if e.Name() == "test" && s.test {
			continue // a part test without a part train
		}
		if s.at(e.Name()) {
			found = append(found, e.Name())
		}
	}
	switch {
	case len(found) == 1:
		s.at(found[0])
		return nil
	case len(found) > 1:
		return fmt.Errorf("clear: %s holds several data sets, %s; name one of them", s.path, strings.Join(found, " and "))
	case s.test:
		return fmt.Errorf("clear: %s has only CLEAR-10's part test; "+
			"the 3,000 images of each class are in the part train, clear10-train.zip", s.path)
	}
	return fmt.Errorf("clear: %s has %w of CLEAR-10: no features/TYPE/features.json at the top or one folder below; "+
		"use clear10-public.zip or clear10-train.zip (the archives of images have no features)", s.path, errNoFeatures)
}

// at says whether the folder root has a layout, and if so sets it in the source.
func (s *source) at(root string) bool {
	s.test = s.test || isDir(s.FS, path.Join(root, "test", "features"))
	train := path.Join(root, "train")
	switch {
	case isDir(s.FS, path.Join(train, "features")):
		s.layout, s.base = Parts, train
	case isDir(s.FS, path.Join(root, "features")), isDir(s.FS, path.Join(root, "training_folder", "features")):
		s.layout, s.base = Public, root
	default:
		return false
	}
	return true
}

func isDir(fsys fs.FS, name string) bool {
	info, err := fs.Stat(fsys, name)
	return err == nil && info.IsDir()
}

func isFile(fsys fs.FS, name string) bool {
	info, err := fs.Stat(fsys, name)
	return err == nil && info.Mode().IsRegular()
}

// where returns the name of a file of the source, for messages.
func (s *source) where(name string) string {
	if info, err := os.Stat(s.path); err == nil && info.IsDir() {
		return filepath.Join(s.path, filepath.FromSlash(name))
	}
	return name + " in " + s.path
}

// readFile returns the content of a file of at most limit bytes, independent of the size
// that an archive states. The bytes are the buffer's, valid until its next use.
func (s *source) readFile(buffer *bytes.Buffer, name string, limit int64) ([]byte, error) {
	f, err := s.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	buffer.Reset()
	if _, err := buffer.ReadFrom(io.LimitReader(f, limit+1)); err != nil {
		return nil, err
	}
	if int64(buffer.Len()) > limit {
		return nil, fmt.Errorf("it has more than the allowed %d bytes", limit)
	}
	return buffer.Bytes(), nil
}
