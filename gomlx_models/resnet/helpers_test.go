package resnet

import (
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/data/random"
	"tvps/gomlx_models/backend"
	"tvps/gomlx_models/net"

	"github.com/gomlx/compute"
	. "github.com/gomlx/gomlx/core/graph"
)

// open returns the named backend ("" for XLA).
func open(tb testing.TB, name string) compute.Backend { return backend.ForTest(tb, name).Backend }

// noise is n images of random pixels; image i has label i % 10.
func noise(n int) Images {
	rng := random.New(0, "resnet test", "noise")
	im := Images{Pixels: make([]byte, n*imageBytes), Labels: make([]uint8, n)}
	for i := range im.Pixels {
		im.Pixels[i] = byte(rng.IntN(256))
	}
	for i := range im.Labels {
		im.Labels[i] = uint8(i % classes)
	}
	return im
}

// darkAndBright is n images of two classes that are easy to separate: dark and bright.
func darkAndBright(n int) Images {
	im := noise(n)
	for i := range im.Labels {
		im.Labels[i] = uint8(i % 2)
		for j := range imageBytes {
			im.Pixels[i*imageBytes+j] = im.Pixels[i*imageBytes+j]/4 + 180*im.Labels[i]
		}
	}
	return im
}

// randomCheckpoint is a network with random values in all arrays, running averages included.
func randomCheckpoint(tb testing.TB, width int) *net.Checkpoint {
	tb.Helper()
	params, err := Params(open(tb, "go"), width)
	demand.NoError(tb, err)
	values := net.Init(params, 3, "resnet test")
	rng := random.New(0, "resnet test", "state")
	for i, p := range params {
		for j := range values[i] {
			switch {
			case strings.HasSuffix(p.Name, "variance"):
				values[i][j] = .5 + rng.Float32()
			case !p.Decay:
				values[i][j] += .3 * float32(rng.NormFloat64())
			}
		}
	}
	return &net.Checkpoint{Params: params, Values: values, Metadata: map[string]string{"made": "by a test"}}
}

// stepGraph is the graph function of a step. Inputs: images [batch, 3, 32, 32] uint8, labels [batch] int32, rate
// (float32 scalar), state; results: loss, then the state after the step.
func stepGraph(params []net.Param, cfg Config) func([]*Node) []*Node {
	return func(in []*Node) []*Node {
		loss, next := trainStep(params, cfg)(in[3:], nil, in[:3], nil, nil)
		return append([]*Node{loss}, next...)
	}
}
