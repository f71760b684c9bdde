package supervised

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"tvps/ci/demand"
	"tvps/data/random"
	"tvps/data/streams"
	"tvps/gomlx_models/propensity"
)

// TestPreviousStart: with g-start=previous log omega is that of a fit at t which starts where a fit from scratch on
// the samples up to t-1 ended. The first step has no earlier fit. The result does not depend on the steps computed
// before.
func TestPreviousStart(t *testing.T) {
	const at = 4
	s := gaussianSettings()
	scratch := gaussianRun(t, "", s, "ours", 0)
	s.GStart = "previous"
	b := gaussianRun(t, "", s, "ours", 0)
	logs := func(b *RunContext, t int) string {
		out, err := timeVarying(context.Background(), b, b.Stream.Upto(0, t), t)
		return fmt.Sprint(out.Log, err)
	}
	fit := func(start *propensity.Score, t int) (*propensity.Score, propensity.Samples, error) {
		data := b.Stream.Upto(0, t)
		samples := propensity.Samples{Row: data.Row, Label: data.Label, Time: data.Time}
		times := make([]float64, t+1)
		for i := range times {
			times[i] = float64(i)
		}
		score, err := b.estimator.FitFrom(context.Background(), start, samples, times, random.Seed(0, "g", t))
		return score, samples, err
	}
	before, _, err := fit(nil, at-1)
	demand.NoError(t, err)
	score, samples, err := fit(before, at)
	demand.NoError(t, err)
	byHand, err := score.LogOmega(context.Background(), samples, at)
	first := logs(b, at)
	if want := fmt.Sprint(byHand, err); first != want {
		t.Error("log omega is not that of a fit which starts where the earlier fit ended")
	}
	if first == logs(scratch, at) {
		t.Error("the start of g changes nothing")
	}
	if logs(b, 1) != logs(scratch, 1) {
		t.Error("at step 1, where no g can be fitted before, the start is not from scratch")
	}
	for step := 1; step < at; step++ {
		logs(b, step)
	}
	if logs(b, at) != first {
		t.Error("log omega depends on the steps computed before")
	}
}

// TestPreviousStartOfStandard: with a window of 2 the standard score can first be fitted at step 2, and from step 3
// on there is an earlier fit.
func TestPreviousStartOfStandard(t *testing.T) {
	s := gaussianSettings()
	s.Window = 2
	scratch := gaussianRun(t, "", s, "standard", 0)
	s.GStart = "previous"
	b := gaussianRun(t, "", s, "standard", 0)
	for step, same := range map[int]bool{1: true, 2: true, 3: false} {
		data := b.Stream.Upto(0, step)
		x, errX := standard(context.Background(), b, data, step)
		y, errY := standard(context.Background(), scratch, data, step)
		if errX != nil || errY != nil || slices.Equal(x.Log, y.Log) != same {
			t.Errorf("step %d: log beta is the same from either start: %v, want %v (%v, %v)", step, !same, same, errX, errY)
		}
		if step >= 2 && !slices.ContainsFunc(x.Log, func(v float64) bool { return math.Abs(v) > 0 }) {
			t.Errorf("step %d: no weight was learned", step)
		}
	}
}

// TestExactMixture: over all samples of the past the exact mixture weights have the mean 1, and the labels that they
// weigh are those of the present. A sample that the present cannot have weighs nothing.
func TestExactMixture(t *testing.T) {
	shift := streams.CIFAR10b
	stream := &Stream{LogRatio: func(_, y int32, T, s int) float64 { return shift.LogRatio(int(y), T, s) }}
	const at = 20
	var data Samples
	for s := range at + 1 {
		for y := range shift.Classes {
			for range int(math.Round(shift.Probability(y, s) * 1000)) {
				data.Row, data.Label, data.Time = append(data.Row, 0), append(data.Label, int32(y)), append(data.Time, int32(s))
			}
		}
	}
	got, err := exactMixture(context.Background(), &RunContext{Stream: stream}, data, at)
	demand.NoError(t, err)
	sum, labels := 0.0, make([]float64, shift.Classes)
	for i, v := range got.Log {
		sum += math.Exp(v)
		labels[data.Label[i]] += math.Exp(v) / float64(data.Len())
	}
	if mean := sum / float64(data.Len()); math.Abs(mean-1) > 1e-3 {
		t.Errorf("the mean weight is %v", mean)
	}
	for y, got := range labels {
		if want := shift.Probability(y, at); math.Abs(got-want) > 1e-3 {
			t.Errorf("label %d has the share %v, want %v", y, got, want)
		}
	}
	never := &Stream{LogRatio: func(_, _ int32, T, _ int) float64 { return math.Inf(1 - 2*T) }} // step 0 alone has it
	one := Samples{Row: []int32{0}, Label: []int32{0}, Time: []int32{0}}
	if got, err = exactMixture(context.Background(), &RunContext{Stream: never}, one, 1); err != nil ||
		!math.IsInf(got.Log[0], -1) {
		t.Errorf("a sample that the present cannot have has log omega %v, %v", got.Log, err)
	}
}
