package sac

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"testing"

	"tvps/ci/demand"
	"tvps/data/random"
	"tvps/gomlx_models/backend"

	"github.com/klauspost/compress/zstd"
)

// everything is an agent with all parts of a checkpoint and a small replay, which wraps.
func everything(t *testing.T) *Agent {
	cfg := tiny(tinyContext, learnAlpha, tinyOmega)
	cfg.Capacity = 17
	return open(t, backend.Go, cfg, 3, 4)
}

// live trains for two steps and returns the actions.
func live(t *testing.T, a *Agent) (actions [][]float32) {
	t.Helper()
	for range 2 {
		k := a.Observed()
		ts := randomTransitions(a, k, 7)
		got, err := a.Act([][]float32{ts[0].Observation, ts[1].Observation}, Sample)
		if err != nil {
			t.Fatal(err)
		}
		actions = append(actions, got...)
		if err := a.Observe(ts); err != nil {
			t.Fatal(err)
		}
		update(t, a)
	}
	return actions
}

// saved are the checkpoints of all seeds.
func saved(t testing.TB, a *Agent) [][]byte {
	t.Helper()
	files, to := make([]bytes.Buffer, len(a.seeds)), make([]io.Writer, len(a.seeds))
	for i := range files {
		to[i] = &files[i]
	}
	if err := a.Save(to...); err != nil {
		t.Fatal(err)
	}
	out := make([][]byte, len(files))
	for i := range files {
		out[i] = files[i].Bytes()
	}
	return out
}

// load reads a checkpoint of each seed; nil for none.
func load(a *Agent, files ...[]byte) error {
	from := make([]io.Reader, len(files))
	for i, file := range files {
		if file != nil {
			from[i] = bytes.NewReader(file)
		}
	}
	return a.Load(from...)
}

// TestLoadContinuesWithTheSameBits saves in the middle of an episode, at several sizes of the
// replay, and compares what follows: actions, arrays, and the next checkpoint's bytes.
func TestLoadContinuesWithTheSameBits(t *testing.T) {
	for _, transitions := range []int{0, 9, 17, 38} {
		a, b := everything(t), everything(t)
		fill(t, a, transitions, 7)
		if transitions > 0 {
			live(t, a)
		}
		files := saved(t, a)
		fill(t, b, 3, 7) // the state of b before Load must not matter
		live(t, b)
		if err := load(b, files...); err != nil {
			t.Fatal(err)
		}
		for range 5 {
			same(t, "actions", live(t, b), live(t, a))
		}
		same(t, "variables", flat(t, b.state), flat(t, a.state))
		same(t, "g", flat(t, b.g), flat(t, a.g))
		if !reflect.DeepEqual(saved(t, a), saved(t, b)) {
			t.Error("the next checkpoints differ")
		}
	}
}

// inGroup is an agent of any seeds. With XLA it has no context, which takes long to compile.
func inGroup(t *testing.T, name string, seeds ...int64) *Agent {
	cfg := tiny(learnAlpha, tinyOmega)
	if name == backend.Go {
		tinyContext(&cfg)
	}
	cfg.Capacity = 17
	return open(t, name, cfg, seeds...)
}

// liveIn trains for some steps; transitions depend on the seed alone.
func liveIn(t *testing.T, a *Agent, steps int) {
	t.Helper()
	for range steps {
		ts := make([]Transition, len(a.seeds))
		observations := make([][]float32, len(a.seeds))
		for i, seed := range a.seeds {
			one := transitionOf(a, seed, a.Observed())
			ts[i], observations[i] = one, one.Observation
		}
		if _, err := a.Act(observations, Sample); err != nil {
			t.Fatal(err)
		}
		if err := a.Observe(ts); err != nil {
			t.Fatal(err)
		}
		update(t, a)
	}
}

// transitionOf is the k-th random transition of a seed, in episodes of seven.
func transitionOf(a *Agent, seed int64, k int) Transition {
	rng := random.New(seed, "transition", k)
	values := func(n int) (v []float32) {
		for range n {
			v = append(v, 2*rng.Float32()-1)
		}
		return v
	}
	return Transition{Observation: values(a.cfg.Observations), Action: values(a.cfg.Actions), Reward: rng.Float32(),
		Next: values(a.cfg.Observations), Last: k%7 == 6, Episode: k / 7}
}

