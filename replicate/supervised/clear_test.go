package supervised

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/replicate/runs"
)

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
	if got := jobs(t, h, s, []int64{0}, "everything")[0].Spec.Experiment; got != "clear-stand-in" {
		t.Errorf("the runs are kept under %s", got)
	}
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
