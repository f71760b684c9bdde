package resnet

import (
	"testing"

	"tvps/ci/demand"
	"tvps/gomlx_models/net"
)

func TestResumeErrors(t *testing.T) {
	whole := randomCheckpoint(t, 1)
	cfg := tinyConfig(4)
	state := &State{Config: cfg, Epoch: 2, Weights: whole.Values, Velocity: whole.Values, Loss: 1.5}
	other := cfg
	other.Epochs = 9
	for _, c := range []struct {
		name   string
		cfg    Config
		change func(*net.Checkpoint)
		words  []string
	}{
		{"other settings", other, func(c *net.Checkpoint) {}, []string{"Epochs:4", "Epochs:9"}},
		{"no settings", cfg, func(c *net.Checkpoint) { delete(c.Metadata, "config") }, []string{"no training settings"}},
		{"no epoch", cfg, func(c *net.Checkpoint) { delete(c.Metadata, "epoch") }, []string{"no epoch"}},
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
