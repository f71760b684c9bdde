package continual

import (
	"slices"
	"strings"
	"testing"
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
	e := &Env{Backend: open(t, ""), CacheDir: t.TempDir()}
	jobs, err := Jobs(e, s, []string{"everything", "ours"}, []int64{0}, "")
	if err != nil {
		t.Fatal(err)
	}
	if jobs[0].Spec.Experiment != "clear-stand-in" || !e.StandsIn(s) || !strings.Contains(e.DataNote(s), StandIn) {
		t.Errorf("%s: %q", jobs[0].Spec.Experiment, e.DataNote(s))
	}
	data, err := e.Data(s)
	if err != nil || data.Train.Len() != 0 || data.Test.Len() != 200 {
		t.Fatalf("%d and %d images, %v", data.Train.Len(), data.Test.Len(), err)
	}
	engine, release, err := e.engine(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	stream, err := e.stream(t.Context(), engine, s, 3)
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
	im, err := e.trunk(t.Context(), s, 3, data)
	if err != nil {
		t.Fatal(err)
	}
	a, v, c := im.thirds(3)
	all := slices.Sorted(slices.Values(slices.Concat(a, v, c)))
	if len(a) != 120 || len(v) != 20 || len(c) != 60 || len(slices.Compact(all)) != 200 {
		t.Errorf("split into %d, %d and %d, %d rows in all", len(a), len(v), len(c), len(all))
	}
	other, _, _ := im.thirds(4)
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
