package continual

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tvps/data/random"
	"tvps/gomlx_models/mmd"
	"tvps/gomlx_models/propensity"
	"tvps/replicate/runs"
)

// mmdInputs are what images are compared by.
var mmdInputs = []string{"features", "pixels"}

// discrepancies reports the squared maximum mean discrepancy (unbiased) between the
// samples of step t and those of all earlier steps, as they are or weighted. It compares
// the trunk's pooled features and the pixels, under a Gaussian kernel of the median
// distance ("mmd-features-median", "mmd-pixels-median") and of width 1 ("mmd-features-width-1",
// "mmd-pixels-width-1"). Without weights it also tests step t against step t - 1: the p-value
// of the permutation test on features under the median distance ("p-previous"), as
// Assumption 1 suggests.
func discrepancies(b *bench, l learner) runs.StepFunc {
	return func(ctx context.Context, t int) ([]runs.Row, error) {
		now := b.stream.Train(t).Row
		past, weights, err := b.sampledPast(ctx, l, t)
		if err != nil {
			return nil, err
		}
		var rows []runs.Row
		for _, input := range mmdInputs {
			d, median, err := b.distances(ctx, input, now, past)
			if err != nil {
				return nil, err
			}
			for suffix, width := range map[string]float64{"-median": median, "-width-1": 1} {
				kernel, err := d.Kernel(width)
				if err != nil {
					return nil, err
				}
				value, err := kernel.MMD2(nil, weights)
				if err != nil {
					return nil, err
				}
				rows = append(rows, runs.Row{T: t, Metric: "mmd-" + input + suffix, Value: value})
			}
		}
		slices.SortFunc(rows, func(a, b runs.Row) int { return strings.Compare(a.Metric, b.Metric) })
		if len(l.phases) > 0 {
			return rows, nil
		}
		p, err := b.testAgainst(ctx, now, b.stream.Train(t-1).Row, t)
		return append(rows, runs.Row{T: t, Metric: "p-previous", Value: p}), err
	}
}

// sampledPast draws samples of the steps before t, the same for every learner, with the
// weights that the learner gives them; nil if it gives none.
func (b *bench) sampledPast(ctx context.Context, l learner, t int) (rows []int32, weights []float64, err error) {
	data := b.stream.Upto(upto(t))
	before := slices.Index(data.Time, int32(t)) // how many are of earlier steps
	chosen := random.New(b.seed, "mmd-past", t).Perm(before)
	chosen = chosen[:min(b.settings.MMDPast, before)]
	if len(l.phases) > 0 {
		logs, err := l.phases[0].weigh(ctx, b, data, t)
		if err != nil {
			return nil, nil, err
		}
		all := propensity.ClipPolicy(b.settings.Clip).Weights(logs)
		for _, i := range chosen {
			weights = append(weights, all[i])
		}
	}
	for _, i := range chosen {
		rows = append(rows, data.Row[i])
	}
	return rows, weights, nil
}

// distances measures every pair of the two groups of rows, and the median distance.
func (b *bench) distances(ctx context.Context, input string, x, y []int32) (*mmd.Distances, float64, error) {
	values := func(rows []int32) (out []float32) {
		for _, row := range rows {
			out = append(out, b.stream.Input(row, input)...)
		}
		return out
	}
	d, err := b.mmd[input].Distances(ctx, values(x), values(y))
	if err != nil {
		return nil, 0, err
	}
	median, err := d.MedianWidth()
	return d, median, err
}

// testAgainst is the p-value of the permutation test between two steps.
func (b *bench) testAgainst(ctx context.Context, now, before []int32, t int) (float64, error) {
	d, width, err := b.distances(ctx, "features", now, before)
	if err != nil {
		return 0, err
	}
	kernel, err := d.Kernel(width)
	if err != nil {
		return 0, err
	}
	return kernel.PermutationTest(ctx, b.settings.Permutations, random.Seed(b.seed, "permutations", t))
}

// compare prepares the comparison of images.
func (b *bench) compare(engine *engine) error {
	samples := b.settings.N + max(b.settings.N, b.settings.MMDPast)
	b.mmd = map[string]*mmd.Computer{}
	for _, input := range mmdInputs {
		dim := len(b.stream.Input(0, input))
		computer, err := shared(&engine.mu, &engine.mmds, fmt.Sprint(samples, dim), func() (*mmd.Computer, error) { return mmd.New(engine.Backend, samples, dim) })
		if err != nil {
			return err
		}
		b.mmd[input] = computer
	}
	return nil
}
