package resnet

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"tvps/data/random"
	"tvps/gomlx_models/loop"
	"tvps/gomlx_models/net"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// Images is a list of labelled images in CIFAR-10's byte order: for each image the red, green
// and blue plane of 32 rows of 32 pixels.
type Images struct {
	Pixels []byte  // [n * 3072]
	Labels []uint8 // [n], 0..classes-1
}

// Len is the number of images.
func (im Images) Len() int { return len(im.Labels) }

const imageBytes = 3 * 32 * 32

// Config holds the settings of Pretrain.
type Config struct {
	Width       int     // channels of the first stage; 64 is ResNet-18
	Epochs      int     // passes over the training images
	Batch       int     // images per step
	PeakRate    float64 // highest learning rate of the one-cycle schedule
	Warmup      float64 // share of the steps in which the rate rises
	Momentum    float64 // Nesterov momentum of SGD
	WeightDecay float64 // L2 penalty on weights (not on biases and norms)
	Seed        int64   // of initial weights, order and augmentation; by convention the split seed, too
}

// DefaultConfig holds the settings of the committed checkpoint, at any width.
func DefaultConfig(width int) Config {
	return Config{Width: width, Epochs: 24, Batch: 128, PeakRate: .1, Warmup: .25, Momentum: .9, WeightDecay: 5e-4}
}

// Validate returns an error if a setting is out of range.
func (c Config) Validate() error {
	switch {
	case c.Width < 1 || c.Width > 1024:
		return fmt.Errorf("resnet: width is %d; it must be between 1 and 1024", c.Width)
	case c.Epochs < 1:
		return fmt.Errorf("resnet: epochs is %d; it must be at least 1", c.Epochs)
	case c.Batch < 1:
		return fmt.Errorf("resnet: batch is %d; it must be at least 1", c.Batch)
	case c.Seed < 0:
		return fmt.Errorf("resnet: seed is %d; it must be at least 0", c.Seed)
	}
	return nil
}

// rate is the learning rate of a step: a one-cycle schedule with a linear rise to the peak, then
// a cosine to zero.
func (c Config) rate(step, steps int) float64 {
	at := (float64(step) + .5) / float64(steps)
	if at < c.Warmup {
		return c.PeakRate * at / c.Warmup
	}
	return c.PeakRate * .5 * (1 + math.Cos(math.Pi*(at-c.Warmup)/(1-c.Warmup)))
}

// Progress is one report of Pretrain.
type Progress struct {
	Epoch, Epochs int
	Step, Steps   int
	Loss          float64       // mean training loss of this epoch so far
	Left          time.Duration // estimated time left
}

// State is the state of a training after an epoch: everything needed to continue it.
type State struct {
	Config   Config
	Epoch    int        // epochs done
	Weights  net.Values // in the order of Params(width)
	Velocity net.Values // momentum of SGD
	Loss     float64    // mean training loss of the last epoch done
}

// Params returns the parameters of the whole network (full) at a width, in a fixed order.
func Params(backend compute.Backend, width int) ([]net.Param, error) {
	return net.Declare(backend, []shapes.Shape{shapes.Make(dtypes.Uint8, 1, 3, 32, 32)},
		func(s *net.Scope, in []*Node) { full(s, in[0], width) })
}

