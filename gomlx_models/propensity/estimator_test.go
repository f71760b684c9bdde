package propensity

import (
	"context"
	"math"
	"slices"
	"sync"
	"testing"

	"tvps/ci/demand"
	"tvps/gomlx_models/loop"
	"tvps/gomlx_models/net"

	. "github.com/gomlx/gomlx/core/graph"
)

// quick is a small g that trains fast.
func quick() Config {
	cfg := DefaultConfig()
	cfg.Hidden, cfg.Updates, cfg.Batch = 8, 60, 32
	return cfg
}

// samplesOf lists the samples of a stream at the first times.
func samplesOf(d Data, times int) (Samples, []float64) {
	all, index, _ := unique(d.Time)
	var s Samples
	for i, t := range index {
		if int(t) < times {
			s.Row, s.Time = append(s.Row, int32(i)), append(s.Time, t)
		}
	}
	return s, all[:times]
}

func newEstimator(t *testing.T, d Data, times int, cfg Config) *Estimator {
	t.Helper()
	return newEstimatorOn(t, "", d, times, cfg)
}

// newEstimatorOn is newEstimator on a backend: on "go", where nothing is compiled, if the test is not about programs.
func newEstimatorOn(t *testing.T, backend string, d Data, times int, cfg Config) *Estimator {
	t.Helper()
	pool, err := NewPool(d.X, cfg.Columns, d.dims(cfg)...)
	demand.NoError(t, err)
	e, err := NewEstimator(open(t, backend), pool, times, cfg)
	demand.NoError(t, err)
	t.Cleanup(e.Close)
	return e
}

// logsUpTo fits the samples of the first times and returns log omega at the last.
func logsUpTo(t *testing.T, e *Estimator, d Data, times int, seed int64) []float64 {
	samples, values := samplesOf(d, times)
	s, err := e.Fit(context.Background(), samples, values, seed)
	if err != nil {
		t.Error(err)
		return nil
	}
	logs, err := s.LogOmega(context.Background(), samples, values[times-1])
	if err != nil {
		t.Error(err)
	}
	return logs
}

// TestSameSeedSameBytes: whatever was fitted before or is fitted at the same time.
func TestSameSeedSameBytes(t *testing.T) {
	d := gaussian(1, linear, equal(6, 100)...)
	e := newEstimator(t, d, 6, quick())
	want := map[int][]float64{}
	for _, times := range []int{3, 4, 5, 6} {
		want[times] = logsUpTo(t, e, d, times, 0)
	}
	other := newEstimator(t, d, 6, quick())
	var wg sync.WaitGroup
	for _, times := range []int{6, 3, 5, 4} {
		wg.Go(func() {
			if got := logsUpTo(t, other, d, times, 0); !slices.Equal(got, want[times]) {
				t.Errorf("%d times: in another order and in parallel log omega differs", times)
			}
		})
	}
	wg.Wait()
	if slices.Equal(logsUpTo(t, e, d, 6, 1), want[6]) {
		t.Error("another seed gave the same log omega")
	}
}

// TestOneCompilationServesEveryT counts how often the loss is traced, and lets the evaluation
// compile only once.
func TestOneCompilationServesEveryT(t *testing.T) {
	d := gaussian(1, linear, equal(6, 100)...)
	e := newEstimator(t, d, 6, quick())
	problem, traced := e.problem(), 0
	problem.Loss = func(s *net.Scope, data, feeds []*Node) *Node {
		traced++
		return e.loss(s, data, feeds)
	}
	e.trainer.Close()
	e.trainer = loop.New(open(t, ""), problem, 25) // 60 updates: the last chunk is not full
	e.eval.SetMaxCache(1)
	for _, times := range []int{2, 3, 4, 6} {
		logsUpTo(t, e, d, times, 0)
	}
	if traced != 1 {
		t.Errorf("the loss was compiled %d times, not once", traced)
	}
}

