// Package propensity estimates the time-varying propensity score of Fakoor, Mueller,
// Lipton, Chaudhari and Smola, "Time-Varying Propensity Score to Bridge the Gap
// between the Past and Present" (ICLR 2024).
//
// Data drifts: a sample x_i seen at time t_i was drawn from p_{t_i}. To learn for the
// present T from all of the past, weight each past sample by
//
//	omega(x, T, t) = p_T(x) / p_t(x) = exp(g(x,T) - g(x,t))        (Eq. 9)
//
// where g is fitted by logistic regression to distinguish a sample's own time from another
// one (Algorithms 1 and 2). Fit and Fitted.Weights do that for data in a slice:
//
//	score, err := propensity.Fit(ctx, backend, data, propensity.DefaultConfig(), seed)
//	weights, err := score.Weights(ctx, T)
//
// An Estimator does it for a stream: it is compiled once for every T. Config.G, Loss and
// LogOmega are the same g for graphs of the caller's own (algorithm2.go). README.md says
// which settings to use when.
//
// For vectors of a hundred dimensions or more set Config.Join to JoinEven; otherwise g may
// memorise single samples before it learns from the label.
//
// What g converges to: with Method 1 log omega is exactly log p_T(x)/p_t(x). Method 2 draws its
// negatives from the other times only; its optimum is log p_t(x) - log mean_{s != t} p_s(x).
// With many times that is the deviation from the marginal, as in the paper. With few times
// omega is too sharp (squared if there are two).
package propensity

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"tvps/gomlx_models/net"

	"github.com/gomlx/compute"
)

// Data is a list of samples, in any order.
type Data struct {
	X     []float32 // [n * Dim], one sample after another, in any unit
	Dim   int       // values per sample; for Conv5 side * side * 3, as [row, column, channel]
	Label []int32   // [n], in 0..Config.Classes-1; nil if g sees none
	Time  []float64 // [n], when each sample was seen, in any unit
}

// Fitted is a score with the data that it was fitted on.
type Fitted struct {
	*Score
}

// Fit fits g to the data. Errors, never panics: empty data, lengths that do not match, NaN or
// infinite values, all samples from one time, labels out of range, impossible settings, a
// cancelled ctx, a loss that is not finite, and those of the backend. Close the result when it
// is no longer needed.
func Fit(ctx context.Context, backend compute.Backend, d Data, cfg Config, seed int64) (*Fitted, error) {
	if d.Dim < 1 {
		return nil, fmt.Errorf("propensity: samples of %d values; Dim must be at least 1", d.Dim)
	}
	if err := d.checkLabels(cfg); err != nil {
		return nil, err
	}
	pool, err := NewPool(d.X, cfg.Columns, d.dims(cfg)...)
	if err != nil {
		return nil, err
	}
	score, err := d.fit(ctx, backend, pool, cfg, seed)
	if err != nil {
		net.Free(pool.X)
		return nil, err
	}
	return &Fitted{score}, nil
}

// fit fits g to the data, which are the rows of the pool.
func (d Data) fit(ctx context.Context, backend compute.Backend, pool *Pool, cfg Config, seed int64) (*Score, error) {
	if n := len(d.X) / d.Dim; len(d.Time) != n {
		return nil, fmt.Errorf("propensity: %d samples but %d times", n, len(d.Time))
	}
	times, index, err := unique(d.Time)
	if err != nil {
		return nil, err
	}
	e, err := NewEstimator(backend, pool, len(times), cfg)
	if err != nil {
		return nil, err
	}
	score, err := e.Fit(ctx, allRows(d.Label, index), times, seed)
	if err != nil {
		e.Close()
	}
	return score, err
}

// checkLabels returns an error for labels that g would not see.
func (d Data) checkLabels(cfg Config) error {
	if d.Label != nil && cfg.Classes == 0 {
		return fmt.Errorf("propensity: %d labels of 0 classes; set Classes, or give no labels", len(d.Label))
	}
	return nil
}

// allRows are the samples whose rows follow each other.
func allRows(label, time []int32) Samples {
	out := Samples{Row: make([]int32, len(time)), Label: label, Time: time}
	for i := range out.Row {
		out.Row[i] = int32(i)
	}
	return out
}

// dims is the shape of a sample: a square RGB image for networks of images, otherwise a vector.
func (d Data) dims(cfg Config) []int {
	if side := int(math.Sqrt(float64(d.Dim / 3))); cfg.Network.spec().images && side*side*3 == d.Dim {
		return []int{side, side, 3}
	}
	return []int{d.Dim}
}

// unique returns the distinct times in increasing order, and each sample's index in them.
func unique(time []float64) (times []float64, index []int32, err error) {
	for i, t := range time {
		if math.IsNaN(t) || math.IsInf(t, 0) {
			return nil, nil, fmt.Errorf("propensity: the time of sample %d is %v", i, t)
		}
	}
	times = slices.Compact(slices.Sorted(slices.Values(time)))
	index = make([]int32, len(time))
	for i, t := range time {
		k, _ := slices.BinarySearch(times, t)
		index[i] = int32(k)
	}
	return times, index, nil
}

// LogOmega returns log omega(x_i, T, t_i) of every sample of the data, in its order.
func (f *Fitted) LogOmega(ctx context.Context, T float64) ([]float64, error) {
	return f.Score.LogOmega(ctx, f.samples, T)
}

// LogOmegaOf is LogOmega for other samples, such as new ones: of the same Dim, each at one of the fitted times.
func (f *Fitted) LogOmegaOf(ctx context.Context, d Data, T float64) ([]float64, error) {
	time := make([]int32, len(d.Time))
	if size := len(f.e.pool.Mean); d.Dim != size || len(d.X) != len(d.Time)*size {
		return nil, fmt.Errorf("propensity: %d values, in samples of %d, at %d times; g was fitted on samples of %d", len(d.X),
			d.Dim, len(d.Time), size)
	}
	if err := d.checkLabels(f.e.cfg); err != nil {
		return nil, err
	}
	if len(d.Time) == 0 {
		_, err := f.index(T)
		return []float64{}, err
	}
	for i, t := range d.Time {
		at, fitted := slices.BinarySearch(f.times, t)
		if !fitted {
			return nil, fmt.Errorf("propensity: the time of sample %d, %v, is not one of the fitted times", i, t)
		}
		time[i] = int32(at)
	}
	if err := f.e.pool.check(); err != nil {
		return nil, err
	}
	// Rows of zeros up to a power of two: GoMLX compiles a program for each number of rows.
	padded := make([]float32, d.Dim<<bits.Len(uint(len(d.Time)-1)))
	copy(padded, d.X)
	x, err := f.e.pool.Rows(padded)
	if err != nil {
		return nil, err
	}
	defer net.Free(x)
	return f.logOmega(ctx, x, allRows(d.Label, time), T)
}

// Weights returns omega(x_i, T, t_i) of every sample under the Clip of the settings. To learn
// for time T, multiply each sample's loss by its weight.
func (f *Fitted) Weights(ctx context.Context, T float64) ([]float64, error) {
	logs, err := f.LogOmega(ctx, T)
	if err != nil {
		return nil, err
	}
	return f.e.cfg.Clip.Weights(logs), nil
}

// Close frees the compiled programs and the samples.
func (f *Fitted) Close() {
	f.e.Close()
	net.Free(f.e.pool.X)
}
