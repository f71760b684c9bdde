package continual

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"tvps/data/cifar10"
	"tvps/data/random"
	"tvps/gomlx_models/backend/backendtest"
	"tvps/gomlx_models/net"
	"tvps/gomlx_models/propensity"
	"tvps/replicate/runs"

	"github.com/gomlx/compute/dtypes/float16"
	"github.com/gomlx/gomlx/core/tensors"
)

// open returns the named backend ("" for XLA).
var open = backendtest.Open

// gaussianSettings is panel a in miniature.
func gaussianSettings() Settings {
	return Settings{Scenario: "gaussian", Steps: 5, Turn: 50, N: 40, TestN: 60, Features: "auto", Data: "auto",
		Target: -1, MMDPast: 20, Permutations: 10, Reading: "listing", Evaluate: "draw",
		Network: "mlp", Hidden: 8, Width: 16, Checkpoint: "committed", Start: "pretrained", Block: "basic", GJoin: "first", GStart: "scratch", BatchNorm: "batch",
		Rate: 9e-3, Batch: 16, Epochs: 5, MaxUpdates: 30, FinetuneEpochs: 3,
		Method: "method2", GNetwork: "mlp", GInput: "features", GHidden: 8, GLabel: true, GTime: "onehot", Frequencies: 2,
		GRate: 3e-3, GUpdates: 20, GBatch: 32, Window: 1, Clip: "min1", Stride: 1, Stack: 1}
}

// imageSettings is panel c in miniature.
func imageSettings() Settings {
	s := gaussianSettings()
	s.Scenario, s.Network, s.Width, s.Evaluate, s.TestN, s.Steps, s.MaxUpdates = "cifar10b", "head", 1, "weighted", 0, 7, 8
	return s
}

// newBench is the workplace of a learner on the Gaussian, with nothing shared.
func newBench(tb testing.TB, engine string, s Settings, name string, seed int64) *bench {
	tb.Helper()
	if err := s.Validate(); err != nil {
		tb.Fatal(err)
	}
	b, err := workplace(&Env{Backend: open(tb, engine)}, s, name, seed)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// workplace is a bench on an engine that is not given back.
func workplace(e *Env, s Settings, name string, seed int64) (*bench, error) {
	engine, _, err := e.engine(s)
	if err != nil {
		return nil, err
	}
	return e.bench(context.Background(), engine, s, name, seed, "")
}

// imageBench is the workplace of a learner on images that a test has made.
func imageBench(tb testing.TB, engine string, s Settings, im *images) *bench {
	tb.Helper()
	stream, err := im.stream(s, 0)
	if err != nil {
		tb.Fatal(err)
	}
	c, err := NewClassifier(open(tb, engine).Backend, s, stream.Pool.Shape(), stream.Classes)
	if err != nil {
		tb.Fatal(err)
	}
	return &bench{settings: s, stream: stream, classifier: c, start: func(t int) net.Values { return c.Init(0, t) }}
}

// fakeImages are nTrain and nTest random images of cycling classes, and features of
// so many channels that have nothing to do with the pixels but do show the class.
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
	im := &images{data: data, gPools: map[string]*propensity.Pool{}, channel: channels}
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
	im.pooled = pool(features, channels)
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

// accuracyOf trains and tests a learner at one step.
func accuracyOf(tb testing.TB, b *bench, l learner, t int) float64 {
	tb.Helper()
	rows, err := b.step(context.Background(), l, t)
	if err != nil {
		tb.Fatal(err)
	}
	return metric(tb, rows, "accuracy")
}

func metric(tb testing.TB, rows []runs.Row, name string) float64 {
	tb.Helper()
	i := slices.IndexFunc(rows, func(r runs.Row) bool { return r.Metric == name })
	if i < 0 {
		tb.Fatalf("the rows %v lack %s", rows, name)
	}
	return rows[i].Value
}
