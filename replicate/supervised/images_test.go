package supervised

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"tvps/ci/demand"
	"tvps/data/cifar10"
	"tvps/data/streams"

	"github.com/gomlx/compute/dtypes/float16"
	"github.com/gomlx/gomlx/core/tensors"
)

// TestImageStream: training images are of the seed's 90% split, test images of the test part, all with their own
// labels.
func TestImageStream(t *testing.T) {
	im := fakeImages(t, 400, 100, 2)
	for _, evaluate := range choices["evaluate"] {
		for seed := range int64(3) {
			s := imageSettings()
			s.Evaluate = evaluate
			stream, err := im.stream(s, seed)
			demand.NoError(t, err)
			official, _ := cifar10.Split(cifar10.TrainImages, seed)
			for at := range 9 {
				train, test := stream.Train(at), stream.Test(at+1)
				if train.Len() != s.N || test.Len() != 100 {
					t.Errorf("%d training and %d test samples", train.Len(), test.Len())
				}
				for i, row := range train.Row {
					if _, ok := slices.BinarySearch(official, row); !ok || row >= 400 || int32(row*7%10) != train.Label[i] {
						t.Fatalf("seed %d: training row %d with label %d is not of the split's training part",
							seed, row, train.Label[i])
					}
				}
				for i, row := range test.Row {
					if row < 400 || row >= 500 || (row-400)*7%10 != test.Label[i] {
						t.Fatalf("test row %d with label %d is not of the test part", row, test.Label[i])
					}
				}
			}
			if slices.Equal(stream.Train(1).Row, stream.Train(2).Row) {
				t.Error("steps 1 and 2 draw the same images")
			}
			for label := range int32(10) {
				if got, want := stream.LogRatio(0, label, 5, 2), streams.CIFAR10b.LogRatio(int(label), 5, 2); got != want {
					t.Errorf("log ratio %v, want %v", got, want)
				}
			}
		}
	}
}

// TestWeighted: the weights of each class sum to its prior, and all images of a class have the same weight.
func TestWeighted(t *testing.T) {
	im := fakeImages(t, 20, 130, 1)
	s := imageSettings()
	stream, err := im.stream(s, 0)
	demand.NoError(t, err)
	for at := range 14 {
		prior := streams.CIFAR10b.Prior(at)
		byClass, each := make([]float64, 10), map[int32]float64{}
		test := stream.Test(at)
		for i, w := range test.Weight {
			y := test.Label[i]
			byClass[y] += w
			if each[y] == 0 {
				each[y] = w
			}
			if w != each[y] {
				t.Errorf("step %d: images of class %d weigh %v and %v", at, y, w, each[y])
			}
		}
		for y := range prior {
			if math.Abs(byClass[y]-prior[y]) > 1e-12 {
				t.Errorf("step %d: class %d weighs %v, want %v", at, y, byClass[y], prior[y])
			}
		}
	}
}

// TestTestRows: n test images are drawn by seed, equally many of each class.
func TestTestRows(t *testing.T) {
	im := fakeImages(t, 20, 200, 1)
	seen := map[string]bool{}
	for seed := range int64(3) {
		rows := im.testRows(50, seed)
		seen[fmt.Sprint(rows)] = true
		for class, list := range rows {
			unique := slices.Compact(slices.Sorted(slices.Values(list)))
			if len(unique) != 5 {
				t.Errorf("class %d has %d of 50 images", class, len(unique))
			}
			for _, row := range list {
				if row < 20 || im.labels[row] != int32(class) {
					t.Errorf("row %d is not a test image of class %d", row, class)
				}
			}
		}
	}
	if len(seen) != 3 {
		t.Error("seeds share their test images")
	}
	for class, list := range im.testRows(0, 0) {
		if len(list) != 20 || list[0] < 20 {
			t.Errorf("class %d has %d images in all", class, len(list))
		}
	}
	if list := im.testRows(3, 0); len(list[9]) != 1 {
		t.Errorf("n = 3 leaves %d images of a class", len(list[9]))
	}
}

// TestPooledFeatures: pooled features are averages over the places of the last block.
func TestPooledFeatures(t *testing.T) {
	const channels = 3
	im := fakeImages(t, 12, 5, channels)
	features := tensors.MustCopyFlatData[float16.Float16](im.pool)
	for row := range 17 {
		for c := range channels {
			sum := 0.0
			for place := range 16 {
				sum += float64(features[(row*16+place)*channels+c].Float32())
			}
			if got := float64(im.pooled[row*channels+c]); math.Abs(got-sum/16) > 1e-6 {
				t.Fatalf("row %d, channel %d: %v, want %v", row, c, got, sum/16)
			}
		}
	}
}

// TestInputsOfG: the pools of g are the pooled features and the pixels.
func TestInputsOfG(t *testing.T) {
	const channels = 3
	im := fakeImages(t, 12, 5, channels)
	pixels := im.pixels()
	for _, at := range [][4]int{{0, 0, 0, 0}, {3, 31, 2, 1}, {12, 5, 30, 2}, {16, 31, 31, 2}} {
		set, i := im.data.Train, at[0]
		if i >= 12 {
			set, i = im.data.Test, i-12
		}
		want := float32(set.Image(i)[at[3]*1024+at[1]*32+at[2]]) / 255
		if got := pixels[((at[0]*32+at[1])*32+at[2])*3+at[3]]; got != want {
			t.Errorf("pixel %v is %v, want %v", at, got, want)
		}
	}
	for input, shape := range map[string]string{"features": "[17 3]", "pixels": "[17 32 32 3]"} {
		p, err := im.gPool(input)
		demand.NoError(t, err)
		if got := fmt.Sprint(p.X.Shape().Dimensions); got != shape {
			t.Errorf("%s have shape %s", input, got)
		}
	}
}
