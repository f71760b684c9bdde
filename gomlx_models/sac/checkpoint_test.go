package sac

import (
	"bytes"
	"fmt"
	"testing"

	"tvps/ci/demand"
	"tvps/gomlx_models/backend"
	"tvps/gomlx_models/propensity"
)

// everything is an agent with all parts of a checkpoint and a small replay, which wraps.
func everything(t *testing.T) *Agent {
	cfg := tiny(tinyContext, learnAlpha, tinyOmega)
	cfg.Capacity = 17
	return open(t, backend.Go, cfg, 3, 4)
}

// live trains for two steps and returns the actions.
func live(t *testing.T, a *Agent) (actions [][]float64) {
	t.Helper()
	for range 2 {
		k := a.Observed()
		ts := randomTransitions(a, k, 7)
		got, err := a.Act([][]float64{ts[0].Observation, ts[1].Observation}, Sample)
		demand.NoError(t, err)
		actions = append(actions, got...)
		demand.NoError(t, a.Observe(ts))
		update(t, a)
	}
	return actions
}

// saved is a checkpoint.
func saved(t testing.TB, a *Agent) []byte {
	t.Helper()
	var file bytes.Buffer
	demand.NoError(t, a.Save(&file, "a note"))
	return file.Bytes()
}

// load reads a checkpoint.
func load(a *Agent, file []byte) error {
	var note string
	err := a.Load(bytes.NewReader(file), &note)
	if err == nil && note != "a note" {
		return fmt.Errorf("the caller's note is %q", note)
	}
	return err
}

// TestLoadContinuesWithTheSameBits saves in the middle of an episode, at several sizes of the
// replay, and compares what follows: actions, arrays, and the next checkpoint's bytes. One of the agents records omega,
// which changes nothing.
func TestLoadContinuesWithTheSameBits(t *testing.T) {
	for _, transitions := range []int{0, 9, 17, 38} {
		a, b := everything(t), everything(t)
		fill(t, a, transitions, 7)
		if transitions > 0 {
			live(t, a)
		}
		file := saved(t, a)
		fill(t, b, 3, 7) // the state of b before Load must not matter
		live(t, b)
		demand.NoError(t, load(b, file))
		for range 5 {
			same(t, "actions", live(t, b), live(t, a))
			_, err := b.RecordOmega(0)
			demand.NoError(t, err)
		}
		same(t, "variables", flat(t, b.state), flat(t, a.state))
		same(t, "g", flat(t, b.g), flat(t, a.g))
		if !bytes.Equal(saved(t, a), saved(t, b)) {
			t.Error("the next checkpoints differ")
		}
	}
}

// TestOldCheckpoint: one that was written before g's network could be chosen is of an agent whose g is Deep.
func TestOldCheckpoint(t *testing.T) {
	file, cfg := demand.Read(t, "testdata/without-network.state"), everything(t).cfg
	for network, words := range map[propensity.Network]string{"": "", propensity.Deep: "", propensity.FC3: "other settings"} {
		omega := *cfg.Omega
		omega.Network, cfg.Omega = network, &omega
		a := open(t, backend.Go, cfg, 3, 4)
		if err := load(a, file); words != "" {
			demand.Error(t, err, words)
			continue
		} else if demand.NoError(t, err); a.gUpdates != 6 {
			t.Errorf("%q: %d updates of g", network, a.gUpdates)
		}
		live(t, a)
	}
}

// TestLoadRejects: what is not a whole checkpoint of these settings and seeds is an error of one sentence.
func TestLoadRejects(t *testing.T) {
	a := everything(t)
	fill(t, a, 20, 7)
	live(t, a)
	good := saved(t, a)
	at := func(i int) []byte { changed := bytes.Clone(good); changed[i] ^= 0x10; return changed }
	for _, c := range []struct {
		words string
		data  []byte
	}{
		{"its first line", nil}, {"its first line", []byte("hello")},
		{"its first line", []byte(`{"format":2,"run":"0123456789abcdef"}` + "\n")}, // of an older program
		{"its header does not match its checksum", at(200)},
		{"its header does not match its checksum", good[:200]},
		{"", at(len(good) / 2)}, {"", at(len(good) - 50)}, {"", good[:len(good)-9]},
		{"it does not end", append(bytes.Clone(good), good...)},
	} {
		err := load(a, c.data)
		demand.Error(t, err, "cannot read the checkpoint", c.words)
	}
	cfg := a.cfg
	cfg.Gamma = .5
	demand.Error(t, load(open(t, backend.Go, cfg, 3, 4), good), "other settings")
	demand.Error(t, load(open(t, backend.Go, a.cfg, 4, 3), good), "of the seeds [3 4], not [4 3]")
}
