package supervised

import (
	"context"
	"fmt"
	"slices"

	"tvps/data/random"
	"tvps/gomlx_models/mmd"
	"tvps/replicate/experiment"
	"tvps/replicate/runs"
)

// mmdInputs are what images are compared by.
var mmdInputs = []string{"features", "pixels"}

// prepareMMD compiles the comparison of images.
func prepareMMD(run *RunContext) error {
	samples := run.Settings.N + max(run.Settings.N, run.Settings.MMDPast)
	run.mmd = map[string]*mmd.Computer{}
	for _, input := range mmdInputs {
		dim := len(run.Stream.Input(0, input))
		computer, err := experiment.Memoize(&run.Engine.memo, fmt.Sprint(samples, dim), func() (*mmd.Computer, error) {
			return mmd.New(run.Engine.Backend, samples, dim)
		})
		if err != nil {
			return err
		}
		run.mmd[input] = computer
	}
	return nil
}

// discrepancies reports the squared maximum mean discrepancy (unbiased) between the samples of step t and those of
// all earlier steps, without weights or with those of the learner. It compares the trunk's pooled features and the
// pixels, under a Gaussian kernel of the median distance ("mmd-features-median", "mmd-pixels-median") and of width 1
// ("mmd-features-width-1", "mmd-pixels-width-1"). Without weights it also tests step t against step t - 1, as
// Assumption 1 suggests: the p-value of the permutation test on features under the median distance ("p-previous").
func discrepancies(run *RunContext) runs.StepFunc {
	return func(ctx context.Context, t int) ([]runs.Row, error) {
		if t == 0 { // there is no past
			return nil, nil
		}
		now := run.compared()(t).Row
		past, weights, rows, err := run.sampledPast(ctx, t)
		if err != nil {
			return nil, err
		}
		for _, input := range mmdInputs {
			more, err := run.discrepancy(ctx, t, input, now, past, weights)
			if err != nil {
				return nil, err
			}
			rows = append(rows, more...)
		}
		if run.Learner.weighs() {
			return rows, nil
		}
		p, err := run.testAgainst(ctx, now, run.compared()(t-1).Row, t)
		if err != nil {
			return nil, err
		}
		return append(rows, runs.Row{T: t, Metric: "p-previous", Value: p}), nil
	}
}

// discrepancy compares two groups of rows by one input under both kernels.
func (run *RunContext) discrepancy(ctx context.Context, t int, input string, now, past []int32,
	weights []float64) ([]runs.Row, error) {
	d, median, err := run.distances(ctx, input, now, past)
	if err != nil {
		return nil, err
	}
	var rows []runs.Row
	for _, kernel := range []struct {
		suffix string
		width  float64
	}{{"-median", median}, {"-width-1", 1}} {
		k, err := d.Kernel(kernel.width)
		if err != nil {
			return nil, err
		}
		value, err := k.MMD2(nil, weights)
		if err != nil {
			return nil, err
		}
		rows = append(rows, runs.Row{T: t, Metric: "mmd-" + input + kernel.suffix, Value: value})
	}
	return rows, nil
}

// compared returns where the compared samples of a step come from: g is fitted on those of Train.
func (run *RunContext) compared() func(t int) Samples {
	if run.Settings.MMDSamples == heldOut {
		return run.Stream.Fresh
	}
	return run.Stream.Train
}

// sampledPast draws samples of the steps before t, the same for every learner, with the weights that the learner
// gives them and what these report; nil if it gives none.
func (run *RunContext) sampledPast(ctx context.Context, t int) (past []int32, weights []float64, rows []runs.Row,
	err error) {
	data := gathered(run.compared(), 0, t)
	earlier := slices.Index(data.Time, int32(t)) // number of samples of earlier steps
	chosen := random.New(run.Seed, "mmd-past", t).Perm(earlier)
	chosen = chosen[:min(run.Settings.MMDPast, earlier)]
	if run.Learner.weighs() {
		omega, err := run.Learner.Phases[0].Weigh(ctx, run, data, t)
		if err != nil {
			return nil, nil, nil, err
		}
		rows = omega.Rows
		all := run.Settings.Clip.Weights(omega.Log)
		for _, i := range chosen {
			weights = append(weights, all[i])
		}
	}
	for _, i := range chosen {
		past = append(past, data.Row[i])
	}
	return past, weights, rows, nil
}

// distances measures every pair of the two groups of rows, and the median distance.
func (run *RunContext) distances(ctx context.Context, input string, x, y []int32) (*mmd.Distances, float64, error) {
	values := func(rows []int32) (out []float32) {
		for _, row := range rows {
			out = append(out, run.Stream.Input(row, input)...)
		}
		return out
	}
	d, err := run.mmd[input].Distances(ctx, values(x), values(y))
	if err != nil {
		return nil, 0, err
	}
	median, err := d.MedianWidth()
	if err != nil {
		return nil, 0, err
	}
	return d, median, nil
}

// testAgainst returns the p-value of the permutation test between two steps.
func (run *RunContext) testAgainst(ctx context.Context, now, earlier []int32, t int) (float64, error) {
	d, width, err := run.distances(ctx, "features", now, earlier)
	if err != nil {
		return 0, err
	}
	kernel, err := d.Kernel(width)
	if err != nil {
		return 0, err
	}
	return kernel.PermutationTest(ctx, run.Settings.Permutations, random.Seed(run.Seed, "permutations", t))
}
