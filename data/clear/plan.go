package clear

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

const (
	background = "BACKGROUND" // the class that is left out
	maxText    = 16 << 20     // largest size of a json or txt file, bytes
)

// plan lists the files of a source to read, in order.
type plan struct {
	*source
	report *Report
	files  []file
	names  []string // classes by label in the files, including BACKGROUND
}

// file is a .pth file: of one class in one bucket, or of a whole bucket (label < 0).
type file struct {
	name          string
	bucket, label int
}

// UnknownTypeError is returned if a data set has no features of the requested type.
type UnknownTypeError struct {
	Path, Type string
	Types      []string // the types that it has
}

// Error names the types that there are.
func (e *UnknownTypeError) Error() string {
	types := strings.Join(e.Types, ", ")
	if types == "" {
		types = "none"
	}
	return fmt.Sprintf("clear: %s has no features of the type %q; it has %s", e.Path, e.Type, types)
}

// prepare opens a data set and plans what to read. The caller must close the plan.
func prepare(at string, o Options) (*plan, error) {
	s, err := open(at)
	if err != nil {
		return nil, err
	}
	if o.Type == "" {
		o.Type = DefaultType
	}
	p := &plan{source: s, report: &Report{Path: s.path, Layout: s.layout, Test: s.test, Type: o.Type}}
	if err := p.list(); err != nil {
		_ = s.close()
		return nil, err
	}
	return p, nil
}

// list fills the plan and its report.
func (p *plan) list() error {
	r := p.report
	perClass := p.types("features", func(folder string) bool {
		return isFile(p, path.Join(folder, "features.json"))
	})
	whole := p.types("training_folder/features", func(folder string) bool { return isDir(p, folder) })
	r.Types = slices.Compact(slices.Sorted(slices.Values(slices.Concat(perClass, whole))))
	switch {
	case slices.Contains(perClass, r.Type):
		return p.listClasses()
	case slices.Contains(whole, r.Type):
		return p.listBuckets()
	}
	return &UnknownTypeError{r.Path, r.Type, r.Types}
}

// types returns the folders in parent for which holds is true.
func (p *plan) types(parent string, holds func(string) bool) (types []string) {
	entries, _ := fs.ReadDir(p, path.Join(p.base, parent))
	for _, e := range entries {
		if holds(path.Join(p.base, parent, e.Name())) {
			types = append(types, e.Name())
		}
	}
	return types
}

// listClasses plans to read features/TYPE/BUCKET/CLASS.pth by features.json.
func (p *plan) listClasses() error {
	r := p.report
	folder := path.Join(p.base, "features", r.Type)
	var index map[string]map[string]string // bucket, class, path
	if err := p.readJSON(path.Join(folder, "features.json"), &index); err != nil {
		return err
	}
	there := map[string]bool{}
	for _, classes := range index {
		for class := range classes {
			there[class] = true
		}
	}
	if err := p.readNames(slices.Sorted(maps.Keys(there))); err != nil {
		return err
	}
	if err := p.chooseBuckets(slices.Collect(maps.Keys(index))); err != nil {
		return err
	}
	known := map[string]bool{}
	for bucket, classes := range index {
		for class, name := range classes {
			known[p.resolve(folder, bucket, class, name)] = true
		}
	}
	for _, bucket := range r.Buckets {
		for label, class := range r.Classes {
			text := strconv.Itoa(bucket)
			name, found := index[text][class]
			if !found {
				where := p.where(path.Join(folder, "features.json"))
				return fmt.Errorf("clear: %s has no class %q in bucket %d", where, class, bucket)
			}
			p.add(file{p.resolve(folder, text, class, name), bucket, label})
		}
	}
	return p.findSurplus(folder, known)
}

// resolve returns the file of a class: the one that features.json names or, if it does not
// exist, the one at the usual place. (A script of the authors wrote paths without the type.)
func (p *plan) resolve(folder, bucket, class, name string) string {
	if named := path.Join(p.base, name); fs.ValidPath(named) && isFile(p, named) {
		return named
	}
	return path.Join(folder, bucket, class+".pth")
}