// A seed that was saved in a group of three continues in groups of other sizes, also next to copies of another seed,
// with the bits that it would have had in the first one. XLA rounds two seeds or more alike; one alone it does not.
func TestLoadInAnotherGroup(t *testing.T) {
	two, five := []int64{9, 4}, []int64{7, 4, 3, 5, 8} // 7, 8 and 9 only fill the program
	for name, groups := range map[string][][]int64{
		backend.Go: {two, five, {5, 3}, {3, 9}, {4}}, backend.Default: {five},
	} {
		first := inGroup(t, name, 3, 4, 5)
		liveIn(t, first, 25)
		files := saved(t, first)
		liveIn(t, first, 12)
		want := saved(t, first)
		for _, seeds := range groups {
			a := inGroup(t, name, seeds...)
			if name == backend.Go { // the state before Load must not matter
				liveIn(t, a, 3)
			}
			from := make([][]byte, len(seeds))
			for i, seed := range seeds {
				if seed <= 5 {
					from[i] = files[seed-3]
				}
			}
			if err := load(a, from...); err != nil {
				t.Fatalf("%d: %v", seeds, err)
			}
			liveIn(t, a, 12)
			got := saved(t, a)
			for i, seed := range seeds {
				if from[i] != nil && !bytes.Equal(got[i], want[seed-3]) {
					t.Errorf("%s: seed %d in %d: other bits", name, seed, seeds)
				}
			}
			if a.Observed() != 37 || a.updates != 37 {
				t.Errorf("%s: %d: %d transitions, %d updates", name, seeds, a.Observed(), a.updates)
			}
		}
	}
}

// A seed that fills the program shares no memory with the one that it copies.
func TestCopiesShareNothing(t *testing.T) {
	first := inGroup(t, backend.Go, 3, 4)
	liveIn(t, first, 25)
	files := saved(t, first)
	a := inGroup(t, backend.Go, 3, 4)
	if err := load(a, files[0], nil); err != nil {
		t.Fatal(err)
	}
	again := saved(t, a)
	if !bytes.Equal(again[0], files[0]) || bytes.Equal(again[1], files[1]) {
		t.Error("not a copy of the first")
	}
	a.index[1].episodes[0].Count++
	a.index[1].moments.Mean[0]++
	a.index[1].step[0]++
	a.lastFit[1].Mean[0]++
	a.rollout.steps[1][0][0]++
	if !bytes.Equal(saved(t, a)[0], files[0]) {
		t.Error("a change of the copy changes the first")
	}
}

// TestLoadFormat1: a checkpoint that an older program wrote for all seeds of an agent is refused as one.
func TestLoadFormat1(t *testing.T) {
	old, err := os.ReadFile("testdata/format1.checkpoint")
	if err != nil {
		t.Fatal(err)
	}
	a := everything(t)
	demand.Error(t, load(a, old, nil), "of seed 3: it has format 1; this program reads format 2")
}

// TestLoadFormat2 loads checkpoints of this format that were written when it was new, and writes the same headers and
// arrays again.
func TestLoadFormat2(t *testing.T) {
	a := everything(t)
	var files [][]byte
	for _, seed := range a.seeds {
		file, err := os.ReadFile(fmt.Sprintf("testdata/format2-seed%d.checkpoint", seed))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	if err := load(a, files...); err != nil {
		t.Fatal(err)
	}
	if a.Observed() != 28 || a.updates != 4 || a.gUpdates == 0 || a.lastFit[0].Episode < 0 {
		t.Errorf("%d transitions, %d updates, %d of g, last fit at episode %d",
			a.Observed(), a.updates, a.gUpdates, a.lastFit[0].Episode)
	}
	for i, file := range saved(t, a) {
		if !bytes.Equal(unpacked(t, files[i]), unpacked(t, file)) {
			t.Errorf("the checkpoint of seed %d changed by loading and saving it", a.seeds[i])
		}
	}
	live(t, a)
}

// unpacked is a checkpoint without its compression.
func unpacked(t testing.TB, data []byte) []byte {
	t.Helper()
	z, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	out, err := z.DecodeAll(data, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestLoadRejects: each error leaves the agent as it was.
func TestLoadRejects(t *testing.T) {
	a := everything(t)
	fill(t, a, 20, 7)
	live(t, a)
	good, before := saved(t, a), flat(t, a.state)
	damaged := bytes.Clone(good[1])
	damaged[len(damaged)/2] ^= 0x10
	for what, data := range map[string][]byte{
		"empty": {}, "truncated": good[1][:len(good[1])-9], "damaged": damaged, "not a checkpoint": []byte("hello"),
		"of another seed": good[0],
	} {
		err := load(a, good[0], data)
		var of *SeedError
		if !errors.As(err, &of) || of.Seed != 4 {
			t.Errorf("%s: %v", what, err)
		}
	}
	demand.Error(t, load(a, good[0], good[0]), "of seed 4: it is of seed 3")
	live(t, a)
	demand.Error(t, load(a, good[0], saved(t, a)[1]), "seed 3 made 2 updates", "seed 4 4")
	demand.Error(t, load(a, nil, nil), "there is none")
	demand.Error(t, load(a, good[0]), "1 readers for 2 seeds")
	if err := load(a, good...); err != nil {
		t.Fatal(err)
	}
	same(t, "variables after rejected checkpoints", flat(t, a.state), before)
	cfg := a.cfg
	cfg.Gamma = .5
	demand.Error(t, load(open(t, backend.Go, cfg, 3, 4), good...), "other settings")
}
