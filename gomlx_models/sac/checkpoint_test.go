package sac

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"tvps/ci/demand"
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

func saved(t testing.TB, a *Agent) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := a.Save(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
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
		path := filepath.Join(t.TempDir(), "agent")
		if err := a.SaveFile(path); err != nil {
			t.Fatal(err)
		}
		fill(t, b, 3, 7) // the state of b before Load must not matter
		live(t, b)
		if err := b.LoadFile(path); err != nil {
			t.Fatal(err)
		}
		for range 5 {
			same(t, "actions", live(t, b), live(t, a))
		}
		same(t, "variables", flat(t, b.state), flat(t, a.state))
		same(t, "g", flat(t, b.g), flat(t, a.g))
		if !bytes.Equal(saved(t, a), saved(t, b)) {
			t.Error("the next checkpoints differ")
		}
	}
}

// TestLoadFormat1 loads a checkpoint that the program wrote before package propensity had the
// robots' g (commit d1fb41e), and writes the same header and arrays again.
func TestLoadFormat1(t *testing.T) {
	const path = "testdata/format1.checkpoint"
	a := everything(t)
	if err := a.LoadFile(path); err != nil {
		t.Fatal(err)
	}
	if a.Observed() != 28 || a.updates != 4 || a.gUpdates == 0 || a.lastFit[0].Episode < 0 {
		t.Errorf("%d transitions, %d updates, %d of g, last fit at episode %d",
			a.Observed(), a.updates, a.gUpdates, a.lastFit[0].Episode)
	}
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(unpacked(t, old), unpacked(t, saved(t, a))) {
		t.Error("the checkpoint changed by loading and saving it")
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
	good := saved(t, a)
	damaged := bytes.Clone(good)
	damaged[len(damaged)/2] ^= 0x10
	before := flat(t, a.state)
	for what, data := range map[string][]byte{
		"empty": nil, "truncated": good[:len(good)-9], "damaged": damaged, "not a checkpoint": []byte("hello"),
	} {
		if err := a.Load(bytes.NewReader(data)); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	same(t, "variables after rejected checkpoints", flat(t, a.state), before)
	other := open(t, backend.Go, a.cfg, 3, 5)
	demand.Error(t, other.Load(bytes.NewReader(good)), "it is of seeds [3 4], not [3 5]")
	cfg := a.cfg
	cfg.Gamma = .5
	demand.Error(t, open(t, backend.Go, cfg, 3, 4).Load(bytes.NewReader(good)), "other settings")
	if err := a.LoadFile(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}
