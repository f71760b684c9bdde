package supervised

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"tvps/ci/demand"
	"tvps/data/streams"
	"tvps/replicate/experiment"

	"github.com/gomlx/compute/dtypes/float16"
	"github.com/gomlx/gomlx/core/tensors"
)

// fixedSource is a source of one stream.
type fixedSource struct{ stream *Stream }

func (fixedSource) About() experiment.Source                                  { return experiment.Source{} }
func (fixedSource) Identity(int64) (map[string]string, error)                 { return nil, nil }
func (f fixedSource) Stream(context.Context, *Engine, int64) (*Stream, error) { return f.stream, nil }

// runOn prepares a run on a stream that a test has made.
func runOn(t *testing.T, engine *Engine, s Settings, series string, stream *Stream) *RunContext {
	t.Helper()
	demand.NoError(t, s.Validate())
	x, err := s.config(series, "")
	demand.NoError(t, err)
	x.source = fixedSource{stream}
	run, err := x.newRunContext(t.Context(), engine, 0)
	demand.NoError(t, err)
	return run
}

// streamOf returns the stream of a scenario in miniature, with every row of its samples for which seen is false
// replaced: by NaN, or another colour in images. held does the same for validation samples that have rows of their own.
type streamOf func(t *testing.T, s Settings, seen, held func(row int32) bool) *Stream

// poisoned returns x, [rows * dim], with NaN in the rows that are not seen.
func poisoned(x []float32, dim int, seen func(row int32) bool) []float32 {
	x = slices.Clone(x)
	for i := range x {
		if !seen(int32(i / dim)) {
			x[i] = float32(math.NaN())
		}
	}
	return x
}

// simulatedStream is that of the Gaussian.
func simulatedStream(t *testing.T, s Settings, seen, held func(row int32) bool) *Stream {
	src := openGaussian(nil, s).(Simulated)
	draw := src.Draw
	src.Draw = func(seed int64, part string, t, n int) ([]float32, []int32) {
		x, labels := draw(seed, part, t, n)
		first, known := map[string]int{"train": t * s.N, "test": s.Steps*s.N + (t-1)*s.TestN, "validation": t * n}[part], seen
		if part == "validation" {
			known = held
		}
		return poisoned(x, 1, func(row int32) bool { return known(int32(first) + row) }), labels
	}
	stream, err := src.draw(0)
	demand.NoError(t, err)
	return stream
}

// shiftedStream is that of a label shift over images.
func shiftedStream(t *testing.T, s Settings, seen, _ func(row int32) bool) *Stream {
	im := fakeImages(t, 400, 60, 8*s.Width)
	features := tensors.MustCopyFlatData[float16.Float16](im.pool)
	perRow := len(features) / len(im.labels)
	for i := range features {
		if !seen(int32(i / perRow)) {
			features[i] = float16.NaN()
		}
	}
	im.pool = tensors.FromFlatDataAndDimensions(features, len(im.labels), perRow)
	im.pooled = poisoned(im.pooled, im.channels, seen)
	for i := range im.data.Train.Pixels {
		if perImage := len(im.data.Train.Pixels) / im.data.Train.Len(); !seen(int32(i / perImage)) {
			im.data.Train.Pixels[i] ^= 255
		}
	}
	stream, err := im.stream(s, 0)
	demand.NoError(t, err)
	return stream
}

// vectorStream is that of CLEAR or its stand-in.
func vectorStream(t *testing.T, s Settings, seen, _ func(row int32) bool) *Stream {
	im := fakeImages(t, 0, 400, 8)
	im.pooled = poisoned(im.pooled, im.channels, seen)
	v := vectors{x: im.pooled, dim: im.channels, labels: im.labels, split: im.splitClasses}
	stream, err := v.stream(new(Engine), s, 0)
	demand.NoError(t, err)
	return stream
}

