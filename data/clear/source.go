package clear

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// published are the zips with usable features. A folder may contain one of them.
var published = []string{"clear10-public.zip", "clear10-train.zip"}

type source struct {
	fs.FS
	path  string // for messages
	base  string // the folder within FS that holds features or training_folder
	test  bool   // there is a part test next to base
	close func() error
}

func open(at string) (*source, error) {
	info, err := os.Stat(at)
	if err != nil {
		return nil, fmt.Errorf("clear: cannot open the data set: %w", err)
	}
	if !info.IsDir() {
		return openZip(at)
	}
	for _, name := range published {
		if isFile(os.DirFS(at), name) {
			return openZip(filepath.Join(at, name))
		}
	}
	s := &source{FS: os.DirFS(at), path: at, close: func() error { return nil }}
	return s, s.locate()
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

// locate looks for features at the top and in the folders one level below, there also in the part train.
func (s *source) locate() error {
	roots := []string{"."}
	for _, e := range s.entries(".") {
		roots = append(roots, e.Name())
	}
	for _, root := range roots {
		s.test = s.test || isDir(s, path.Join(root, "test", "features"))
		for _, base := range []string{path.Join(root, "train"), root} {
			found := isDir(s, path.Join(base, "features")) || isDir(s, path.Join(base, "training_folder", "features"))
			if found && base != "test" {
				s.base = base
				return nil
			}
		}
	}
	if s.test {
		return fmt.Errorf("clear: %s has only CLEAR-10's part test; "+
			"the 3,000 images of each class are in the part train, clear10-train.zip", s.path)
	}
	return fmt.Errorf("clear: %s has no features of CLEAR-10: no folder features at the top or one folder below; "+
		"use clear10-public.zip or clear10-train.zip (the archives of images have no features)", s.path)
}

// entries lists a folder; nothing if it cannot be read.
func (s *source) entries(folder string) []fs.DirEntry {
	listed, _ := fs.ReadDir(s, folder)
	return listed
}

func isDir(fsys fs.FS, name string) bool {
	info, err := fs.Stat(fsys, name)
	return err == nil && info.IsDir()
}

func isFile(fsys fs.FS, name string) bool {
	info, err := fs.Stat(fsys, name)
	return err == nil && info.Mode().IsRegular()
}

// readFile returns the content of a file. The bytes are the buffer's, valid until its next use.
func (s *source) readFile(buffer *bytes.Buffer, name string) ([]byte, error) {
	f, err := s.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	buffer.Reset()
	_, err = buffer.ReadFrom(f)
	return buffer.Bytes(), err
}
