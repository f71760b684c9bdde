// Package clear reads the published features of CLEAR-10 (Lin, Shi, Pathak and Ramanan 2021,
// "The CLEAR Benchmark"): photographs of 2004 to 2014 in ten classes. The paper's CLEAR
// stream ("Image Classification with Evolving Labels", CLEAR) has "10 classes with 3000
// samples per class", "unsupervised pre-trained features" and "3 random
// train-validation-test splits, of relative size 60% (train), 10% (validation), and 30%
// (test)", which is Set.Split.
//
// # The published archives
//
// The CLEAR authors publish zips as the data set
// elvishelvis6/CLEAR-Continual_Learning_Benchmark on Hugging Face. Two of them have features:
//
//	clear10-public.zip (2021)   features/moco_b0/BUCKET/CLASS.pth, class_names.txt
//	clear10-train.zip (2022)    train/features/moco_b0/BUCKET/CLASS.pth, train/class_names.txt
//
// BUCKET is a span of time. A file has {id: tensor[2048]}: the output of a ResNet-50 without its last layer, trained
// without labels on the photographs of bucket 0 (moco_b0). Both archives are read as a zip or unpacked, also if
// everything is in one more folder. A .pth file contains a pickle, which Python may execute; pth.go reads it and
// executes nothing.
//
// The published archives were not available when this package was written. It was tested
// with files in the layouts above and with files that PyTorch wrote.
//
// # What is used
//
// The paper gives two numbers: 10 classes and 3,000 images of each. The rest is inferred:
//
//   - Class BACKGROUND is left out. Ten classes remain, labelled 0 to 9 in the order of
//     class_names.txt.
//   - Ten buckets are used, 1 to 10. With 300 images of each class per bucket they have the
//     3,000. Bucket 0 is left out if there are more than ten buckets: the CLEAR authors
//     reserve it for pre-training.
//   - Of the archive of 2022 the part train is used, which has these 300 images. Its part
//     test has about 500 more images per bucket, which would exceed the paper's number.
//   - The features are moco_b0: of the types trained without labels the only one whose
//     network was trained on CLEAR alone.
package clear

import (
	"fmt"
	"os"
	"slices"

	"tvps/data/artifact"
)

const (
	Classes = 10      // without BACKGROUND
	Buckets = 10      // buckets that are used
	Folder  = "clear" // in the cache: an unpacked data set, or a folder with one of the published zips
)

// Set is a list of labelled feature vectors, ordered by bucket, then by class, then as in the
// files.
type Set struct {
	X       []float32 // [len * Dim], row after row
	Dim     int       // values per image, published: 2048
	Label   []int32   // [len], 0 to 9
	Bucket  []int32   // [len], the bucket's published number
	Classes []string  // [10], names by label
	Path    string    // the folder or zip that was read
	SHA256  string    // of classes, labels, buckets and features; the same for every layout
}

// Len returns the number of images.
func (s *Set) Len() int { return len(s.Label) }

// Row returns the Dim values of image i, not copied.
func (s *Set) Row(i int) []float32 { return s.X[i*s.Dim : (i+1)*s.Dim : (i+1)*s.Dim] }

// ByClass returns the rows of each class, ascending.
func (s *Set) ByClass() [][]int32 {
	rows := make([][]int32, len(s.Classes))
	for i, label := range s.Label {
		rows[label] = append(rows[label], int32(i))
	}
	return rows
}

// Note says which data is used, for figures.
func (s *Set) Note() string {
	return fmt.Sprintf("CLEAR-10, %s features, %d classes, buckets %d to %d, %d images, %d values each",
		features, len(s.Classes), slices.Min(s.Bucket), slices.Max(s.Bucket), s.Len(), s.Dim)
}

// Find returns the folder or zip to load: TVPS_CLEAR, otherwise the folder Folder of the cache if it exists, otherwise
// "". If TVPS_CLEAR is set and cannot be read, that is an error. Find does not look inside; Load does.
func Find() (string, error) {
	named := os.Getenv("TVPS_CLEAR")
	if named == "" {
		return artifact.InCache(Folder)
	}
	if _, err := os.Stat(named); err != nil {
		return "", fmt.Errorf("clear: cannot use TVPS_CLEAR: %w; "+
			"set it to a folder or zip with CLEAR-10's features, or unset it", err)
	}
	return named, nil
}
