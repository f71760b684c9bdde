// Package cifar10 reads CIFAR-10 (Krizhevsky 2009), 60,000 colour images of 32x32
// pixels in ten classes, on which the paper simulates label shift ("Image
// Classification with Evolving Labels").
//
// The full set comes from the six official .bin files (Load, ReadDir), which Download
// fetches. Without them the program uses a sample that is embedded in it: real images,
// lossless, 650 training images (of the official training files) and 400 test images
// (of the official test file) of each class, drawn without replacement with seed 0.
// Training and test images are never mixed. It was made, and can be made again byte
// for byte, with
//
//	go run ./data/cifar10/makesample --from /path/to/cifar-10-batches-bin
//
// and its format is that of package internal/pack: sample.bin takes 15.3 MiB, about
// half of the pixels. Every figure says which of the two was used (Source.Note).
package cifar10

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"tvps/data/random"
)

const (
	Classes     = 10
	Pixels      = 3 * 32 * 32 // bytes of an image: planes R, G, B, each 32 rows of 32
	TrainImages = 50000
	TestImages  = 10000

	recordBytes  = 1 + Pixels // one label byte, then the pixels
	batchRecords = 10000      // records of one official file
)

// ClassNames are the official names, by label.
var ClassNames = [Classes]string{
	"airplane", "automobile", "bird", "cat", "deer",
	"dog", "frog", "horse", "ship", "truck",
}

// officialFiles are the names of the binary version's files in official order: five
// of training images, one of test images.
var officialFiles = []string{
	"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin",
	"test_batch.bin",
}

// remedy ends the errors about missing or damaged files.
const remedy = "fetch it with `go run ./replicate data cifar10`, or correct TVPS_DATA"

// Set is a list of images.
type Set struct {
	Pixels []byte  // [len * 3072] in the official order: R, G, B planes, rows of 32
	Labels []uint8 // [len], 0 to 9
	Index  []int32 // [len], position in the official train files (0..49999, batches 1 to 5 in order) or test file
}

// Len is the number of images.
func (s Set) Len() int { return len(s.Labels) }

// Image returns the 3072 bytes of image i, not copied.
func (s Set) Image(i int) []byte { return s.Pixels[i*Pixels : (i+1)*Pixels : (i+1)*Pixels] }

// ByClass lists, for every class, the rows of the set that show it, ascending.
func (s Set) ByClass() [][]int32 {
	rows := make([][]int32, Classes)
	for i, label := range s.Labels {
		rows[label] = append(rows[label], int32(i))
	}
	return rows
}

// Select copies the given rows into a new set; Index still names official positions.
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

// Data is the images of one source; train and test never share an image.
type Data struct {
	Train, Test Set
	Source      Source
}

// Source says where images came from.
type Source struct {
	Full bool   // all 60,000 official images, not the embedded sample
	Dir  string // folder of the six .bin files; empty for the embedded sample
	Note string // one sentence for figures: which data was used
}

// ReadDir reads the six official files of dir. Every record is checked; the error
// of a missing, short, overlong or damaged file names it and the byte where it breaks.
func ReadDir(dir string) (*Data, error) {
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
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("cifar10: cannot open a data file: %w; %s", err, remedy)
	}
	defer f.Close()
	record := make([]byte, recordBytes)
	for i := range batchRecords {
		start := int64(i) * recordBytes
		n, err := io.ReadFull(f, record)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return fmt.Errorf("cifar10: %s is short: it ends at byte %d of %d, inside record %d; %s", path, start+int64(n), batchRecords*recordBytes, i, remedy)
		}
		if err != nil {
			return fmt.Errorf("cifar10: reading %s at byte %d: %w", path, start+int64(n), err)
		}
		if record[0] >= Classes {
			return fmt.Errorf("cifar10: %s is damaged at byte %d: record %d has label %d, labels are 0 to 9; %s", path, start, i, record[0], remedy)
		}
		row := first + i
		set.Labels[row] = record[0]
		set.Index[row] = int32(row)
		copy(set.Pixels[row*Pixels:], record[1:])
	}
	if n, _ := f.Read(record[:1]); n > 0 {
		return fmt.Errorf("cifar10: %s is too long: it goes on after byte %d, where the last record ends; %s", path, batchRecords*recordBytes, remedy)
	}
	return nil
}

// Split divides n training images into 90% for training and 10% for validation, by
// seed: rows, each list ascending. It is the "90% (train) and 10% (validation)" of the
// paper's CIFAR-10 section; each seed is one of its "data splits".
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

// Split divides the rows of a training set as Split(TrainImages, seed) divides the
// official images. For the full set the two agree. For the embedded sample, where the
// shares are 90% and 10% only nearly, an image of the validation part is one that a
// network trained on the full set's training part of the same seed has never seen.
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
