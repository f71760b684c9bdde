package resnet

import (
	"bytes"
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"tvps/ci/demand"
	"tvps/gomlx_models/net"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

func TestRate(t *testing.T) {
	c := Config{PeakRate: .1, Warmup: .25}
	half := math.Sqrt(3) / 2 // cos 30 degrees
	for step, want := range []float64{.05, .05 * (1 + half), .05, .05 * (1 - half)} {
		if got := c.rate(step, 4); math.Abs(got-want) > 1e-15 {
			t.Errorf("step %d of 4: rate %v, want %v", step, got, want)
		}
	}
	for _, warmup := range []float64{0, 1} {
		c.Warmup = warmup
		for step := range 10 {
			if got := c.rate(step, 10); !(got > 0 && got <= .1) {
				t.Errorf("warmup %v, step %d: rate %v", warmup, step, got)
			}
		}
	}
}

// TestAugment: pixels move up and left, then are mirrored; what comes in from outside is black.
func TestAugment(t *testing.T) {
	src := noise(1).Pixels
	for _, c := range []struct {
		dy, dx int
		flip   bool
	}{{0, 0, false}, {2, -3, false}, {2, -3, true}, {0, 0, true}, {-4, 4, false}, {-4, 4, true}, {4, -4, true}} {
		dst := make([]byte, imageBytes)
		augment(dst, src, c.dy, c.dx, c.flip)
		for i, got := range dst {
			row, col, want := i/32%32+c.dy, i%32, byte(0)
			if c.flip {
				col = 31 - col
			}
			if col += c.dx; row >= 0 && row < 32 && col >= 0 && col < 32 {
				want = src[i/1024*1024+row*32+col]
			}
			if got != want {
				t.Fatalf("%+v: value %d is %d, want %d", c, i, got, want)
			}
		}
	}
}

func TestValidate(t *testing.T) {
	demand.NoError(t, DefaultConfig(16).Validate())
	for name, change := range map[string]func(*Config){
		"width is 0": func(c *Config) { c.Width = 0 },
		"and 1024":   func(c *Config) { c.Width = 1025 },
		"epochs":     func(c *Config) { c.Epochs = 0 },
		"batch is 0": func(c *Config) { c.Batch = 0 },
		"seed is -1": func(c *Config) { c.Seed = -1 },
	} {
		c := DefaultConfig(16)
		change(&c)
		demand.Error(t, c.Validate(), name)
	}
}

func tinyConfig(epochs int) Config {
	c := DefaultConfig(2)
	c.Epochs, c.Batch, c.PeakRate = epochs, 8, .05
	return c
}

func quiet(Progress) {}

// TestInterruptedPretraining: a training interrupted after one epoch and resumed from its file
// gives the same bytes as an uninterrupted one. Its loss decreases.
func TestInterruptedPretraining(t *testing.T) {
	b, cfg, im := open(t, "go"), tinyConfig(3), darkAndBright(36)
	params, err := Params(b, cfg.Width)
	demand.NoError(t, err)
	var losses []float64
	uninterrupted, err := Pretrain(context.Background(), b, cfg, im, nil, func(s *State) error {
		losses = append(losses, s.Loss)
		return nil
	}, quiet)
	demand.NoError(t, err)
	if len(losses) != 3 || !(losses[2] < .5*losses[0]) {
		t.Errorf("the losses of the epochs are %v, want 3 with the last below half of the first", losses)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var file []byte
	_, err = Pretrain(ctx, b, cfg, im, nil, func(s *State) error {
		cancel()
		file = encoded(t, s.Checkpoint(params, true))
		return nil
	}, quiet)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted: %v", err)
	}
	resumed := resume(t, file, params, cfg)
	if resumed.Epoch != 1 || resumed.Loss != losses[0] {
		t.Fatalf("resumed at epoch %d with loss %v, want 1 and %v", resumed.Epoch, resumed.Loss, losses[0])
	}
	last, err := Pretrain(context.Background(), b, cfg, im, resumed, func(*State) error { return nil }, quiet)
	demand.NoError(t, err)
	want, got := uninterrupted.Checkpoint(params, true), last.Checkpoint(params, true)
	if !bytes.Equal(encoded(t, want), encoded(t, got)) {
		t.Error("the resumed training gives other bytes than the uninterrupted one")
	}
}

func resume(t *testing.T, file []byte, params []net.Param, cfg Config) *State {
	t.Helper()
	c, err := net.DecodeCheckpoint(file)
	demand.NoError(t, err)
	s, err := Resume(c, params, cfg)
	demand.NoError(t, err)
	return s
}

func encoded(t *testing.T, c net.Checkpoint) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "checkpoint")
	demand.NoError(t, c.Save(path))
	return demand.Read(t, path)
}

// TestStep compares a step of SGD with the formulas of Nesterov's momentum (as in PyTorch) with
// weight decay,
//
//	v' = m v + g + d w,   w' = w - rate (g + d w + m v'),
//
// where g is the velocity after a step without momentum and decay.
func TestStep(t *testing.T) {
	const rate = .05
	c, im := randomCheckpoint(t, 2), darkAndBright(8)
	plain := Config{Width: 2, Batch: 8}
	cfg := Config{Width: 2, Batch: 8, Momentum: .7, WeightDecay: .1}
	n := len(c.Params)
	velocity := make(net.Values, n)
	for i, p := range c.Params {
		velocity[i] = make([]float32, p.Size())
		for j := range velocity[i] {
			if p.Trainable {
				velocity[i][j] = .01 * float32(j%5)
			}
		}
	}
	gradient := step(t, plain, c, velocity, im, rate)[n+1:]
	out := step(t, cfg, c, velocity, im, rate)
	for i, p := range c.Params {
		w, v := make([]float32, p.Size()), make([]float32, p.Size())
		for j := range w {
			g := float64(gradient[i][j])
			if p.Decay {
				g += .1 * float64(c.Values[i][j])
			}
			next := .7*float64(velocity[i][j]) + g
			v[j], w[j] = float32(next), float32(float64(c.Values[i][j])-rate*(g+.7*next))
		}
		if p.Trainable {
			demand.Floats(t, p.Name, out[1+i], w, 1e-4)
			demand.Floats(t, "velocity of "+p.Name, out[1+n+i], v, 1e-4)
		} else if slices.Equal(out[1+i], c.Values[i]) {
			t.Errorf("the running averages %s did not change", p.Name)
		}
	}
}

// step runs trainStep once and returns loss, weights and velocities.
func step(t *testing.T, cfg Config, c *net.Checkpoint, velocity net.Values, im Images, rate float32) net.Values {
	t.Helper()
	exec, err := NewExec(open(t, "go"), stepGraph(c.Params, cfg))
	demand.NoError(t, err)
	defer exec.Finalize()
	labels := make([]int32, im.Len())
	for i, y := range im.Labels {
		labels[i] = int32(y)
	}
	images := tensors.FromFlatDataAndDimensions(im.Pixels, im.Len(), 3, 32, 32)
	state := append(c.Values.Tensors(c.Params), velocity.Tensors(c.Params)...)
	values, err := net.RunValues(exec, images, labels, rate, state)
	demand.NoError(t, err)
	return values
}
