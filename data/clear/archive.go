package clear

import (
	"archive/zip"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	features   = "moco_b0"    // the type of features that is used
	background = "BACKGROUND" // the class that is left out
)

// published are the zips with usable features. A folder may contain one of them.
var published = []string{"clear10-public.zip", "clear10-train.zip"}

// archive is a data set, of which no features were read yet.
type archive struct {
	fs.FS
	path    string // for messages
	folder  string // has a folder for each bucket
	classes []string
	buckets []int
	close   func() error
}

// Check finds the classes and buckets at a folder or zip without reading the features. It fails as Load does.
func Check(at string) error {
	a, err := open(at)
	if err != nil {
		return err
	}
	return a.close()
}

// open opens a folder or a zip. The caller must close it.
func open(at string) (*archive, error) {
	info, err := os.Stat(at)
	if err != nil {
		return nil, fmt.Errorf("clear: cannot open the data set: %w", err)
	}
	a := &archive{FS: os.DirFS(at), path: at, close: func() error { return nil }}
	for _, name := range published {
		if _, err := os.Stat(filepath.Join(at, name)); err == nil {
			a.path = filepath.Join(at, name)
		}
	}
	if !info.IsDir() || a.path != at {
		z, err := zip.OpenReader(a.path)
		if err != nil {
			return nil, fmt.Errorf("clear: %s is neither a folder nor a complete zip (%w); get the archive again", a.path, err)
		}
		a.FS, a.close = z, z.Close
	}
	if err := a.list(); err != nil {
		_ = a.close()
		return nil, err
	}
	return a, nil
}

// list finds the folder of the features, at the top or in one more folder, and what is in it.
func (a *archive) list() error {
	for _, top := range []string{"train", ".", "*/train", "*"} {
		found, _ := fs.Glob(a, path.Join(top, "features", features))
		for _, folder := range found {
			if !strings.HasPrefix(folder, "test/") { // the part test of the archive of 2022
				a.folder = folder
				return a.listClasses()
			}
		}
	}
	return fmt.Errorf("clear: %s has no folder features/%s of CLEAR-10: use clear10-public.zip or clear10-train.zip (the "+
		"archives of images have no features, and the 3,000 images of each class are not in the part test)", a.path, features)
}

// listClasses reads the classes, in the order of their labels, then lists the buckets.
func (a *archive) listClasses() error {
	name := path.Join(a.folder, "../../class_names.txt")
	text, err := fs.ReadFile(a, name)
	if err != nil {
		return fmt.Errorf("clear: cannot read %s in %s, the names of the labels: %w; get the archive again",
			name, a.path, err)
	}
	a.classes = slices.DeleteFunc(strings.Fields(string(text)), func(c string) bool { return c == background })
	if len(a.classes) != Classes {
		return fmt.Errorf("clear: %s has %d classes without %s; CLEAR-10 has %d", a.path, len(a.classes), background, Classes)
	}
	return a.listBuckets()
}

// listBuckets chooses ten buckets, in order of time (see the package comment). A bucket is a folder whose name is a
// number.
func (a *archive) listBuckets() error {
	entries, _ := fs.ReadDir(a, a.folder)
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err == nil {
			a.buckets = append(a.buckets, n)
		}
	}
	slices.Sort(a.buckets)
	if len(a.buckets) < Buckets {
		return fmt.Errorf("clear: %s has %d buckets with features; CLEAR-10 has %d: get the complete archive",
			a.path, len(a.buckets), Buckets)
	}
	if len(a.buckets) > Buckets && a.buckets[0] == 0 {
		a.buckets = a.buckets[1:]
	}
	a.buckets = a.buckets[:Buckets]
	return nil
}
