package supervised

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/data/cifar10"
	"tvps/data/streams"
	"tvps/replicate/runs"

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
			demand.Equal(t, w, each[y], "step %d: images of class %d weigh", at, y)
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
			demand.Equal(t, len(unique), 5, "different images of class %d, of 50", class)
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
		demand.Equal(t, pixels[((at[0]*32+at[1])*32+at[2])*3+at[3]], want, "pixel %v", at)
	}
	for input, shape := range map[string]string{"features": "[17 3]", "pixels": "[17 32 32 3]"} {
		p, err := im.gPool(input)
		demand.NoError(t, err)
		demand.Equal(t, fmt.Sprint(p.X.Shape().Dimensions), shape, "shape of %s", input)
	}
}

// standInSettings is CLEAR's panel of figure 1 in miniature, on the stand-in.
func standInSettings() Settings {
	s := gaussianSettings()
	s.Scenario, s.Network, s.Features, s.Data, s.Evaluate = "clear", "linear", "stand-in", "sample", "weighted"
	s.TestN, s.Images, s.Width = 0, 200, 16
	s.Steps, s.N = 6, 30
	return s
}

// TestStandIn: the stand-in is made of features of test images alone, and runs, notes and files say so.
func TestStandIn(t *testing.T) {
	s := standInSettings()
	h := newHost(t, "")
	demand.Equal(t, jobs(t, h, s, []int64{0}, "everything")[0].Spec.Experiment, "clear-stand-in", "the runs' folder")
	if source := s.Source(h); source.StandIn != StandIn || !strings.Contains(source.Note, StandIn) {
		t.Errorf("the source is %+v", source)
	}
	data, err := libraryOf(h).cifar10(s, true)
	if err != nil || data.Train.Len() != 0 || data.Test.Len() != 200 {
		t.Fatalf("%d and %d images, %v", data.Train.Len(), data.Test.Len(), err)
	}
}

// rowsOf returns the rows that the steps of a stream train and test on.
func rowsOf(stream *Stream, steps int) (train, test map[int32]bool) {
	train, test = map[int32]bool{}, map[int32]bool{}
	for at := range steps {
		for _, row := range stream.Train(at).Row {
			train[row] = true
		}
		for _, row := range stream.Test(at).Row {
			test[row] = true
		}
	}
	return train, test
}

// TestStreamOfStandIn: all test rows are used, and training rows of 60% of the images; inputs are pooled features.
func TestStreamOfStandIn(t *testing.T) {
	s := standInSettings()
	stream := newRun(t, newHost(t, ""), s, "ours", 3, "").Stream
	train, test := rowsOf(stream, s.Steps)
	if len(test) != 60 || len(train) > 120 || len(train) < 60 {
		t.Errorf("%d rows to test and %d to train, of 60 and 120", len(test), len(train))
	}
	if _, other := rowsOf(newRun(t, newHost(t, ""), s, "ours", 4, "").Stream, s.Steps); maps.Equal(test, other) {
		t.Error("seeds 3 and 4 have the same split")
	}
	if dim := stream.Pool.Shape().Dim(1); dim != 128 || len(stream.X) != 200*dim || len(stream.InputOfG(7)) != dim {
		t.Errorf("features of %d numbers", dim)
	}
}

// TestPublishedFeatures: where CLEAR is found it is used under its own name, unless the stand-in is chosen. Rows,
// labels and split are those of CLEAR.
func TestPublishedFeatures(t *testing.T) {
	t.Setenv("TVPS_CLEAR", "../../data/clear/testdata/clear10-public.zip")
	s := standInSettings()
	h := newHost(t, "")
	if s.Source(h).StandIn != StandIn {
		t.Error("features=stand-in takes CLEAR")
	}
	s.Features, s.N, s.Epochs = "auto", 20, 1
	job := jobs(t, h, s, []int64{0}, "recent")[0]
	spec, source := job.Spec, s.Source(h)
	if spec.Experiment != "clear" || !strings.HasPrefix(spec.Settings["data"], "clear:") ||
		source.StandIn != "" || strings.Contains(source.Note, StandIn) {
		t.Errorf("%s, data %s: %+v", spec.Experiment, spec.Settings["data"], source)
	}
	set, err := libraryOf(h).clear(t.Context())
	demand.NoError(t, err)
	train, _, test := set.Split(5)
	stream := newRun(t, h, s, "recent", 5, "").Stream
	samples := stream.Train(1)
	for i, row := range samples.Row {
		if !slices.Contains(train, row) || set.Label[row] != samples.Label[i] {
			t.Fatalf("row %d is trained on as class %d", row, samples.Label[i])
		}
	}
	if got := stream.Test(1).Row; len(got) != len(test) {
		t.Errorf("%d rows to test, the split has %d", len(got), len(test))
	}
	step, stop, err := job.Batch.Start(t.Context(), []int64{spec.Seed}, []runs.Spec{spec}, runs.Files{})
	demand.NoError(t, err)
	defer stop()
	if rows, err := step(t.Context(), 2); err != nil || !(metric(t, rows[0], "accuracy") > 0) {
		t.Errorf("%v, %v", rows, err)
	}
}
