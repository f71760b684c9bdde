package supervised

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"tvps/ci/demand"
	"tvps/data/cifar10"
	"tvps/data/random"
	"tvps/gomlx_models/backend"
	"tvps/gomlx_models/net"
	"tvps/replicate/experiment"
	"tvps/replicate/runs"

	"github.com/gomlx/compute/dtypes/float16"
	"github.com/gomlx/gomlx/core/tensors"
)

// open returns the named backend ("" for XLA).
var open = backend.ForTest

// gaussianSettings is panel a in miniature.
func gaussianSettings() Settings {
	return Settings{Scenario: "gaussian", Steps: 5, Turn: 50, N: 40, TestN: 60, Features: "auto", Data: "auto",
		Target: -1, MMDPast: 20, MMDSamples: heldOut, Permutations: 10, Reading: "listing", Evaluate: "draw",
		Network: "mlp", Hidden: 8, Width: 16, Checkpoint: "committed", Start: "pretrained", Block: "basic",
		GJoin: "first", GStart: "scratch", GSchedule: "constant", BatchNorm: "batch", Convolution: "direct",
		Rate: 9e-3, Batch: 16, Epochs: 5, MaxUpdates: 30, FinetuneEpochs: 3,
		Method: "method2", GNetwork: "mlp", GInput: "features", GHidden: 8, GLabel: true, GTime: "onehot", Frequencies: 2,
		GRate: 3e-3, GUpdates: 20, GBatch: 32, Window: 1, Clip: "min1", Stride: 1}
}

// imageSettings is panel c in miniature.
func imageSettings() Settings {
	s := gaussianSettings()
	s.Scenario, s.Network, s.Evaluate = "cifar10b", "head", "weighted"
	s.Width, s.TestN, s.Steps, s.MaxUpdates = 1, 0, 7, 8
	return s
}

// newHost returns a host of which nothing is loaded or compiled.
func newHost(tb testing.TB, backend string) *experiment.Host {
	return &experiment.Host{Backend: open(tb, backend), CacheDir: tb.TempDir()}
}

// named returns the learner of a series that must exist.
func named(series string) Learner {
	l, ok := learners.Of(series)
	if !ok {
		panic(series)
	}
	return l
}

// shared are the hosts of tests that need none of their own, by backend: programs are compiled once.
var shared = map[string]*experiment.Host{}

// sharedHost returns a host without a cache folder.
func sharedHost(tb testing.TB, backend string) *experiment.Host {
	tb.Helper()
	if shared[backend] == nil {
		shared[backend] = &experiment.Host{Backend: open(tb, backend)}
	}
	return shared[backend]
}

// newRun prepares a run.
func newRun(tb testing.TB, h *experiment.Host, s Settings, series string, seed int64, measure string) *RunContext {
	tb.Helper()
	demand.NoError(tb, s.Validate())
	x, err := s.config(series, measure)
	demand.NoError(tb, err)
	engine, release, err := enginesOf(h).take(s)
	demand.NoError(tb, err)
	defer release() // tests use one run at a time
	run, err := x.on(h).newRunContext(context.Background(), engine, seed)
	demand.NoError(tb, err)
	return run
}

// gaussianRun prepares a run on the Gaussian.
func gaussianRun(tb testing.TB, backend string, s Settings, series string, seed int64) *RunContext {
	tb.Helper()
	return newRun(tb, sharedHost(tb, backend), s, series, seed, "")
}

// imageRun prepares a run on images that a test has made.
func imageRun(tb testing.TB, backend string, s Settings, im *images) *RunContext {
	tb.Helper()
	stream, err := im.stream(s, 0)
	demand.NoError(tb, err)
	c, err := NewClassifier(open(tb, backend).Backend, s, stream.Pool.Shape(), stream.Classes)
	demand.NoError(tb, err)
	return &RunContext{Settings: s, Stream: stream, Classifier: c, Start: func(t int) net.Values { return c.Init(0, t) }}
}

// fakeImages returns random images of cycling classes, and features with the given number of channels that do not
// depend on the pixels but show the class.
func fakeImages(tb testing.TB, nTrain, nTest, channels int) *images {
	tb.Helper()
	rng := random.New(0, "continual test", "images")
	set := func(n int) cifar10.Set {
		s := cifar10.Set{Pixels: make([]byte, n*cifar10.Pixels), Labels: make([]uint8, n), Index: make([]int32, n)}
		for i := range s.Pixels {
			s.Pixels[i] = byte(rng.IntN(256))
		}
		for i := range n {
			s.Labels[i], s.Index[i] = uint8(i*7%cifar10.Classes), int32(i)
		}
		return s
	}
	data := &cifar10.Data{Train: set(nTrain), Test: set(nTest)}
	im := &images{data: data, gPools: new(experiment.Memo), channels: channels}
	for _, label := range slices.Concat(data.Train.Labels, data.Test.Labels) {
		im.labels = append(im.labels, int32(label))
	}
	features := make([]float16.Float16, (nTrain+nTest)*16*channels)
	for i := range features {
		shown := 0.0
		if int32(i%channels) == im.labels[i/(16*channels)]%int32(channels) {
			shown = 1
		}
		features[i].SetFloat32(float32(shown + .5*rng.NormFloat64()))
	}
	im.pool = tensors.FromFlatDataAndDimensions(features, nTrain+nTest, 16*channels)
	im.pooled = averaged(features, channels)
	return im
}

// sameBits compares values bit for bit.
func sameBits(a, b net.Values) error {
	if len(a) != len(b) {
		return fmt.Errorf("%d arrays and %d", len(a), len(b))
	}
	for i := range a {
		if len(a[i]) != len(b[i]) {
			return fmt.Errorf("array %d has %d values and %d", i, len(a[i]), len(b[i]))
		}
		for j := range a[i] {
			if math.Float32bits(a[i][j]) != math.Float32bits(b[i][j]) {
				return fmt.Errorf("array %d, value %d: %v and %v", i, j, a[i][j], b[i][j])
			}
		}
	}
	return nil
}

// with returns the run with another learner.
func (run RunContext) with(l Learner) *RunContext {
	run.Learner = l
	return &run
}

// accuracyOf trains and tests a learner at one step.
func accuracyOf(tb testing.TB, run *RunContext, l Learner, t int) float64 {
	tb.Helper()
	rows, err := run.with(l).step(context.Background(), t)
	demand.NoError(tb, err)
	return metric(tb, rows, "accuracy")
}

// trained returns what a learner has learned at one step.
func trained(tb testing.TB, run *RunContext, l Learner, t int) net.Values {
	tb.Helper()
	values, _, err := run.with(l).fit(context.Background(), t)
	demand.NoError(tb, err)
	return values
}

// metric returns the value of a metric that the rows must have.
func metric(tb testing.TB, rows []runs.Row, name string) float64 {
	tb.Helper()
	i := slices.IndexFunc(rows, func(r runs.Row) bool { return r.Metric == name })
	if i < 0 {
		tb.Fatalf("the rows %v lack %s", rows, name)
	}
	return rows[i].Value
}
