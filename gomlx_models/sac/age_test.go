package sac

import (
	"maps"
	"math"
	"slices"
	"testing"

	"tvps/ci/demand"
	"tvps/data/random"
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

// TestGeometricReplayHasOmegasAge: drawn episodes have the mean age of omega's weights, and no other weight than 1.
func TestGeometricReplayHasOmegasAge(t *testing.T) {
	a, at := fittedFor(t, UseGeometric, 7)
	for _, w := range weightsOf(t, a, at) {
		if w != 1 {
			t.Fatalf("weight %v", w)
		}
	}
	const draws = 40_000
	for i, r := range a.replay {
		var weights []float64
		for _, number := range slices.Sorted(maps.Keys(a.means[i])) {
			weights = append(weights, a.means[i][number])
		}
		// Make the ages' weights unequal: those of a g that has been fitted for so short a time hardly are.
		for k := range weights {
			weights[k] = math.Pow(weights[k], 8) * float64(k+1)
			a.means[i][k+r.Episodes[0].Number] = weights[k]
		}
		sum, ages := 0., 0.
		for k, w := range weights {
			sum, ages = sum+w, ages+w*float64(len(weights)-1-k)/float64(len(weights)-1)
		}
		want, got := ages/sum, 0.
		for _, k := range r.geometric(random.New(1, "geometric"), draws, a.means[i]) {
			if k < r.oldest() || k >= r.Total {
				t.Fatalf("transition %d of %d to %d", k, r.oldest(), r.Total-1)
			}
			got += float64(r.lastEpisode()-r.episodeAt(k).Number) / float64(len(r.Episodes)-1) / draws
		}
		if math.Abs(got-want) > .01 || want > .45 {
			t.Errorf("seed %d: mean age %v of the largest, want omega's %v", i, got, want)
		}
	}
	if meanAge(nil) != .5 || meanAge([]float64{3}) != .5 ||
		meanAge([]float64{0, 0, 2}) != 0 || meanAge([]float64{1, 1, 1}) != .5 {
		t.Error("mean ages of no, one, the latest and equal weights")
	}
}
