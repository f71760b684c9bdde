package sac

import (
	"math"
	"slices"
	"testing"

	"tvps/ci/demand"
	"tvps/gomlx_models/backend"
)

// fittedFor is an agent of two seeds whose g has been fitted. Its replay, which has wrapped, holds six episodes and
// three transitions of an open one. A minibatch has as many transitions as the replay.
func fittedFor(t *testing.T, use Use, length int) (a *Agent, at [][]int) {
	a = open(t, backend.Go, tiny(tinyOmega, func(c *Config) {
		c.Capacity = 6*length + 3
		c.Batch, c.Omega.Use = c.Capacity, use
	}), 3, 4)
	fill(t, a, 8*length, length) // what is overwritten later is of episodes that are gone then
	demand.NoError(t, a.fitOmega())
	fill(t, a, 3, length)
	for _, r := range a.replay {
		var all []int
		for k := r.oldest(); k < r.Total; k++ {
			all = append(all, k)
		}
		at = append(at, all)
	}
	return a, at
}

// TestEpisodesHaveTheirMeanOmega: with the same g, all transitions of an episode weigh the mean of omega over it, in
// the open episode, too. So every age has omega's weight. Of twenty transitions every second one counts.
func TestEpisodesHaveTheirMeanOmega(t *testing.T) {
	for length, every := range map[int]int{7: 1, 20: 2} {
		each, at := fittedFor(t, UseTransition, length)
		mean, _ := fittedFor(t, UseEpisode, length)
		omega, got := weightsOf(t, each, at), weightsOf(t, mean, at)
		for i, r := range each.replay {
			n := len(at[i])
			sums, counts := map[int]float64{}, map[int]float64{}
			for b, k := range at[i] {
				e := r.episodeAt(k)
				if every == 1 || (k-e.First)%every == 1 || e.Number == 8 {
					sums[e.Number], counts[e.Number] = sums[e.Number]+float64(omega[i*n+b]), counts[e.Number]+1
				}
			}
			if len(sums) != 7 || counts[8] != 3 || slices.Max(omega) == slices.Min(omega) {
				t.Fatalf("seed %d: transitions %v of episodes, weights %v", i, counts, omega)
			}
			for b, k := range at[i] {
				e := r.episodeAt(k).Number
				if want := sums[e] / counts[e]; math.Abs(float64(got[i*n+b])-want) > 1e-6 {
					t.Errorf("seed %d, episode %d: weight %v, want %v", i, e, got[i*n+b], want)
				}
			}
		}
		means, err := mean.RecordOmega(0)
		demand.NoError(t, err)
		if all, _ := each.RecordOmega(0); means[0].Share <= all[0].Share {
			t.Errorf("the means of episodes have an effective share of %v, the transitions %v", means[0].Share, all[0].Share)
		}
	}
}

// weightsOf are the weights of transitions.
func weightsOf(t *testing.T, a *Agent, at [][]int) []float32 {
	t.Helper()
	omega, err := a.weights(a.steps(at), at)
	demand.NoError(t, err)
	return flatOf(t, omega)
}

func TestMeanAge(t *testing.T) {
	if meanAge(nil) != .5 || meanAge([]float64{3}) != .5 ||
		meanAge([]float64{0, 0, 2}) != 0 || meanAge([]float64{1, 1, 1}) != .5 {
		t.Error("mean ages of no, one, the latest and equal weights")
	}
}
