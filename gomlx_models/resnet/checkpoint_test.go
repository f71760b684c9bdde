package resnet

import (
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/gomlx_models/net"
)

func TestResumeErrors(t *testing.T) {
	whole := randomCheckpoint(t, 1)
	cfg := tinyConfig(4)
	state := &State{Config: cfg, Epoch: 2, Weights: whole.Values, Velocity: whole.Values, Loss: 1.5}
	other := cfg
	other.Epochs, other.PeakRate, other.Seed = 9, .2, 3
	for _, c := range []struct {
		name   string
		cfg    Config
		change func(*net.Checkpoint)
		words  []string
	}{
		{"other settings", other, func(c *net.Checkpoint) {},
			[]string{"Epochs 4, not 9", "PeakRate 0.05, not 0.2", "Seed 0, not 3"}},
		{"no settings", cfg, func(c *net.Checkpoint) { delete(c.Metadata, "config") }, []string{"no training settings"}},
		{"negative epoch", cfg, func(c *net.Checkpoint) { c.Metadata["epoch"] = "-1" }, []string{`epoch`, `"-1" of 4`}},
		{"epoch after the last", cfg, func(c *net.Checkpoint) { c.Metadata["epoch"] = "5" }, []string{`"5" of 4`}},
		{"no epoch", cfg, func(c *net.Checkpoint) { delete(c.Metadata, "epoch") }, []string{"epoch"}},
		{"no loss", cfg, func(c *net.Checkpoint) { c.Metadata["loss"] = "low" }, []string{"loss"}},
		{"no velocity", cfg, func(c *net.Checkpoint) { c.Params = c.Params[:len(whole.Params)] },
			[]string{"velocity/stem/kernel"}},
		{"no weights", cfg, func(c *net.Checkpoint) { c.Params = c.Params[1:] }, []string{"stem/kernel"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			checkpoint := state.Checkpoint(whole.Params, true)
			c.change(&checkpoint)
			_, err := Resume(&checkpoint, whole.Params, c.cfg)
			demand.Error(t, err, c.words...)
		})
	}
}

// A finished checkpoint has no velocity.
func TestFinishedCheckpoint(t *testing.T) {
	whole := randomCheckpoint(t, 1)
	s := &State{Config: tinyConfig(4), Epoch: 4, Weights: whole.Values, Velocity: whole.Values, Loss: 1.5}
	c := s.Checkpoint(whole.Params, false)
	for _, p := range c.Params {
		if strings.HasPrefix(p.Name, velocityPrefix) {
			t.Fatalf("it holds %s", p.Name)
		}
	}
	if c.Metadata["epoch"] != "4" || c.Metadata["loss"] != "1.5" ||
		!strings.Contains(c.Metadata["config"], `"Width":2`) {
		t.Errorf("metadata %v", c.Metadata)
	}
}