// TestPoolScale: a constant coordinate is centred only.
func TestPoolScale(t *testing.T) {
	p, err := NewPool([]float32{1, 5, 3, 5}, ColumnsScaled, 2)
	demand.NoError(t, err)
	if !slices.Equal(p.Mean, []float32{2, 5}) || !slices.Equal(p.Scale, []float32{1, 1}) {
		t.Errorf("mean %v and scale %v, want [2 5] and [1 1]", p.Mean, p.Scale)
	}
}

// TestEvaluationInParts: more samples than one evaluation takes.
func TestEvaluationInParts(t *testing.T) {
	d := gaussian(1, linear, 100, 100)
	e := newEstimator(t, d, 2, quick())
	samples, times := samplesOf(d, 2)
	s, err := e.Fit(context.Background(), samples, times, 0)
	demand.NoError(t, err)
	few, err := s.LogOmega(context.Background(), samples, 1)
	demand.NoError(t, err)
	repeats := MLP.spec().rows/len(samples.Row) + 2
	many := Samples{Row: slices.Repeat(samples.Row, repeats), Time: slices.Repeat(samples.Time, repeats)}
	got, err := s.LogOmega(context.Background(), many, 1)
	demand.NoError(t, err)
	if !slices.Equal(got, slices.Repeat(few, repeats)) {
		t.Error("log omega depends on the position of a sample")
	}
}

// TestFC3: g learns the ratio and evaluates with the averages of its batch norms: a sample's
// log omega does not depend on the other samples.
func TestFC3(t *testing.T) {
	demand.Slow(t)
	d := gaussian(1, linear, equal(6, 500)...)
	for i := range d.X { // a wider drift: 0 to 1.5
		d.X[i] += float32(.2 * d.Time[i])
	}
	mu := func(t float64) float64 { return .3 * t }
	cfg := DefaultConfig()
	cfg.Network, cfg.Hidden, cfg.Updates = FC3, 32, 200
	e := newEstimator(t, d, 6, cfg)
	samples, times := samplesOf(d, 6)
	s, err := e.Fit(context.Background(), samples, times, 0)
	demand.NoError(t, err)
	logs, err := s.LogOmega(context.Background(), samples, 5)
	demand.NoError(t, err)
	correlation, rms := agreement(logs, exactLog(d, mu, 5))
	t.Logf("correlation %.3f, RMS error %.3f", correlation, rms)
	if correlation < .95 || rms > .5 {
		t.Errorf("correlation %.3f and RMS error %.3f with the exact log ratio", correlation, rms)
	}
	for i, p := range e.params {
		if start := p.Init.Value; !p.Trainable && math.Abs(float64(s.values[i][0])-start) < 1e-3 {
			t.Errorf("the average %s still is %v after training", p.Name, start)
		}
	}
	alone, err := s.LogOmega(context.Background(), Samples{Row: samples.Row[7:8], Time: samples.Time[7:8]}, 5)
	if err != nil || math.Abs(alone[0]-logs[7]) > 1e-5 {
		t.Errorf("alone a sample has log omega %v, among others %v (error %v)", alone, logs[7], err)
	}
}

// TestOnAnotherPool: the programs are shared; the results are those of an estimator made for
// that pool.
func TestOnAnotherPool(t *testing.T) {
	first, second := gaussian(1, linear, equal(3, 100)...), gaussian(2, linear, equal(3, 100)...)
	e := newEstimatorOn(t, "go", first, 3, quick())
	e.eval.SetMaxCache(1)
	want := logsUpTo(t, newEstimatorOn(t, "go", second, 3, quick()), second, 3, 0)
	pool, err := NewPool(second.X, DefaultConfig().Columns, 1)
	demand.NoError(t, err)
	other, err := e.On(pool)
	demand.NoError(t, err)
	logsUpTo(t, e, first, 3, 0)
	if got := logsUpTo(t, other, second, 3, 0); !slices.Equal(got, want) {
		t.Error("on another pool log omega is not that of an estimator made for it")
	}
	if pool, err = NewPool(second.X[:299], ColumnsScaled, 1); err != nil {
		t.Fatal(err)
	}
	_, err = e.On(pool)
	demand.Error(t, err, "299")
}

