// Package clear reads the published features of CLEAR-10 (Lin, Shi, Pathak and Ramanan 2021,
// "The CLEAR Benchmark"), real photographs of 2004 to 2014 in ten classes. The paper draws
// its CLEAR stream from them ("Image Classification with Evolving Labels", CLEAR): "10 classes
// with 3000 samples per class", "unsupervised pre-trained features" and "3 random
// train-validation-test splits, of relative size 60% (train), 10% (validation), and 30%
// (test)", which is Set.Split.
//
// # What there is to download
//
// The authors publish zips, CLEAR-10, feature archives of the CLEAR authors, as the data set
// elvishelvis6/CLEAR-Continual_Learning_Benchmark on Hugging Face. Two have features:
//
//	clear10-public.zip (2021)   features/TYPE/features.json
//	                            features/TYPE/BUCKET/CLASS.pth           {id: tensor[2048]}
//	                            training_folder/bucket_indices.json
//	                            training_folder/features/TYPE/BUCKET/all.pth  (tensor[N, 2048], [label, ...])
//	                            class_names.txt
//	clear10-train.zip (2022)    train/features/TYPE/features.json, train/features/TYPE/BUCKET/CLASS.pth,
//	                            train/class_names.txt
//
// TYPE is the network, a ResNet-50 without its last layer: moco_b0 (trained without labels on
// the photographs of bucket 0), moco_imagenet, byol_imagenet or imagenet; the archive of 2022
// has moco_b0. Both are read as a folder or as they come, zipped, also with one more folder
// around. A .pth file is a pickle, and a pickle can run programs; package internal/pth reads
// it and runs nothing.
//
// # What is used of it
//
// All of this is inference: the paper gives two numbers, 10 classes and 3,000 images of each.
//
//   - Class BACKGROUND is left out. Ten classes remain, labelled 0 to 9 in the order of
//     class_names.txt, or sorted by name where that file is missing.
//   - Ten buckets (spans of time) are used, 1 to 10 of 300 images for each class, which makes
//     the 3,000. Bucket 0 is left out where there are more than ten: the CLEAR authors keep
//     it for pre-training.
//   - Of the archive of 2022 the part train is used, which has these 300; its part test has
//     about 500 more images in each bucket, for which the paper's number leaves no room.
//   - The features are moco_b0: of those that were trained without labels the only ones whose
//     network saw photographs of CLEAR alone.
package clear

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"tvps/data/artifact"
)

const (
	Classes     = 10        // without BACKGROUND
	Buckets     = 10        // spans of time that are used
	PerBucket   = 300       // published images of a class in a bucket
	DefaultType = "moco_b0" // the feature type of Options{}
)

// Options says what to read. The zero value is right for almost everybody.
type Options struct {
	Type string // feature type; empty for DefaultType
}

// Set is labelled feature vectors, ordered by bucket, within it by class, and within that as
// in the files.
type Set struct {
	X       []float32 // [len * Dim], row after row
	Dim     int       // values of an image, 2048 as published
	Label   []int32   // [len], 0 to 9
	Bucket  []int32   // [len], the bucket's published number, mostly 1 to 10
	Classes []string  // [10], names by label
	Source  Source
}

// Source says where features came from.
type Source struct {
	Path   string // folder or zip
	Layout Layout
	Type   string
	Note   string // one sentence for figures: which data was used
	SHA256 string // of classes, labels, buckets and features, the same for every layout
}

// Len is the number of images.
func (s *Set) Len() int { return len(s.Label) }

// Row returns the Dim values of image i, not copied.
func (s *Set) Row(i int) []float32 { return s.X[i*s.Dim : (i+1)*s.Dim : (i+1)*s.Dim] }

// ByClass lists, for every class, the rows that show it, ascending.
func (s *Set) ByClass() [][]int32 {
	rows := make([][]int32, len(s.Classes))
	for i, label := range s.Label {
		rows[label] = append(rows[label], int32(i))
	}
	return rows
}

// Load reads the data set at path, a folder or a zip in one of the layouts of the package
// comment. The published set has 30,000 rows of 2,048 values, 245 MB. Values that are not
// finite, vectors of different lengths, a bucket without one of the classes, fewer than ten
// buckets and damaged or unusual .pth files are errors that name the file.
func Load(ctx context.Context, path string, o Options) (*Set, error) {
	p, err := prepare(path, o)
	if err != nil {
		return nil, err
	}
	defer p.close()
	if err := p.report.Err(); err != nil {
		return nil, err
	}
	s := &Set{Classes: p.report.Classes}
	err = p.read(ctx, func(b batch) error {
		if s.X == nil {
			s.Dim = b.dim
			s.X = make([]float32, 0, min(len(b.x)*len(p.files), maxValues))
		}
		s.X = append(s.X, b.x...)
		s.Label = append(s.Label, b.labels...)
		for range b.labels {
			s.Bucket = append(s.Bucket, int32(b.bucket))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	r := p.report
	s.Source = Source{Path: r.Path, Layout: r.Layout, Type: r.Type, Note: r.Note(), SHA256: r.SHA256}
	return s, nil
}

// Find returns the folder or zip to load: TVPS_CLEAR, or the folder clear in the cache
// (CacheDir), or "" if there is neither. A TVPS_CLEAR that cannot be read is an error, never
// a reason to go on. What Find returns need not be whole: Load and Check say.
func Find() (string, error) {
	if named := os.Getenv("TVPS_CLEAR"); named != "" {
		if _, err := os.Stat(named); err != nil {
			return "", fmt.Errorf("clear: TVPS_CLEAR cannot be used: %w; set it to a folder or zip with CLEAR-10's features, or unset it", err)
		}
		return named, nil
	}
	cache, err := CacheDir()
	if err != nil {
		return "", nil // no cache on this machine
	}
	switch _, err := os.Stat(cache); {
	case err == nil:
		return cache, nil
	case os.IsNotExist(err):
		return "", nil
	default:
		return "", fmt.Errorf("clear: cannot look for the data in the cache: %w; set TVPS_CACHE to a folder that can be read", err)
	}
}

// CacheDir is the folder of the cache that Find looks for: the unpacked data set, or one of
// the published zips in it.
func CacheDir() (string, error) {
	root, err := artifact.CacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(root, "clear"), nil
}
