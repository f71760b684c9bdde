package clear

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Report says what a data set holds and what of it is used.
type Report struct {
	Path    string // folder or zip that is read
	Layout  Layout
	Types   []string // feature types that are there, sorted
	Type    string   // the one that is used
	Classes []string // [10] names by label, without BACKGROUND
	Named   bool     // class_names.txt is there and gives their order
	Buckets []int    // [10] that are used, ascending
	LeftOut []int    // buckets that are there and not used
	Test    bool     // a part test is there, which is not used
	Missing []string // files that should be there
	Surplus []string // .pth files of the used type that features.json does not name; they are not read

	// Known once the files were read, by Check or Load.
	Images [][]int // [class][bucket]
	Dim    int     // values of an image
	SHA256 string  // see Source
}

// Describe says what the data set at path holds by the names of its files, in milliseconds.
// What makes the set unusable as a whole is an error; missing files are in the report.
func Describe(path string, o Options) (*Report, error) {
	p, err := prepare(path, o)
	if err != nil {
		return nil, err
	}
	return p.report, p.close()
}

// Check is Describe and reads every file that Load would read, one at a time. With an error
// about a file it returns the report as well.
func Check(ctx context.Context, path string, o Options) (*Report, error) {
	p, err := prepare(path, o)
	if err != nil {
		return nil, err
	}
	defer p.close()
	if err := p.report.Err(); err != nil {
		return p.report, err
	}
	return p.report, p.read(ctx, func(batch) error { return nil })
}

// Err is the error that Load would give because of missing files.
func (r *Report) Err() error {
	if len(r.Missing) == 0 {
		return nil
	}
	return fmt.Errorf("clear: %s is not whole: %s is missing (missing in all: %d); unpack the archive again, or use it zipped", r.Path, r.Missing[0], len(r.Missing))
}

// count adds a batch to Images.
func (r *Report) count(b batch) {
	at := slices.Index(r.Buckets, b.bucket)
	for _, label := range b.labels {
		r.Images[label][at]++
	}
}

// Note is one sentence for figures: which data is used.
func (r *Report) Note() string {
	note := fmt.Sprintf("CLEAR-10, %s features, %d classes, buckets %s", r.Type, len(r.Classes), Numbers(r.Buckets))
	if r.Images == nil {
		return note
	}
	return fmt.Sprintf("%s, %s images of each class, %s values each", note, Span(r.PerClass()), thousands(r.Dim))
}

// PerClass counts the images of each class.
func (r *Report) PerClass() []int {
	counts := make([]int, len(r.Images))
	for class, buckets := range r.Images {
		for _, n := range buckets {
			counts[class] += n
		}
	}
	return counts
}

// Published says whether every class has the published 300 images in every bucket. Other
// numbers are used as they are, but the set is not the paper's then.
func (r *Report) Published() bool {
	counts := slices.Concat(r.Images...)
	return len(counts) > 0 && slices.Min(counts) == PerBucket && slices.Max(counts) == PerBucket
}

// Span writes counts as one number, or as the least and the largest: 2,950 to 3,000.
func Span(counts []int) string {
	least, most := slices.Min(counts), slices.Max(counts)
	if least == most {
		return thousands(least)
	}
	return thousands(least) + " to " + thousands(most)
}

// Numbers writes ascending numbers in short: 1 to 10, or 1, 3, 4.
func Numbers(n []int) string {
	if last := len(n) - 1; last > 1 && n[last]-n[0] == last {
		return fmt.Sprintf("%d to %d", n[0], n[last])
	}
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(n), " ", ", "), "[]")
}

// thousands writes n with a comma: 3,000.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