// TestFitFrom: without further updates g is that of the earlier fit, also of an estimator with
// other settings of the training. With further updates it differs from a fit from scratch, and
// the earlier fit does not change.
func TestFitFrom(t *testing.T) {
	d := gaussian(1, linear, equal(4, 100)...)
	trained, still := quick(), quick()
	still.Updates = 0
	e, none := newEstimatorOn(t, "go", d, 4, trained), newEstimatorOn(t, "go", d, 4, still)
	samples, times := samplesOf(d, 3)
	before, err := e.Fit(context.Background(), samples, times, 7)
	demand.NoError(t, err)
	logs := func(s *Score, err error) []float64 {
		t.Helper()
		demand.NoError(t, err)
		out, err := s.LogOmega(context.Background(), samples, times[2])
		demand.NoError(t, err)
		return out
	}
	want := logs(before, nil)
	all, more := samplesOf(d, 4)
	if got := logs(none.FitFrom(context.Background(), before, all, more, 8)); !slices.Equal(got, want) {
		t.Error("without further updates log omega is not that of the earlier fit")
	}
	warm := logs(e.FitFrom(context.Background(), before, all, more, 8))
	scratch := logs(e.Fit(context.Background(), all, more, 8))
	if slices.Equal(warm, scratch) || slices.Equal(warm, want) {
		t.Error("the start changes nothing, or the updates do not")
	}
	if again := logs(e.FitFrom(context.Background(), nil, all, more, 8)); !slices.Equal(again, scratch) {
		t.Error("FitFrom(nil) differs from Fit")
	}
	if !slices.Equal(logs(before, nil), want) {
		t.Error("the earlier fit has changed")
	}
	wide, even := quick(), quick()
	wide.Hidden, even.Join = 9, JoinEven
	for _, cfg := range []Config{wide, even} {
		_, err = newEstimatorOn(t, "go", d, 4, cfg).FitFrom(context.Background(), before, all, more, 8)
		demand.Error(t, err, "another g", "network, join, time encoding, classes and number of times")
	}
}

// TestNewSamples: whatever their number is, new samples have the log omega of equal fitted ones, and few programs are
// compiled for them. Their rows are on the device before a program uses them.
func TestNewSamples(t *testing.T) {
	d := gaussian(1, linear, equal(2, 20)...)
	cfg := quick()
	cfg.Updates = 5
	f, err := Fit(t.Context(), open(t, "go"), d, cfg, 0)
	demand.NoError(t, err)
	want, err := f.LogOmega(t.Context(), 1)
	demand.NoError(t, err)
	for n := 1; n <= len(d.Time); n++ {
		x, err := f.e.pool.Rows(d.X[:n])
		demand.NoError(t, err)
		few := Samples{Row: f.samples.Row[:n], Time: f.samples.Time[:n]}
		demand.NoError(t, f.e.checkSamples(few, x, 2))
		demand.Equal(t, x.IsOnDevice(0), true, "rows are on the device")
		_, err = f.Loss(t.Context(), x, few, 0)
		demand.NoError(t, err)
	}
	other, err := Fit(t.Context(), open(t, "go"), d, cfg, 0)
	demand.NoError(t, err)
	defer other.Close()
	other.e.eval.SetMaxCache(7) // for 1, 2, 4, ..., 64 rows
	for n := 1; n <= len(d.Time); n++ {
		got, err := other.LogOmegaOf(t.Context(), Data{X: d.X[:n], Dim: 1, Time: d.Time[:n]}, 1)
		demand.NoError(t, err)
		demand.List(t, got, want[:n], "log omega of new rows")
	}
	f.Close()
	demand.Equal(t, f.e.pool.X.Ok(), false, "the samples are kept after Close")
	_, ofFitted := f.LogOmega(t.Context(), 1)
	_, ofNew := f.LogOmegaOf(t.Context(), d, 1)
	_, again := f.e.Fit(t.Context(), f.samples, f.times, 0)
	for _, err := range []error{ofFitted, ofNew, again} {
		demand.Error(t, err, "propensity: used after Close")
	}
}
