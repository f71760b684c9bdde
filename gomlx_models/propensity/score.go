package propensity

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"tvps/data/random"
	"tvps/gomlx_models/net"

	"github.com/gomlx/gomlx/core/tensors"
	"gonum.org/v1/gonum/floats"
)

// Score is a fitted g.
type Score struct {
	e        *Estimator
	samples  Samples
	times    []float64
	logCount []float64 // log of the number of fitted samples at each time
	values   net.Values
	Losses   []float64 // mean logistic loss of each chunk of updates; log 2 means that g learned nothing
}

// last is the last fitted time.
func (s *Score) last() float64 { return s.times[len(s.times)-1] }

// table holds the codes of the fitted times, and in its last row that of t.
func (s *Score) table(t float64) *tensors.Tensor {
	codes := encode(s.e.cfg, append(slices.Clone(s.times), t), s.times[0], s.last())
	last := len(s.times)
	width := len(codes[last])
	flat := make([]float32, (s.e.times+1)*width)
	copy(flat, slices.Concat(codes[:last]...))
	copy(flat[s.e.times*width:], codes[last])
	return tensors.FromFlatDataAndDimensions(flat, s.e.times+1, width)
}

// index returns the row of time t in the table. Errors: a time outside the fitted range, and
// one between fitted times of a learned encoding.
func (s *Score) index(t float64) (int32, error) {
	if i, fitted := slices.BinarySearch(s.times, t); fitted {
		return int32(i), nil
	}
	if math.IsNaN(t) || t < s.times[0] || t > s.last() {
		return 0, fmt.Errorf("propensity: time %v is outside the fitted range %v to %v; fit again with samples up to it",
			t, s.times[0], s.last())
	}
	if c := s.e.cfg.Time; c.spec().learned != nil {
		return 0, fmt.Errorf("propensity: no sample has time %v, and encoding %s has fitted times only; use one of %s",
			t, c, strings.Join(Names(ContinuousEncodings()), ", "))
	}
	return int32(s.e.times), nil
}

// LogOmega returns log omega(x_i, T, t_i) = g(x_i,T) - g(x_i,t_i) of the given samples
// (Eq. 9), limited to +-60, in their order. A sample's time is an index of the
// fitted times. T is one of the fitted times or, if the time encoding is fixed, lies between
// two of them.
//
// If the fitted times had different numbers of samples n_t, Algorithm 1 draws some times more
// often than others, and g learns the ratio of n_T p_T to n_t p_t. LogOmega subtracts
// log n_T - log n_t, so that omega is p_T / p_t.
//
// For the Standard method it returns log beta(x_i), current over past, of samples older than
// the window, and 0 within it; T must then be the last time.
//
// Errors: T outside the fitted range, or between times of a learned encoding; samples whose
// lengths, rows, times or labels are impossible; a cancelled ctx.
func (s *Score) LogOmega(ctx context.Context, samples Samples, T float64) ([]float64, error) {
	return s.logOmega(ctx, s.e.pool.X, samples, T)
}

// logOmega is LogOmega of samples whose rows are in x.
func (s *Score) logOmega(ctx context.Context, x *tensors.Tensor, samples Samples, T float64) ([]float64, error) {
	at, in, err := s.prepare(x, samples, T)
	if err != nil {
		return nil, err
	}
	defer in.free()
	if s.e.cfg.Method == Standard {
		return s.logBeta(ctx, samples, T, in)
	}
	gT, err := s.evaluate(ctx, samples, slices.Repeat([]int32{at}, len(samples.Row)), in)
	if err != nil {
		return nil, err
	}
	gt, err := s.evaluate(ctx, samples, samples.Time, in)
	if err != nil {
		return nil, err
	}
	prior := s.prior(T)
	out := make([]float64, len(gT))
	for i := range out {
		out[i] = Bounded(float64(gT[i]) - float64(gt[i]) - (prior - s.logCount[samples.Time[i]]))
	}
	return out, nil
}

// inputs are what evaluate needs besides the samples: Estimator.data, and the values of g's parameters.
type inputs struct{ data, params []*tensors.Tensor }

// free frees all but the rows of the samples.
func (in inputs) free() { net.Free(slices.Concat(in.data[1:], in.params)...) }

// prepare returns the row of time T in the table of times, and the inputs for samples whose rows are in x.
func (s *Score) prepare(x *tensors.Tensor, samples Samples, T float64) (at int32, in inputs, err error) {
	if at, err = s.index(T); err != nil {
		return 0, in, err
	}
	if err := s.e.checkSamples(samples, x, len(s.times)); err != nil {
		return 0, in, err
	}
	return at, inputs{s.e.data(x, s.table(T)), s.values.Tensors(s.e.params)}, nil
}

// prior is log n_T; between two times it is interpolated linearly.
func (s *Score) prior(T float64) float64 {
	i, fitted := slices.BinarySearch(s.times, T)
	if fitted {
		return s.logCount[i]
	}
	u := (T - s.times[i-1]) / (s.times[i] - s.times[i-1])
	return (1-u)*s.logCount[i-1] + u*s.logCount[i]
}

