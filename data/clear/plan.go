package clear

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

const background = "BACKGROUND" // the class that is left out

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

// ErrUnknownType is returned if a data set has no features of the requested type.
var ErrUnknownType = errors.New("no features of the type")

// prepare opens a data set and plans what to read. The caller must close the plan.
func prepare(at, kind string) (*plan, error) {
	s, err := open(at)
	if err != nil {
		return nil, err
	}
	p := &plan{source: s, report: &Report{Path: s.path, Type: kind}}
	if err := p.list(); err != nil {
		_ = s.close()
		return nil, err
	}
	return p, nil
}

func (p *plan) list() error {
	r := p.report
	perClass, whole := p.folders("features"), p.folders("training_folder/features")
	r.Types = slices.Compact(slices.Sorted(slices.Values(slices.Concat(perClass, whole))))
	if !slices.Contains(r.Types, r.Type) {
		return fmt.Errorf("clear: %s has %w %q; it has %s", r.Path, ErrUnknownType, r.Type, strings.Join(r.Types, ", "))
	}
	if err := p.readNames(); err != nil {
		return err
	}
	if slices.Contains(perClass, r.Type) {
		return p.listBuckets("features", func(folder string, bucket int) {
			for label, class := range r.Classes {
				p.add(file{path.Join(folder, class+".pth"), bucket, label})
			}
		})
	}
	return p.listBuckets("training_folder/features", func(folder string, bucket int) {
		p.add(file{path.Join(folder, "all.pth"), bucket, -1})
	})
}

func (p *plan) folders(parent string) (names []string) {
	for _, e := range p.entries(path.Join(p.base, parent)) {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

// readNames reads the classes, in the order of their labels, from class_names.txt.
func (p *plan) readNames() error {
	name := path.Join(p.base, "class_names.txt")
	text, err := fs.ReadFile(p, name)
	if err != nil {
		return fmt.Errorf("clear: cannot read %s in %s, the names of the labels: %w; get the archive again",
			name, p.path, err)
	}
	p.names = strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' || r == '\r' })
	p.report.Classes = slices.DeleteFunc(slices.Clone(p.names), func(c string) bool { return c == background })
	distinct := slices.Compact(slices.Sorted(slices.Values(p.report.Classes)))
	if len(distinct) != Classes || len(p.report.Classes) != Classes {
		return fmt.Errorf("clear: %s has %d classes without BACKGROUND, %d of them different; CLEAR-10 has %d",
			p.path, len(p.report.Classes), len(distinct), Classes)
	}
	return nil
}

// listBuckets chooses ten buckets, in order of time (see the package comment), and adds the files of each. A bucket is
// a folder whose name is a number.
func (p *plan) listBuckets(parent string, addFiles func(folder string, bucket int)) error {
	r := p.report
	parent = path.Join(parent, r.Type)
	for _, name := range p.folders(parent) {
		if n, err := strconv.Atoi(name); err == nil && strconv.Itoa(n) == name {
			r.Buckets = append(r.Buckets, n)
		}
	}
	slices.Sort(r.Buckets)
	if len(r.Buckets) < Buckets {
		return fmt.Errorf("clear: %s has %d buckets with features; CLEAR-10 has %d: get the complete archive",
			p.path, len(r.Buckets), Buckets)
	}
	if len(r.Buckets) > Buckets && r.Buckets[0] == 0 {
		r.Buckets = r.Buckets[1:]
	}
	r.Buckets = r.Buckets[:Buckets:Buckets]
	for _, bucket := range r.Buckets {
		addFiles(path.Join(p.base, parent, strconv.Itoa(bucket)), bucket)
	}
	return nil
}

// add plans to read a file, and reports it as missing if it does not exist.
func (p *plan) add(f file) {
	p.files = append(p.files, f)
	if !isFile(p, f.name) {
		p.report.Missing = append(p.report.Missing, f.name)
	}
}