// Pretrain trains the network up to cfg.Epochs, from scratch or from the state from if that is
// not nil. It calls report after every step, and save with the state after every epoch. A
// training continued from a saved state gives the same result, bit for bit, as an uninterrupted
// one.
//
// It fails if ctx is cancelled (with its error), if the loss is not finite, if save fails, and
// if the backend fails. The images fill a batch, and the settings are valid.
func Pretrain(ctx context.Context, backend compute.Backend, cfg Config, train Images, from *State,
	save func(*State) error, report func(Progress)) (*State, error) {
	params, err := Params(backend, cfg.Width)
	if err != nil {
		return nil, err
	}
	state := from
	if state == nil {
		state = &State{Config: cfg, Weights: net.Init(params, cfg.Seed, "resnet", cfg.Width)}
		for _, p := range params {
			state.Velocity = append(state.Velocity, make([]float32, p.Size()))
		}
	}
	trained := slices.Clone(params)
	for _, p := range params {
		trained = append(trained, net.Param{Name: velocityPrefix + p.Name, Dims: p.Dims})
	}
	trainer := loop.New(backend, loop.Problem{Name: "resnet", Params: trained, Step: trainStep(params, cfg), Feeds: 3,
		Dispatch: true}, 1)
	defer trainer.Close()
	begin, first := time.Now(), state.Epoch
	perEpoch := train.Len() / cfg.Batch // the incomplete last batch is left out
	for state.Epoch < cfg.Epochs {
		epoch := state.Epoch
		rng := random.New(cfg.Seed, "resnet", "epoch", epoch)
		order := rng.Perm(train.Len())
		feed := func(step, _ int) []*tensors.Tensor {
			images, labels := train.augmented(rng, order[step*cfg.Batch:(step+1)*cfg.Batch])
			rate := float32(cfg.rate(epoch*perEpoch+step, cfg.Epochs*perEpoch))
			return []*tensors.Tensor{images, labels, tensors.FromFlatDataAndDimensions([]float32{rate}, 1)}
		}
		total := 0.0
		reportStep := func(steps int, loss float64) {
			total += loss
			done := (epoch-first)*perEpoch + steps
			left := (cfg.Epochs-first)*perEpoch - done
			each := time.Since(begin) / time.Duration(done)
			report(Progress{Epoch: epoch + 1, Epochs: cfg.Epochs, Step: steps, Steps: perEpoch,
				Loss: total / float64(steps), Left: each * time.Duration(left)})
		}
		values, _, err := trainer.Fit(ctx, slices.Concat(state.Weights, state.Velocity), nil, cfg.PeakRate, perEpoch, feed,
			reportStep)
		if err != nil {
			return nil, fmt.Errorf("epoch %d: %w", epoch+1, err)
		}
		state = &State{Config: cfg, Epoch: epoch + 1, Weights: values[:len(params)], Velocity: values[len(params):],
			Loss: total / float64(perEpoch)}
		if err := save(state); err != nil {
			return nil, err
		}
	}
	return state, nil
}

// trainStep is one step of SGD with Nesterov momentum. state: weights, then velocities; feeds: images
// [batch, 3, 32, 32] uint8, labels [batch] int32, rate (float32 scalar).
func trainStep(params []net.Param, cfg Config) loop.Step {
	return func(state, _, feeds []*Node, _, _ *Node) (*Node, []*Node) {
		weights, velocity, rate := state[:len(params)], state[len(params):], feeds[2]
		images, labels := feeds[0], feeds[1]
		s := net.Bind(images.Graph(), params, weights, true)
		loss := ReduceAllMean(net.CrossEntropy(full(s, images, cfg.Width), labels))
		updated := s.Updated(params, weights)
		trained, newVelocity := loop.Trainable(params), slices.Clone(velocity)
		for k, g := range Gradient(loss, loop.Pick(weights, trained)...) {
			i := trained[k]
			if params[i].Decay {
				g = Add(g, MulScalar(weights[i], cfg.WeightDecay))
			}
			newVelocity[i] = Add(MulScalar(velocity[i], cfg.Momentum), g)
			step := Add(g, MulScalar(newVelocity[i], cfg.Momentum))
			updated[i] = Sub(weights[i], Mul(step, rate))
		}
		return loss, append(updated, newVelocity...)
	}
}

// augmented gathers images with the usual augmentation: a random crop after padding with 4 black
// pixels on each side, and a horizontal flip with probability 1/2. images: [1, batch, 3, 32, 32]
// uint8, labels: [1, batch] int32.
func (im Images) augmented(rng *rand.Rand, index []int) (images, labels *tensors.Tensor) {
	pixels := make([]uint8, len(index)*imageBytes)
	y := make([]int32, len(index))
	for i, k := range index {
		y[i] = int32(im.Labels[k])
		augment(pixels[i*imageBytes:(i+1)*imageBytes], im.Pixels[k*imageBytes:(k+1)*imageBytes],
			rng.IntN(9)-4, rng.IntN(9)-4, rng.IntN(2) == 1)
	}
	images = tensors.FromFlatDataAndDimensions(pixels, 1, len(index), 3, 32, 32)
	return images, tensors.FromFlatDataAndDimensions(y, 1, len(index))
}

// augment copies src to dst, moved up by dy and left by dx pixels, and then mirrored
// horizontally if flip is true. dst must be black.
func augment(dst, src []byte, dy, dx int, flip bool) {
	for c := range 3 {
		for y := range 32 {
			sy := y + dy
			if sy < 0 || sy >= 32 {
				continue
			}
			row := src[c*1024+sy*32 : c*1024+sy*32+32]
			out := dst[c*1024+y*32 : c*1024+y*32+32]
			for x := range 32 {
				sx := x + dx
				if sx < 0 || sx >= 32 {
					continue
				}
				if flip {
					out[31-x] = row[sx]
				} else {
					out[x] = row[sx]
				}
			}
		}
	}
}
