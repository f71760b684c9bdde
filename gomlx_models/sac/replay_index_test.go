package sac

import (
	"fmt"
	"math"
	"testing"

	"tvps/ci/demand"
	"tvps/data/random"
	"tvps/gomlx_models/backend"
	"tvps/gomlx_models/net"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// TestGatherAgainstAList compares rows, histories and episodes that a program gathers with
// a list of everything that was ever inserted, before and after the rings of two seeds have
// wrapped around, in shared memory and not.
func TestGatherAgainstAList(t *testing.T) {
	for _, c := range []struct{ capacity, count, every int }{
		{23, 90, 3}, {1000, 60, 7}, {blockRows + 5, 3*blockRows + 50, blockRows + 40},
	} {
		cfg := tiny(tinyContext, func(cfg *Config) { cfg.Capacity = c.capacity })
		agents := []*Agent{open(t, backend.Go, cfg, 3, 8), open(t, "", cfg, 3, 8), copied(t, open(t, "", cfg, 3, 8))}
		for _, a := range agents {
			exec, rng := gathering(t, a), random.New(0, "lengths")
			all := make([][]Transition, 2)
			number, left := 0, 1+rng.IntN(9)
			for k := range c.count {
				left--
				ts := randomStep(a, k, Transition{Episode: number, Last: left == 0 && k%2 == 0, Terminal: left == 0 && k%2 == 1})
				for i := range ts {
					all[i] = append(all[i], ts[i])
				}
				if left == 0 {
					number, left = number+1+rng.IntN(2), 1+rng.IntN(9) // numbers may be skipped
				}
				if err := a.Observe(ts); err != nil {
					t.Fatal(err)
				}
				if k%c.every == 0 || k == c.count-1 {
					compareReplay(t, a, exec, all)
				}
			}
		}
	}
}

// gathering is a program that gathers rows, what follows them, and windows.
func gathering(tb testing.TB, a *Agent) *Exec {
	tb.Helper()
	exec, err := NewExec(a.backend, func(in []*Node) []*Node {
		b := a.cfg.minibatch(in[0], in[1], in[2], in[3], in[4], in[5])
		first := SliceAxis(b.before, 1, AxisRange(0, 1))
		return []*Node{gather(in[0], in[1]), b.next, b.terminal, Concatenate([]*Node{first, b.after}, 1)}
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(exec.Finalize)
	return exec
}

// compareReplay compares some transitions, the oldest and the latest among them.
func compareReplay(t *testing.T, a *Agent, exec *Exec, all [][]Transition) {
	t.Helper()
	const batch = 37
	cfg, count, h, w := a.cfg, len(all[0]), a.cfg.Context.History, a.cfg.stepWidth()
	oldest := max(0, count-cfg.Capacity)
	at, index, past := make([]int, batch), make([]int32, 2*batch), make([]int32, 2*(h+1)*batch)
	n := cfg.Observations
	next, ends, terminal := make([]int32, 2*batch), make([]float32, 2*batch*n), make([]float32, 2*batch)
	for b := range at {
		at[b] = oldest + b*(count-1-oldest)/(batch-1)
	}
	for s, r := range a.index {
		if r.oldest() != oldest || r.Total != count {
			t.Fatalf("the replay holds %d to %d, not %d to %d", r.oldest(), r.Total, oldest, count)
		}
		r.rows(at, index[s*batch:])
		r.following(at, next[s*batch:], ends[s*batch*n:], terminal[s*batch:])
		r.windows(at, h, past[s*(h+1)*batch:])
	}
	array, err := a.array.current()
	if err != nil {
		t.Fatal(err)
	}
	out, err := net.Run(exec, array, tensors.FromFlatDataAndDimensions(index, 2, batch),
		tensors.FromFlatDataAndDimensions(next, 2, batch), tensors.FromFlatDataAndDimensions(ends, 2, batch, n),
		tensors.FromFlatDataAndDimensions(terminal, 2, batch), tensors.FromFlatDataAndDimensions(past, 2, h+1, batch))
	if err != nil {
		t.Fatal(err)
	}
	values := flat(t, out)
	rows, after, ended, windows := values[0], values[1], values[2], values[3]
	for s, r := range a.index {
		number := r.numbers(at)
		for b, i := range at {
			tr := all[s][i]
			near(t, fmt.Sprintf("seed %d, row %d of %d", s, i, count), rows[(s*batch+b)*w:][:w], refStep(tr), 0)
			near(t, fmt.Sprintf("seed %d, after %d of %d", s, i, count), after[(s*batch+b)*n:][:n], tr.Next, 0)
			if (ended[s*batch+b] == 1) != tr.Terminal {
				t.Fatalf("transition %d is terminal: %v", i, tr.Terminal)
			}
			if int(number[b]) != tr.Episode {
				t.Fatalf("transition %d has episode %v, not %d", i, number[b], tr.Episode)
			}
			for k, want := range append(refHistory(cfg, all[s], i, oldest), refStep(tr)) {
				near(t, fmt.Sprintf("seed %d, step %d before transition %d of %d", s, h-k, i, count),
					windows[((s*(h+1)+k)*batch+b)*w:][:w], want, 0)
			}
		}
	}
}

// TestDrawsAreUniform: minibatches over transitions; triplets over episodes, whatever their
// lengths, and over the transitions of an episode.
func TestDrawsAreUniform(t *testing.T) {
	cfg := tiny(func(c *Config) { c.Capacity = 30 })
	r := newReplayIndex(cfg, 0)
	lengths := []int{10, 12, 3, 20, 4}
	k := 0
	for number, n := range lengths { // episodes 0 and 1 up to its seventh step are overwritten
		for step := range n {
			tr := randomStep(&Agent{cfg: cfg, seeds: []int64{0}}, k, Transition{Episode: number,
				Last: step == n-1 && number < 3, Terminal: step == n-1 && number == 3})[0]
			r.add(tr, cfg.step(tr))
			k++
		}
		if r.open() != (number == 4) {
			t.Errorf("after the last step of episode %d, open is %v", number, r.open())
		}
	}
	const draws = 60000
	rng := random.New(0, "uniform")
	counts := map[int]int{}
	for _, i := range r.uniform(rng, draws, 0) {
		counts[i]++
	}
	wantShares(t, "transition", counts, draws, map[int]float64{19: 1. / 30, 20: 1. / 30, 33: 1. / 30, 48: 1. / 30})
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

func TestObserveRejectsImpossibleTransitions(t *testing.T) {
	a := open(t, "go", tiny(), 4, 5)
	if err := a.Observe(randomTransitions(a, 30, 10)); err != nil { // episode 3
		t.Fatal(err)
	}
	good := func() []Transition { return randomTransitions(a, 31, 10) }
	for want, spoil := range map[string]func(ts []Transition) []Transition{
		"1 transitions for 2 seeds":       func(ts []Transition) []Transition { return ts[:1] },
		"seed 5: the action has 1 values": func(ts []Transition) []Transition { ts[1].Action = ts[1].Action[:1]; return ts },
		"value 0 of the reward is NaN": func(ts []Transition) []Transition {
			ts[0].Reward = math.NaN()
			return ts
		},
		"value 2 of the next observation": func(ts []Transition) []Transition {
			ts[1].Next[2] = 1e39
			return ts
		},
		"episode 4 before the last transition of episode 3": func(ts []Transition) []Transition { ts[1].Episode = 4; return ts },
		"not the next one": func(ts []Transition) []Transition { ts[1].Observation[0]++; return ts },
	} {
		demand.Error(t, a.Observe(spoil(good())), "sac: ", want)
	}
	if a.Observed() != 1 || a.index[1].Total != 1 {
		t.Error("a rejected transition was kept")
	}
	if err := a.Observe(randomStep(a, 31, Transition{Episode: 3, Terminal: true})); err != nil {
		t.Fatal(err)
	}
	demand.Error(t, a.Observe(randomStep(a, 40, Transition{Episode: 3})), "episode 3 after episode 3")
}

// TestRecentEpisodes: with Recent, minibatches hold steps of the latest episodes alone, the
// current one among them, each step as often; 0 and more episodes than there are mean all.
func TestRecentEpisodes(t *testing.T) {
	r := newReplayIndex(tiny(func(c *Config) { c.Capacity = 40 }), 0)
	for k := range 52 {
		r.add(Transition{Last: k%10 == 9, Episode: k / 10}, make([]float32, r.cfg.stepWidth()))
	}
	const draws = 20000
	for recent, first := range map[int]int{0: 12, 1: 50, 2: 40, 3: 30, 9: 12} {
		counts := map[int]int{}
		for _, i := range r.uniform(random.New(1, "recent"), draws, recent) {
			counts[i]++
		}
		share := 1 / float64(52-first)
		wantShares(t, "step", counts, draws, map[int]float64{first: share, 51: share})
		for i := range counts {
			if i < first {
				t.Errorf("recent %d: step %d is drawn", recent, i)
			}
		}
	}
}