// LogMixture returns log of p_T over the mixture of all fitted times at the given samples,
//
//	g(x_i,T) - log n_T - log sum_s exp(g(x_i,s)) + log sum_s n_s,
//
// limited to +-60: the balance heuristic of Veach and Guibas (1995), by which a sample's weight does not depend on the
// time at which it was drawn. It is exact for Method 1, and nearly for Method 2 with many times. T and the errors are
// those of [Score.LogOmega]. The Standard method has no such score.
func (s *Score) LogMixture(ctx context.Context, samples Samples, T float64) ([]float64, error) {
	if s.e.cfg.Method == Standard {
		return nil, fmt.Errorf("propensity: the standard score does not depend on time; use %s or %s", Method1, Method2)
	}
	at, in, err := s.prepare(s.e.pool.X, samples, T)
	if err != nil {
		return nil, err
	}
	defer in.free()
	g := func(time int32) ([]float32, error) {
		return s.evaluate(ctx, samples, slices.Repeat([]int32{time}, len(samples.Row)), in)
	}
	out, err := g(at)
	if err != nil {
		return nil, err
	}
	all := slices.Repeat([]float64{math.Inf(-1)}, len(out)) // log sum_s exp(g(x_i,s))
	for time := range int32(len(s.times)) {
		values := out
		if time != at {
			if values, err = g(time); err != nil {
				return nil, err
			}
		}
		for i, v := range values {
			high, low := max(all[i], float64(v)), min(all[i], float64(v))
			all[i] = high + math.Log1p(math.Exp(low-high))
		}
	}
	constant := floats.LogSumExp(s.logCount) - s.prior(T)
	logs := make([]float64, len(out))
	for i, v := range out {
		logs[i] = Bounded(float64(v) - all[i] + constant)
	}
	return logs, nil
}

// logBeta is LogOmega for the Standard method.
func (s *Score) logBeta(ctx context.Context, samples Samples, T float64, in inputs) ([]float64, error) {
	if T != s.last() {
		return nil, fmt.Errorf("propensity: the standard score compares with the last time %v, not with %v", s.last(), T)
	}
	values, err := s.evaluate(ctx, samples, make([]int32, len(samples.Row)), in)
	if err != nil {
		return nil, err
	}
	from := int32(len(s.times) - s.e.cfg.Window)
	out := make([]float64, len(values))
	for i, v := range values {
		if samples.Time[i] < from {
			out[i] = Bounded(float64(v))
		}
	}
	return out, nil
}

// Loss returns the mean logistic loss of Algorithm 2, line 8, on samples that g need not have been
// fitted on: each counts half with its own time and half with another one, drawn uniformly by seed.
// x holds the rows of the samples, [rows, dims...], of Pool.Rows. Times are indices of the fitted ones. A g that
// knows nothing has the loss log 2.
//
// For the Standard method the samples of the window and the older ones count half each.
//
// Errors: samples whose lengths, rows, times or labels are impossible, no samples, Standard
// without samples on both sides of the window, a cancelled ctx.
func (s *Score) Loss(ctx context.Context, x *tensors.Tensor, samples Samples, seed int64) (float64, error) {
	if len(samples.Row) == 0 {
		return 0, errors.New("propensity: there are no samples to compute a loss of")
	}
	_, in, err := s.prepare(x, samples, s.last())
	if err != nil {
		return 0, err
	}
	defer in.free()
	own, err := s.evaluate(ctx, samples, samples.Time, in)
	if err != nil {
		return 0, err
	}
	if s.e.cfg.Method == Standard {
		return s.standardLoss(samples, own)
	}
	rng, times := random.New(seed, "propensity", "loss"), make([]int32, len(samples.Row))
	for i, t := range samples.Time {
		times[i] = otherTime(rng, t, len(s.times))
	}
	other, err := s.evaluate(ctx, samples, times, in)
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for i := range own {
		sum += s.e.cfg.Method.Loss(float64(own[i]), float64(other[i]), 1)
	}
	return sum / float64(len(own)), nil
}

// standardLoss is Loss for the Standard method, of the logits of the samples.
func (s *Score) standardLoss(samples Samples, logits []float32) (float64, error) {
	current, old, err := s.e.window(samples, len(s.times))
	if err != nil {
		return 0, err
	}
	if len(current) == 0 {
		return 0, fmt.Errorf("propensity: no sample is of the last %d times", s.e.cfg.Window)
	}
	mean := func(list []int, sign float64) (sum float64) {
		for _, i := range list {
			sum += softplus(sign * float64(logits[i]))
		}
		return sum / float64(len(list))
	}
	return (mean(current, -1) + mean(old, 1)) / 2, nil
}

// evaluate returns g of every sample at the given time indices.
func (s *Score) evaluate(ctx context.Context, samples Samples, time []int32, in inputs) ([]float32, error) {
	rows := s.e.cfg.Network.spec().rows
	out := make([]float32, 0, len(samples.Row))
	for from := 0; from < len(samples.Row); from += rows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		to := min(len(samples.Row), from+rows)
		column := func(v []int32) *tensors.Tensor {
			padded := make([]int32, rows)
			if v != nil {
				copy(padded, v[from:to])
			}
			return tensors.FromFlatDataAndDimensions(padded, rows)
		}
		columns := []*tensors.Tensor{column(samples.Row), column(samples.Label), column(time)}
		part, err := net.RunValues(s.e.eval, in.data, columns, in.params)
		net.Free(columns...)
		if err != nil {
			return nil, fmt.Errorf("propensity: %w", err)
		}
		out = append(out, part[0][:to-from]...)
	}
	return out, nil
}
