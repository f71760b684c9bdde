package sac

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"tvps/ci/demand"
	"tvps/data/random"
)

// TestGatherAgainstAList compares rows, histories and episodes with a list of everything
// that was ever inserted, before and after the ring has wrapped around, and over the edge
// of a chunk.
func TestGatherAgainstAList(t *testing.T) {
	for _, c := range []struct{ capacity, count, every int }{{23, 90, 1}, {1000, 60, 7}, {chunkRows + 5, 2*chunkRows + 50, chunkRows + 40}} {
		cfg := tiny(tinyContext, func(cfg *Config) { cfg.Capacity = c.capacity })
		r, rng := newReplay(cfg), random.New(0, "lengths")
		var all []Transition
		number, left := 0, 1+rng.IntN(9)
		for k := range c.count {
			tr := randomTransitions(&Agent{cfg: cfg, seeds: []int64{0}}, k, 1<<30)[0]
			left--
			tr.Episode, tr.Last, tr.Terminal = number, left == 0 && k%2 == 0, left == 0 && k%2 == 1
			if left == 0 {
				number, left = number+1+rng.IntN(2), 1+rng.IntN(9) // numbers may be left out
			}
			if err := r.check(tr); err != nil {
				t.Fatal(err)
			}
			r.add(tr)
			all = append(all, tr)
			if k%c.every == 0 || k == c.count-1 {
				compareReplay(t, cfg, r, all)
			}
		}
	}
}

func compareReplay(t *testing.T, cfg Config, r *replay, all []Transition) {
	t.Helper()
	oldest := max(0, len(all)-cfg.Capacity)
	if r.oldest() != oldest || r.total != len(all) {
		t.Fatalf("the replay holds %d to %d, not %d to %d", r.oldest(), r.total, oldest, len(all))
	}
	var at []int
	for i := len(all) - 1; i >= oldest; i -= 1 + len(all)/500 {
		at = append(at, i)
	}
	rows, h, w := make([]float32, len(at)*cfg.rowWidth()), cfg.Context.History, cfg.stepWidth()
	windows := make([]float32, (h+1)*len(at)*w)
	r.gather(at, rows)
	r.gatherWindows(at, h, windows)
	number := r.episodeOf(at)
	for b, i := range at {
		tr := all[i]
		terminal := map[bool]float64{true: 1}[tr.Terminal]
		near(t, fmt.Sprintf("row %d", i), rows[b*cfg.rowWidth():][:cfg.rowWidth()], slices.Concat(refStep(tr), wide(tr.Next), []float64{terminal}), 0)
		if int(number[b]) != tr.Episode {
			t.Fatalf("transition %d is said to be of episode %v, not %d", i, number[b], tr.Episode)
		}
		for k, want := range append(refHistory(cfg, all, i, oldest), refStep(tr)) {
			near(t, fmt.Sprintf("step %d before transition %d of %d", h-k, i, len(all)), windows[(k*len(at)+b)*w:][:w], want, 0)
		}
	}
}

// TestDrawsAreUniform: minibatches over transitions, triplets over episodes, whatever
// their lengths, and each transition within its episode.
func TestDrawsAreUniform(t *testing.T) {
	cfg := tiny(func(c *Config) { c.Capacity = 30 })
	r := newReplay(cfg)
	lengths := []int{10, 12, 3, 20, 4}
	k := 0
	for number, n := range lengths { // episodes 0 and 1 up to its seventh step are overwritten
		for step := range n {
			tr := randomTransitions(&Agent{cfg: cfg, seeds: []int64{0}}, k, 1<<30)[0]
			tr.Episode, tr.Last, tr.Terminal = number, step == n-1 && number < 3, step == n-1 && number == 3
			r.add(tr)
			k++
		}
		if r.open != (number == 4) {
			t.Errorf("after the last step of episode %d, open is %v", number, r.open)
		}
	}
	const draws = 60000
	rng := random.New(0, "uniform")
	counts := map[int]int{}
	for _, i := range r.uniform(rng, draws) {
		counts[i]++
	}
	wantShares(t, "transition", counts, draws, map[int]float64{19: 1. / 30, 20: 1. / 30, 33: 1. / 30, 48: 1. / 30})
	at, time := r.byEpisode(rng, draws, true)
	counts = map[int]int{}
	for b, i := range at {
		number := int(r.episodeOf([]int{i})[0])
		if i < r.oldest() {
			t.Fatalf("transition %d is drawn, but overwritten", i)
		}
		if r.known(true)[time[b]].Number != number {
			t.Fatalf("transition %d of episode %d is drawn for episode %d", i, number, r.known(true)[time[b]].Number)
		}
		counts[number]++
	}
	wantShares(t, "episode", counts, draws, map[int]float64{0: 0, 1: .25, 2: .25, 3: .25, 4: .25})
	if known := r.known(false); known[len(known)-1].Number != 3 {
		t.Errorf("the unfinished episode counts as finished: %v", known)
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

// TestMomentsAgainstTwoPasses compares running mean and deviation with the textbook's.
func TestMomentsAgainstTwoPasses(t *testing.T) {
	m, rng := newMoments(3), random.New(0, "moments")
	var first []float64
	for range 500 {
		x := float32(1000 + rng.NormFloat64())
		first = append(first, float64(x))
		m.add([]float32{x, 2}, []float32{3 * x})
	}
	mean, square := 0., 0.
	for _, x := range first {
		mean += x / 500
	}
	for _, x := range first {
		square += (x - mean) * (x - mean) / 500
	}
	gotMean, gotScale := m.standard()
	near(t, "mean", gotMean, []float64{mean, 2, 3 * mean}, 1e-6)
	near(t, "deviation", gotScale, []float64{math.Sqrt(square), 1, 3 * math.Sqrt(square)}, 1e-6)
}

func TestObserveRefusesImpossibleTransitions(t *testing.T) {
	a := open(t, "go", tiny(), 4, 5)
	good := func() []Transition { return randomTransitions(a, 30, 10) } // episode 3
	if err := a.Observe(good()); err != nil {
		t.Fatal(err)
	}
	for want, spoil := range map[string]func(ts []Transition) []Transition{
		"1 transitions for 2 seeds":       func(ts []Transition) []Transition { return ts[:1] },
		"seed 5: the action has 1 values": func(ts []Transition) []Transition { ts[1].Action = ts[1].Action[:1]; return ts },
		"value 0 of the reward is NaN":    func(ts []Transition) []Transition { ts[0].Reward = float32(math.NaN()); return ts },
		"value 2 of the next observation": func(ts []Transition) []Transition { ts[1].Next[2] = float32(math.Inf(1)); return ts },
		"episode 2 after episode 3":       func(ts []Transition) []Transition { ts[1].Episode = 2; return ts },
	} {
		demand.Error(t, a.Observe(spoil(good())), "sac: ", want)
	}
	if a.Observed() != 1 || a.replay[1].total != 1 {
		t.Error("a refused transition was kept")
	}
}