// add plans to read a file, and reports it as missing if it does not exist.
func (p *plan) add(f file) {
	p.files = append(p.files, f)
	if !isFile(p, f.name) {
		p.report.Missing = append(p.report.Missing, f.name)
	}
}

// findSurplus reports the .pth files that features.json does not name.
func (p *plan) findSurplus(folder string, known map[string]bool) error {
	return fs.WalkDir(p, folder, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("clear: cannot list %s: %w", p.where(name), err)
		}
		if !e.IsDir() && path.Ext(name) == ".pth" && !known[name] {
			p.report.Surplus = append(p.report.Surplus, name)
		}
		return nil
	})
}

// listBuckets plans to read training_folder/features/TYPE/BUCKET/all.pth.
func (p *plan) listBuckets() error {
	folder := path.Join(p.base, "training_folder")
	var listed []any
	if err := p.readJSON(path.Join(folder, "bucket_indices.json"), &listed); err != nil {
		return err
	}
	var buckets []string
	for _, bucket := range listed {
		buckets = append(buckets, fmt.Sprint(bucket))
	}
	if err := p.readNames(nil); err != nil {
		return err
	}
	if err := p.chooseBuckets(buckets); err != nil {
		return err
	}
	for _, bucket := range p.report.Buckets {
		p.add(file{path.Join(folder, "features", p.report.Type, strconv.Itoa(bucket), "all.pth"), bucket, -1})
	}
	return nil
}

// readNames reads the classes, in the order of their labels, from class_names.txt. If there
// is no such file, it uses sorted; if that is nil, the file is required.
func (p *plan) readNames(sorted []string) error {
	name := path.Join(p.base, "class_names.txt")
	text, err := p.readFile(&bytes.Buffer{}, name, maxText)
	switch {
	case err == nil:
		p.names = strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' || r == '\r' })
		p.report.Named = true
	case errors.Is(err, fs.ErrNotExist) && sorted != nil:
		p.names = sorted
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("clear: %s is missing; it is needed for the names of the labels in all.pth; "+
			"get the archive again", p.where(name))
	default:
		return fmt.Errorf("clear: cannot read %s: %w", p.where(name), err)
	}
	p.report.Classes = slices.DeleteFunc(slices.Clone(p.names), func(c string) bool { return c == background })
	distinct := slices.Compact(slices.Sorted(slices.Values(p.report.Classes)))
	if len(distinct) != Classes || len(p.report.Classes) != Classes {
		return fmt.Errorf("clear: %s has %d classes without BACKGROUND, %d of them different; CLEAR-10 has %d",
			p.path, len(p.report.Classes), len(distinct), Classes)
	}
	return nil
}

// chooseBuckets chooses ten buckets, in order of time; see the package comment.
func (p *plan) chooseBuckets(names []string) error {
	r := p.report
	for _, name := range names {
		n, err := strconv.Atoi(name)
		if err != nil || n < 0 || strconv.Itoa(n) != name {
			return fmt.Errorf("clear: %s has a bucket %q, which is not a number", p.path, name)
		}
		r.Buckets = append(r.Buckets, n)
	}
	slices.Sort(r.Buckets)
	r.Buckets = slices.Compact(r.Buckets)
	if len(r.Buckets) < Buckets {
		return fmt.Errorf("clear: %s has %d buckets with features; CLEAR-10 has %d: get the complete archive",
			p.path, len(r.Buckets), Buckets)
	}
	if len(r.Buckets) > Buckets && r.Buckets[0] == 0 {
		r.LeftOut, r.Buckets = []int{0}, r.Buckets[1:]
	}
	r.LeftOut = append(r.LeftOut, r.Buckets[Buckets:]...)
	r.Buckets = r.Buckets[:Buckets:Buckets]
	return nil
}

func (p *plan) readJSON(name string, v any) error {
	text, err := p.readFile(&bytes.Buffer{}, name, maxText)
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		return fmt.Errorf("clear: cannot read %s: %w; get the archive again", p.where(name), err)
	}
	return nil
}
