package crossfit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"tvps/gomlx_models/propensity"

	"github.com/gomlx/gomlx/support/xslices"
	"gonum.org/v1/gonum/floats"
)

// WeightOptions say which weights Fitted.WeightsOf returns. The zero value of every field but Kind is
// a default.
type WeightOptions struct {
	Kind Kind
	Clip propensity.ClipPolicy // limit of omega; "" means ClipOne
	// HalfLife, if positive, multiplies each weight by 2^(-|T - t| / HalfLife), in units of time:
	// exponential forgetting.
	HalfLife float64
	AllFolds bool // the networks of all folds weight every row, also a fitted one
}

func (w WeightOptions) check() error {
	err := cmp.Or(propensity.OneOf("kind", w.Kind, Kinds()),
		propensity.OneOf("clip", cmp.Or(w.Clip, propensity.ClipOne), propensity.Clips()))
	switch {
	case err != nil:
		return fmt.Errorf("crossfit: %w", err)
	case !(w.HalfLife >= 0):
		return fmt.Errorf("crossfit: the half-life is %v; it must be positive, or 0 for none", w.HalfLife)
	}
	return nil
}

// Weights are those of a table's rows, in its order.
type Weights struct {
	Weight []float64 // [n], mean 1; for the sample_weight of a trainer
	// LogOmega is log omega(x_i, T, t_i) of the kind (Eq. 9), the mean over the
	// ensemble, within +-60, before clip and half-life.
	LogOmega []float64
	Spread   []float64 // standard deviation of log omega over the ensemble; 0 for one member
	Share    float64   // effective sample size of Weight divided by n, Kish's (sum w)^2 / (n sum w^2)
}

// WeightsOf returns the weights of rows, fitted or new ones, for time T:
//
//	weight_i = c min(omega(x_i, T, t_i), limit of Clip) 2^(-|T - t_i| / HalfLife),
//
// with c such that their mean is 1. The log omega of a row, or of one that equals it, is the mean over the ensembles
// of the folds that held it, or an equal one, out; that of a new row is the mean over all folds. Order is part of what
// rows are, so they must have one if the fitted ones have, unless AllFolds is set. T need not be a time
// of the rows. After the last fitted one g does not extrapolate: a trend stays as it was then, while a phase that
// recurs, such as the day of the week, is that of T. Errors: rows with other columns than the fitted ones, or with
// times before or after all of them, a T before the first time, or infinite, a Kind that was not fitted, impossible
// options, and a cancelled ctx.
func (o *Fitted) WeightsOf(ctx context.Context, d Table, T float64, options WeightOptions) (*Weights, error) {
	if err := cmp.Or(d.check(), o.Shape.check(d), options.check()); err != nil {
		return nil, err
	}
	if !options.AllFolds && len(d.Time) > 0 && (d.Order != nil) != o.Shape.Ordered {
		return nil, errors.New("crossfit: Order is given for the fitted rows or for these, not for both, so that " +
			"no row equals a fitted one; give both or none, or set AllFolds")
	}
	for i, t := range d.Time {
		if t < o.First || t > o.Last {
			return nil, fmt.Errorf("crossfit: the time of sample %d, %v, is outside the fitted range %v to %v; "+
				"fit with rows up to it", i, t, o.First, o.Last)
		}
	}
	if !(T >= o.First) || math.IsInf(T, 0) {
		return nil, fmt.Errorf("crossfit: time %v is before the first fitted one, %v, or infinite; fit with earlier rows", T, o.First)
	}
	logs, err := o.members(ctx, d, T, options)
	if err != nil {
		return nil, err
	}
	out := &Weights{LogOmega: make([]float64, len(d.Time)), Spread: make([]float64, len(d.Time))}
	for i := range out.LogOmega {
		m, ss, list := 0.0, 0.0, logs[i]
		for _, v := range list {
			m += v / float64(len(list))
		}
		for _, v := range list {
			ss += (v - m) * (v - m)
		}
		out.LogOmega[i] = propensity.Bounded(m)
		if len(list) > 1 {
			out.Spread[i] = math.Sqrt(ss / float64(len(list)-1))
		}
	}
	out.weigh(d.Time, T, options)
	return out, nil
}

