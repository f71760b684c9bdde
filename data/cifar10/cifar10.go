// Package cifar10 reads CIFAR-10 (Krizhevsky 2009), 60,000 colour images of 32x32 pixels in
// ten classes, on which the paper simulates label shift ("Image Classification with Evolving
// Labels").
//
// The full set is in the six official .bin files, which Download fetches and Load reads.
// Without them Load returns a sample that is embedded in the program: real images, lossless,
// of each class 650 training images (from the official training files) and 400 test images
// (from the official test file), drawn without replacement with seed 0. With the official
// files in TVPS_DATA,
//
//	go test ./data/cifar10 -run TestSampleAgainstOfficial -update
//	cwebp -lossless -z 9 sample.png -o sample.webp
//
// make the same sample: sample.labels and a picture of 17.1 MiB, a little more than half the size
// of the pixels. Every figure says which of the two was used (Source.Note).
package cifar10

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"tvps/data/artifact"
	"tvps/data/random"

	"github.com/gomlx/gomlx/support/xslices"
)

// The sizes of CIFAR-10.
const (
	Classes     = 10
	Pixels      = 3 * 32 * 32 // bytes of an image: planes R, G, B, each 32 rows of 32
	TrainImages = 50000
	testImages  = 10000

	recordBytes  = 1 + Pixels // one label byte, then the pixels
	batchRecords = 10000      // records of one official file
)

// officialFiles are the files of the binary version in official order: five of training
// images, one of test images.
var officialFiles = xslices.Map(artifact.CIFAR10.Members, func(m artifact.Member) string { return m.In("") })

// remedy is the end of errors about missing or damaged files.
const remedy = "download it with `go run ./replicate data cifar10`, or correct TVPS_DATA"

// Set is a list of images.
type Set struct {
	Pixels []byte  // [len * 3072] in the official order: R, G, B planes, rows of 32
	Labels []uint8 // [len], 0 to 9

	// Index, [len], is the position in the official test file, or in the official training
	// files: 0 to 49999, files 1 to 5 in order.
	Index []int32
}

// Len returns the number of images.
func (s Set) Len() int { return len(s.Labels) }

// Image returns the 3072 bytes of image i, not copied.
func (s Set) Image(i int) []byte { return s.Pixels[i*Pixels : (i+1)*Pixels : (i+1)*Pixels] }

// ByClass returns the rows of each class, ascending.
func (s Set) ByClass() [][]int32 {
	rows := make([][]int32, Classes)
	for i, label := range s.Labels {
		rows[label] = append(rows[label], int32(i))
	}
	return rows
}

// Select copies the given rows into a new set. Index keeps the official positions.
func (s Set) Select(rows []int32) Set {
	out := Set{
		Pixels: make([]byte, 0, len(rows)*Pixels),
		Labels: make([]uint8, len(rows)),
		Index:  make([]int32, len(rows)),
	}
	for i, row := range rows {
		out.Pixels = append(out.Pixels, s.Image(int(row))...)
		out.Labels[i] = s.Labels[row]
		out.Index[i] = s.Index[row]
	}
	return out
}

// Data holds the images of one source. No image is in both Train and Test.
type Data struct {
	Train, Test Set
	Source      Source
}

// Source says where images came from.
type Source struct {
	Full bool   // all 60,000 official images, not the embedded sample
	Dir  string // folder of the six .bin files; empty for the embedded sample
	Note string // which data this is, for figures
}

// readDir reads the six official files in dir. It checks the length of each file and the
// label of each record, but no hash (see Verify). An error names the file.
func readDir(dir string) (*Data, error) {
	train, err := readFiles(dir, officialFiles[:5])
	if err != nil {
		return nil, err
	}
	test, err := readFiles(dir, officialFiles[5:])
	if err != nil {
		return nil, err
	}
	return &Data{Train: train, Test: test, Source: Source{
		Full: true,
		Dir:  dir,
		Note: "CIFAR-10, all 50,000 training and 10,000 test images",
	}}, nil
}

// readFiles reads files of batchRecords records each into one set.
func readFiles(dir string, names []string) (Set, error) {
	n := len(names) * batchRecords
	set := Set{
		Pixels: make([]byte, n*Pixels),
		Labels: make([]uint8, n),
		Index:  make([]int32, n),
	}
	for i, name := range names {
		if err := readBatch(filepath.Join(dir, name), set, i*batchRecords); err != nil {
			return Set{}, err
		}
	}
	return set, nil
}

// readBatch reads one official file into rows first to first+batchRecords-1 of set.
func readBatch(path string, set Set, first int) error {
	records, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("cifar10: cannot read a data file: %w; %s", err, remedy)
	}
	if len(records) != batchRecords*recordBytes {
		return fmt.Errorf("cifar10: %s has %d bytes instead of %d; %s", path, len(records), batchRecords*recordBytes, remedy)
	}
	for i := range batchRecords {
		record, row := records[i*recordBytes:][:recordBytes], first+i
		if record[0] >= Classes {
			return fmt.Errorf("cifar10: %s is damaged: record %d has label %d, labels are 0 to 9; %s", path, i, record[0], remedy)
		}
		set.Labels[row], set.Index[row] = record[0], int32(row)
		copy(set.Pixels[row*Pixels:], record[1:])
	}
	return nil
}

// Split divides the rows 0 to n-1 of n training images at random into 90% for training and
// 10% for validation; both lists ascend. These are the "90% (train) and 10% (validation)" of
// the paper's CIFAR-10 section, and each seed is one of its "data splits".
func Split(n int, seed int64) (train, validation []int32) {
	rows := make([]int32, n)
	for i, p := range random.New(seed, "cifar10", "split").Perm(n) {
		rows[i] = int32(p)
	}
	cut := n * 9 / 10
	train, validation = rows[:cut:cut], rows[cut:]
	slices.Sort(train)
	slices.Sort(validation)
	return train, validation
}

// Split divides the rows of a training set by the official positions of its images, as
// Split(TrainImages, seed) divides the official training set. So no validation image of the
// embedded sample was seen by a network that was trained on the training part of the full
// set with the same seed. The shares of the sample are only about 90% and 10%.
func (s Set) Split(seed int64) (train, validation []int32) {
	_, held := Split(TrainImages, seed)
	for row, index := range s.Index {
		if _, found := slices.BinarySearch(held, index); found {
			validation = append(validation, int32(row))
		} else {
			train = append(train, int32(row))
		}
	}
	return train, validation
}
