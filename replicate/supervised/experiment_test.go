package supervised

import (
	"fmt"
	"slices"
	"testing"

	"tvps/ci/demand"
	"tvps/data/streams"

	"github.com/gomlx/gomlx/core/tensors"
)

// record lists the steps whose data the run asks for from now on.
func record(b *RunContext) (train, test *[]int) {
	train, test = &[]int{}, &[]int{}
	stream := *b.Stream
	b.Stream = &stream
	fromTrain, fromTest := stream.Train, stream.Test
	stream.Train = func(t int) Samples { *train = append(*train, t); return fromTrain(t) }
	stream.Test = func(t int) Samples { *test = append(*test, t); return fromTest(t) }
	return train, test
}

// TestLearnersSeeOnlyThePast: every learner trains on the paper's steps, none of them after t, and is tested on step
// t + 1 alone.
func TestLearnersSeeOnlyThePast(t *testing.T) {
	for _, c := range []struct {
		learner string
		t       int
		train   []int
	}{
		{"everything", 3, []int{0, 1, 2, 3}}, {"everything", 0, []int{0}},
		{"recent", 3, []int{3}}, {"recent", 0, []int{0}},
		{"finetune", 3, []int{0, 1, 2, 3}}, {"finetune", 1, []int{0, 1}}, {"finetune", 0, []int{0}},
		{"ours", 3, []int{0, 1, 2, 3}}, {"exact", 3, []int{0, 1, 2, 3}},
		{"standard", 3, []int{0, 1, 2, 3}},
		{"pretrained", 3, nil},
	} {
		prepared := c.learner
		if len(named(c.learner).Phases) == 0 { // it would need a pre-trained head
			prepared = "everything"
		}
		b := gaussianRun(t, "go", gaussianSettings(), prepared, 0)
		train, test := record(b)
		accuracyOf(t, b, named(c.learner), c.t)
		slices.Sort(*train) // g draws the same samples again
		if *train = slices.Compact(*train); !slices.Equal(*train, c.train) || !slices.Equal(*test, []int{c.t + 1}) {
			t.Errorf("%s at %d trains on %v and is tested on %v; want %v and %d",
				c.learner, c.t, *train, *test, c.train, c.t+1)
		}
	}
}

// TestFinetunePhases: Fine-tune trains on the steps before t, then for some epochs on t alone. With none of these
// epochs it is the first model.
func TestFinetunePhases(t *testing.T) {
	b := gaussianRun(t, "go", gaussianSettings(), "finetune", 0)
	const at = 3
	start := trained(t, b, Learner{Phases: []Phase{{before, allEpochs, nil}}}, at)
	data, epochs := b.Stream.Upto(at, at), b.Settings.FinetuneEpochs
	want, err := b.Classifier.Fit(t.Context(), b.Stream.Pool, start, data, epochs, batchOrder(0, at, 1))
	demand.NoError(t, err)
	if err := sameBits(trained(t, b, named("finetune"), at), want); err != nil {
		t.Errorf("two phases: %v", err)
	}
	b.Settings.FinetuneEpochs = 0
	if err := sameBits(trained(t, b, named("finetune"), at), start); err != nil {
		t.Errorf("without the second phase: %v", err)
	}
}

// TestGaussianStream compares the samples of each step with draws of the data package.
func TestGaussianStream(t *testing.T) {
	s := gaussianSettings()
	stream, err := openGaussian(nil, s).(Simulated).draw(4)
	demand.NoError(t, err)
	train := streams.Gaussian{N: s.N, Flip: 50, Turn: 50, Mu0: .5, Drift: .1}
	test := train
	test.N = s.TestN
	pool := tensors.MustCopyFlatData[float32](stream.Pool)
	if len(pool) != s.Steps*(s.N+s.TestN) || stream.Classes != 2 {
		t.Fatalf("%d rows, %d classes", len(pool), stream.Classes)
	}
	used := map[int32]string{}
	check := func(part string, at int, got Samples, c streams.Gaussian) {
		x, y := c.Draw(4, part, at)
		if !slices.Equal(got.Label, y) {
			t.Errorf("%s labels of step %d differ from the draw", part, at)
		}
		for i, row := range got.Row {
			if pool[row] != x[i] || stream.X[row] != x[i] {
				t.Fatalf("%s sample %d of step %d is %v, drawn was %v", part, i, at, pool[row], x[i])
			}
			if used[row] != "" {
				t.Fatalf("row %d is of %s and of %s", row, used[row], part)
			}
			used[row] = fmt.Sprint(part, at)
		}
	}
	for at := range s.Steps {
		check("train", at, stream.Train(at), train)
		check("test", at+1, stream.Test(at+1), test)
	}
	all := stream.Upto(1, 3)
	if all.Len() != 3*s.N || all.Row[s.N] != stream.Train(2).Row[0] || all.Time[0] != 1 || all.Time[3*s.N-1] != 3 {
		t.Errorf("steps 1 to 3 have %d samples with the times %v", all.Len(), all.Time)
	}
	for i, row := range stream.Train(1).Row {
		label := stream.Train(1).Label[i]
		if got, want := stream.LogRatio(row, label, 4, 1), train.LogRatio(float64(pool[row]), label, 4, 1); got != want {
			t.Errorf("log ratio %v, want %v", got, want)
		}
	}
}
