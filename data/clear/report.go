package clear

import (
	"fmt"
	"slices"
	"strings"
)

// Report says what a data set contains and which part of it is used.
type Report struct {
	Path    string   // folder or zip that is read
	Types   []string // feature types that it has, sorted
	Type    string   // the type that is used
	Classes []string // [10] names by label, without BACKGROUND
	Buckets []int    // [10] buckets that are used, ascending
	Missing []string // files that should exist and do not

	// Set once all files were read.
	Images []int  // of each class
	Dim    int    // values per image
	SHA256 string // of type, classes, labels, buckets and features; the same for every layout
}

// Describe reports on the features of a type at path by the names of its files, without
// reading them. Missing .pth files are in the report; all other problems are errors.
func Describe(path, kind string) (*Report, error) {
	p, err := prepare(path, kind)
	if err != nil {
		return nil, err
	}
	return p.report, p.close()
}

// Err returns the error of Load about missing files, or nil if none is missing.
func (r *Report) Err() error {
	if len(r.Missing) == 0 {
		return nil
	}
	return fmt.Errorf("clear: %s is incomplete: %s is missing (files missing: %d); "+
		"unpack the archive again, or use the zip", r.Path, r.Missing[0], len(r.Missing))
}

// Note says which data is used, for figures.
func (r *Report) Note() string {
	return fmt.Sprintf("CLEAR-10, %s features, %d classes, buckets %s, %s images of each class, %s values each",
		r.Type, len(r.Classes), numbers(r.Buckets), span(r.Images), thousands(r.Dim))
}

// Published says whether every class has the published 300 images in each of ten buckets. A set
// with other numbers is used, too, but it is not the paper's.
func (r *Report) Published() bool {
	const each = Buckets * PerBucket
	return slices.Min(r.Images) == each && slices.Max(r.Images) == each
}

// span formats counts as one number, or as the smallest and the largest: 2,950 to 3,000.
func span(counts []int) string {
	least, most := slices.Min(counts), slices.Max(counts)
	if least == most {
		return thousands(least)
	}
	return thousands(least) + " to " + thousands(most)
}

// numbers formats ascending numbers: 1 to 10, or 1, 3, 4.
func numbers(n []int) string {
	if last := len(n) - 1; last > 1 && n[last]-n[0] == last {
		return fmt.Sprintf("%d to %d", n[0], n[last])
	}
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(n), " ", ", "), "[]")
}

// thousands formats n with commas: 3,000.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
