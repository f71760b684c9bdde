package continual

import (
	"slices"
	"strings"
	"testing"

	"tvps/data/clear/cleartest"
)

// standInSettings is figure 1's panel of CLEAR in miniature, on the stand-in.
func standInSettings() Settings {
	s := gaussianSettings()
	s.Scenario, s.Network, s.Features, s.Data, s.Evaluate, s.TestN, s.Images, s.Width = "clear", "linear", "stand-in", "sample", "weighted", 0, 200, 16
	s.Steps, s.N = 6, 30
	return s
}

// TestStandIn: the stand-in is features of test images alone, split 60, 10 and 30 by seed,
// standardised by the training rows; it is named in words.
func TestStandIn(t *testing.T) {
	s := standInSettings()
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	h := newHost(t, "")
	jobs, err := s.Jobs(h, []string{"everything", "ours"}, []int64{0}, "")
	if err != nil {
		t.Fatal(err)
	}
	if jobs[0].Spec.Experiment != "clear-stand-in" || s.Source(h).StandIn != StandIn || !strings.Contains(s.Source(h).Note, StandIn) {
		t.Errorf("%s: %q", jobs[0].Spec.Experiment, s.Source(h).Note)
	}
	data, err := libraryOf(h).testImages(s)
	if err != nil || data.Train.Len() != 0 || data.Test.Len() != 200 {
		t.Fatalf("%d and %d images, %v", data.Train.Len(), data.Test.Len(), err)
	}
	engine, release, err := enginesOf(h).take(s)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	stream, err := s.open(h).Stream(t.Context(), engine, 3)
	if err != nil {
		t.Fatal(err)
	}
	train, test := map[int32]bool{}, map[int32]bool{}
	for at := range s.Steps {
		for _, row := range stream.Train(at).Row {
			train[row] = true
		}
		for _, row := range stream.Test(at).Row {
			test[row] = true
		}
	}
	for row := range train {
		if test[row] {
			t.Errorf("row %d is trained on and tested on", row)
		}
	}
	if len(test) != 60 || len(train) > 120 || len(train) < 60 {
		t.Errorf("%d rows to test and %d to train, of 60 and 120", len(test), len(train))
	}
	if dim := stream.Pool.Shape().Dim(1); dim != 128 || len(stream.X) != 200*dim || len(stream.GPool.Mean) != dim {
		t.Errorf("features of %d numbers", dim)
	}
	im, err := libraryOf(h).images(t.Context(), s, 3, data)
	if err != nil {
		t.Fatal(err)
	}
	a, v, c := im.splitClasses(3, 10)
	all := slices.Sorted(slices.Values(slices.Concat(a, v, c)))
	if len(a) != 120 || len(v) != 20 || len(c) != 60 || len(slices.Compact(all)) != 200 {
		t.Errorf("split into %d, %d and %d, %d rows in all", len(a), len(v), len(c), len(all))
	}
	other, _, _ := im.splitClasses(4, 10)
	if slices.Equal(a, other) {
		t.Error("another seed splits alike")
	}
}

// TestMoments against a computation by hand.
func TestMoments(t *testing.T) {
	x := []float32{1, 5, 100, 5, 3, 5, 8, 5} // rows of two; the second column is constant
	mean, scale := make([]float32, 2), make([]float32, 2)
	moments(x, []int32{0, 2, 3}, mean, scale)
	if mean[0] != 4 || scale[0]*scale[0] < 12.999 || scale[0]*scale[0] > 13.001 || mean[1] != 5 || scale[1] != 1 {
		t.Errorf("means %v, deviations %v", mean, scale)
	}
}

// TestPublishedFeatures: where CLEAR is found it is used under its own name, with its own
// split, and not where the stand-in is asked for.
func TestPublishedFeatures(t *testing.T) {
	t.Setenv("TVPS_CLEAR", cleartest.Default().Public().Folder(t))
	s := standInSettings()
	h := newHost(t, "")
	if s.Source(h).StandIn != StandIn {
		t.Error("features=stand-in takes CLEAR")
	}
	s.Features, s.N, s.Epochs = "auto", 20, 1
	jobs, err := s.Jobs(h, []string{"recent"}, []int64{0}, "")
	if err != nil {
		t.Fatal(err)
	}
	spec := jobs[0].Spec
	if spec.Experiment != "clear" || s.Source(h).StandIn != "" || !strings.HasPrefix(spec.Settings["data"], "clear:") || strings.Contains(s.Source(h).Note, StandIn) {
		t.Errorf("%s, data %s: %q", spec.Experiment, spec.Settings["data"], s.Source(h).Note)
	}
	set, err := libraryOf(h).clear(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	engine, release, err := enginesOf(h).take(s)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	stream, err := s.open(h).Stream(t.Context(), engine, 5)
	if err != nil {
		t.Fatal(err)
	}
	train, _, test := set.Split(5)
	for at := range 3 {
		samples := stream.Train(at)
		for i, row := range samples.Row {
			if !slices.Contains(train, row) || set.Label[row] != samples.Label[i] {
				t.Fatalf("step %d trains on row %d as class %d", at, row, samples.Label[i])
			}
		}
	}
	if got := stream.Test(1).Row; len(got) != len(test) {
		t.Errorf("%d rows to test, the split has %d", len(got), len(test))
	}
	step, stop, err := jobs[0].Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if rows, err := step(t.Context(), 2); err != nil || !(metric(t, rows, "accuracy") > 0) {
		t.Errorf("%v, %v", rows, err)
	}
}