// TestTheFutureIsNotUsed: in every scenario, every sample that a learner must not see at t = 2 can be replaced by NaN,
// and validation samples of later steps, too: trained parameters and the held-out loss of g keep every bit.
func TestTheFutureIsNotUsed(t *testing.T) {
	const at = 2
	onVectors := []string{"everything", "recent", "finetune", "ours", "exact", "standard", "metaweightnet"}
	onImages, few := []string{"everything", "recent", "finetune", "ours", "standard"}, []string{"everything", "ours"}
	pixels := func(s *Settings) { s.GInput = "pixels" }
	type scenario struct {
		settings Settings
		stream   streamOf
		learners []string
		change   func(s *Settings) // another case under changed settings, of Ours; nil if there is none
	}
	cases := map[string]scenario{
		"gaussian": {gaussianSettings(), simulatedStream, onVectors, func(s *Settings) { s.GStart = "previous" }},
		"periodic": {gaussianSettings(), simulatedStream, onVectors, nil},
		"cifar10a": {imageSettings(), shiftedStream, few, nil},
		"cifar10b": {imageSettings(), shiftedStream, onImages, pixels},
		"cifar10c": {imageSettings(), shiftedStream, few, nil},
		"noshift":  {imageSettings(), shiftedStream, few, nil},
		"clear":    {standInSettings(), vectorStream, onVectors, func(s *Settings) { s.GStart = "previous" }},
	}
	engine := &Engine{Backend: open(t, "go").Backend} // shared, so that each program is compiled once
	for _, name := range Scenarios() {
		c, covered := cases[name]
		if !covered {
			t.Errorf("scenario %s has no case", name)
			continue
		}
		t.Run(name, func(t *testing.T) {
			s := c.settings
			s.Scenario = name
			if name == "periodic" {
				s.Period, s.Amplitude = 5, 2
			}
			for _, series := range c.learners {
				futureIsNotUsed(t, engine, s, series, c.stream, at)
			}
			if c.change != nil {
				c.change(&s)
				futureIsNotUsed(t, engine, s, "ours", c.stream, at)
			}
		})
	}
}

// futureIsNotUsed compares a learner's fit at a step with that on a poisoned stream.
func futureIsNotUsed(t *testing.T, engine *Engine, s Settings, series string, of streamOf, at int) {
	t.Helper()
	all := func(int32) bool { return true }
	clean := of(t, s, all, all)
	first := 0
	if series == "recent" {
		first = at
	}
	seen, held := map[int32]bool{}, map[int32]bool{}
	for _, row := range clean.Upto(first, at).Row {
		seen[row] = true
	}
	for _, row := range gathered(clean.Validation, 0, at).Row {
		held[row] = true
		if clean.ValidationX == clean.GPool.X {
			seen[row] = true
		}
	}
	if len(seen) >= clean.GPool.X.Shape().Dim(0) {
		t.Fatal("there is no sample to replace")
	}
	other := of(t, s, func(row int32) bool { return seen[row] }, func(row int32) bool { return held[row] })
	want, report, err := runOn(t, engine, s, series, clean).fit(t.Context(), at)
	demand.NoError(t, err)
	got, rows, err := runOn(t, engine, s, series, other).fit(t.Context(), at)
	if err != nil {
		t.Fatalf("%s: %v", series, err)
	}
	if err := sameBits(got, want); err != nil {
		t.Errorf("%s learns from samples that it must not see: %v", series, err)
	}
	demand.List(t, rows, report, "reports of %s", series)
	if series == "ours" && !(metric(t, rows, measureLoss) > 0) {
		t.Errorf("the held-out loss is not reported: %v", rows)
	}
}

// TestPartsAreDisjoint: under a label shift no row is in two of training, validation and test.
func TestPartsAreDisjoint(t *testing.T) {
	all := func(int32) bool { return true }
	for _, c := range []struct {
		settings Settings
		stream   streamOf
	}{{imageSettings(), shiftedStream}, {standInSettings(), vectorStream}} {
		for _, evaluate := range choices["evaluate"] {
			c.settings.Evaluate = evaluate
			stream := c.stream(t, c.settings, all, all)
			train, test := rowsOf(stream, c.settings.Steps)
			for row := range train {
				if test[row] {
					t.Fatalf("%s: row %d is trained on and tested on", c.settings.Scenario, row)
				}
			}
			held := gathered(stream.Validation, 0, c.settings.Steps-1)
			demand.Equal(t, held.Len(), validationN*c.settings.Steps, "%s: validation samples", c.settings.Scenario)
			for _, row := range held.Row {
				if train[row] || test[row] {
					t.Fatalf("%s: row %d is validated on, too", c.settings.Scenario, row)
				}
			}
		}
	}
}

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
		{"age-2", 3, []int{0, 1, 2, 3}}, {"last-2", 3, []int{2, 3}}, {"last-5", 3, []int{0, 1, 2, 3}},
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
	demand.NoError(t, sameBits(trained(t, b, named("finetune"), at), want))
	b.Settings.FinetuneEpochs = 0
	demand.NoError(t, sameBits(trained(t, b, named("finetune"), at), start)) // without the second phase
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
		demand.List(t, got.Label, y, "%s labels of step %d", part, at)
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