// weigh applies clip and half-life to LogOmega.
func (w *Weights) weigh(time []float64, T float64, options WeightOptions) {
	w.Weight = cmp.Or(options.Clip, propensity.ClipOne).Weights(w.LogOmega)
	if len(time) == 0 {
		return
	}
	if options.HalfLife > 0 {
		least := math.Inf(1) // the smallest distance counts 1: a short half-life cannot make all weights 0
		for _, t := range time {
			least = min(least, math.Abs(T-t))
		}
		for i, t := range time {
			w.Weight[i] *= math.Exp2((least - math.Abs(T-t)) / options.HalfLife)
		}
	}
	sum, n := 0.0, float64(len(time))
	for _, v := range w.Weight {
		sum += v
	}
	floats.Scale(n/sum, w.Weight)
	w.Share = propensity.EffectiveSampleSize(w.Weight) / n
}

// Forgetting returns weights for time T without omega: exponential forgetting with a half-life in units of time, or
// equal weights for 0. times: [n], at most T.
func Forgetting(times []float64, T, halfLife float64) *Weights {
	w := &Weights{LogOmega: make([]float64, len(times)), Spread: make([]float64, len(times))}
	w.weigh(times, T, WeightOptions{HalfLife: halfLife})
	return w
}

// members returns log omega of each row by each network that may be asked: the ensemble of the row's own fold, or of
// all folds.
func (o *Fitted) members(ctx context.Context, d Table, T float64, options WeightOptions) ([][]float64, error) {
	kind := options.Kind
	of := []Kind{kind}
	switch {
	case kind == Conditional:
		of = []Kind{Joint, Covariate}
	case o.models[Joint] == nil && o.Shape.Target == nil && o.Shape.Classes == 0:
		of = []Kind{Covariate} // without outcomes both are the same
	}
	for _, k := range of {
		if o.models[k] == nil {
			return nil, fmt.Errorf("crossfit: kind %s was not fitted; name it in Kinds (%s needs an outcome)", kind, Conditional)
		}
	}
	x, asked := o.Shape.scored(d), o.askedFolds(d, options.AllFolds)
	logs := o.modelMembers(x, asked, d, T, of[0])
	if len(of) == 2 {
		for i, minus := range o.modelMembers(x, asked, d, T, of[1]) {
			floats.Sub(logs[i], minus)
		}
	}
	return logs, ctx.Err()
}

// askedFolds are the folds whose networks are asked for each row, as bits: those that held it, or an equal one, out,
// and all for a row that was not fitted, or for every one.
func (o *Fitted) askedFolds(d Table, all bool) []uint16 {
	out := slices.Repeat([]uint16{1<<o.Config.Folds - 1}, len(d.Time))
	for i := range out {
		if held := o.folds[rowHash(d, o.Shape.Columns, i)]; held != 0 && !all {
			out[i] = held
		}
	}
	return out
}

// modelMembers is members of the networks of one kind. x: normal scores; asked: of askedFolds.
func (o *Fitted) modelMembers(x []float32, asked []uint16, d Table, T float64, kind Kind) [][]float64 {
	m := o.models[kind]
	ensemble, logs := len(m.values), make([][]float64, len(asked))
	rows := o.rowsOf(d, xslices.Iota(0, len(d.Time)), x, kind)
	codes, state := o.states(m.view, append(slices.Clone(d.Time), T)...)
	at := state[len(asked)]
	pairs, of := make([][]pair, o.Config.Folds), make([][]int, o.Config.Folds) // by fold; of: the rows of the pairs
	for i, folds := range asked {
		for k := range pairs {
			if folds>>k&1 == 1 {
				pairs[k], of[k] = append(pairs[k], rows.pair(i, state[i], at)), append(of[k], i)
			}
		}
		logs[i] = make([]float64, ensemble*bits.OnesCount16(folds))
	}
	propensity.Parallel(ensemble*len(pairs), func(n int) {
		s, k := n%ensemble, n/ensemble
		own, there := m.evaluate(m.values[s][k], rows.table, codes, pairs[k])
		for j, i := range of[k] {
			before := bits.OnesCount16(asked[i] & (1<<k - 1)) // folds
			logs[i][before*ensemble+s] = propensity.Bounded(m.scale * (float64(there[j]) - float64(own[j])))
		}
	})
	return logs
}
