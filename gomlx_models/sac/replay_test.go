package sac

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"tvps/ci/demand"
	"tvps/data/random"
	"tvps/gomlx_models/backend"
)

// TestReplayAgainstAList compares steps, next observations, windows and episodes with a list of everything that was
// ever inserted, before and after the ring has wrapped around.
func TestReplayAgainstAList(t *testing.T) {
	for _, capacity := range []int{23, 1000} {
		cfg := tiny(tinyContext, func(cfg *Config) { cfg.Capacity = capacity })
		a, rng := open(t, backend.Go, cfg, 3, 8), random.New(0, "lengths")
		all := make([][]Transition, 2)
		number, left := 0, 1+rng.IntN(9)
		for k := range 90 {
			left--
			ts := randomStep(a, k, Transition{Episode: number, Last: left == 0 && k%2 == 0, Terminal: left == 0 && k%2 == 1})
			for i := range ts {
				all[i] = append(all[i], ts[i])
			}
			if left == 0 {
				number, left = number+1+rng.IntN(2), 1+rng.IntN(9) // numbers may be skipped
			}
			demand.NoError(t, a.Observe(ts))
			for s, r := range a.replay {
				compareReplay(t, r, all[s])
			}
		}
	}
}

// compareReplay compares all transitions that are not overwritten.
func compareReplay(t *testing.T, r *replay, all []Transition) {
	t.Helper()
	history, oldest := r.cfg.Context.History, max(0, len(all)-r.cfg.Capacity)
	if r.oldest() != oldest || r.Total != len(all) {
		t.Fatalf("the replay holds %d to %d, not %d to %d", r.oldest(), r.Total, oldest, len(all))
	}
	for i := oldest; i < len(all); i++ {
		at, want, ended := []int{i}, all[i], 0.
		if want.Terminal {
			ended = 1
		}
		what := fmt.Sprintf("transition %d of %d: ", i, len(all))
		demand.Floats(t, what+"step", r.steps(nil, at), refStep(want), 0)
		demand.Floats(t, what+"sample", r.samples(nil, at), slices.Concat(refStep(want), want.Next, []float64{ended}), 0)
		demand.Floats(t, what+"episode", r.numbers(nil, at), []float64{float64(want.Episode)}, 0)
		demand.Floats(t, what+"window", r.windows(nil, at, history),
			slices.Concat(append(refHistory(r.cfg, all, i, oldest), refStep(want))...), 0)
	}
}

// TestDrawsAreUniform: minibatches over transitions; triplets over episodes, whatever their
// lengths, and over the transitions of an episode.
func TestDrawsAreUniform(t *testing.T) {
	cfg := tiny(func(c *Config) { c.Capacity = 30 })
	r := newReplay(cfg)
	lengths := []int{10, 12, 3, 20, 4}
	k := 0
	for number, n := range lengths { // episodes 0 and 1 up to its seventh step are overwritten
		for step := range n {
			tr := randomStep(&Agent{cfg: cfg, seeds: []int64{0}}, k, Transition{Episode: number,
				Last: step == n-1 && number < 3, Terminal: step == n-1 && number == 3})[0]
			r.add(tr)
			k++
		}
		demand.Equal(t, r.open(), number == 4, "after the last step of episode %d, open", number)
	}
	const draws = 60000
	rng := random.New(0, "uniform")
	var counts map[int]int
	for recent, first := range map[int]int{0: 19, 1: 45, 2: 25, 3: 22, 9: 19} { // the latest episodes, or all
		counts = map[int]int{}
		for _, i := range r.uniform(rng, draws, recent) {
			counts[i]++
		}
		share := 1 / float64(49-first)
		wantShares(t, "transition", counts, draws, map[int]float64{first - 1: 0, first: share, 48: share})
	}
	at, time := r.byEpisode(rng, draws, true)
	counts = map[int]int{}
	for b, i := range at {
		number := r.episodeAt(i).Number
		if i < r.oldest() {
			t.Fatalf("transition %d is drawn, but overwritten", i)
		}
		if r.eligible(true)[time[b]].Number != number {
			t.Fatalf("transition %d of episode %d is drawn for episode %d", i, number, r.eligible(true)[time[b]].Number)
		}
		counts[number]++
	}
	wantShares(t, "episode", counts, draws, map[int]float64{0: 0, 1: .25, 2: .25, 3: .25, 4: .25})
	if episodes := r.eligible(false); episodes[len(episodes)-1].Number != 3 {
		t.Errorf("the unfinished episode counts as finished: %v", episodes)
	}
}

func wantShares(t *testing.T, what string, counts map[int]int, draws int, want map[int]float64) {
	t.Helper()
	for k, share := range want {
		if got := float64(counts[k]) / float64(draws); math.Abs(got-share) > 5*math.Sqrt(share/float64(draws)) {
			t.Errorf("%s %d has a share of %v, not %v", what, k, got, share)
		}
	}
}

// TestMomentsAgainstTwoPasses compares running mean and deviation with those of two passes.
func TestMomentsAgainstTwoPasses(t *testing.T) {
	m, rng := newMoments(4), random.New(0, "moments")
	var first []float64
	for range 500 {
		x := float32(1000 + rng.NormFloat64())
		first = append(first, float64(x))
		m.add([]float32{x, 2}, []float32{3 * x, 1e-9 * x})
	}
	mean, square := 0., 0.
	for _, x := range first {
		mean += x / 500
	}
	for _, x := range first {
		square += (x - mean) * (x - mean) / 500
	}
	gotMean, gotScale := m.standard()
	demand.Floats(t, "mean", gotMean, []float64{mean, 2, 3 * mean, 1e-9 * mean}, 1e-6)
	deviation := math.Sqrt(square)
	demand.Floats(t, "deviation", gotScale, []float64{deviation, 1, 3 * deviation, 1e-9 * deviation}, 1e-6)
}
