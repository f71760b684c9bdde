package metaweight

import (
	"math"
	"testing"

	"tvps/ci/demand"
	"tvps/data/random"
	"tvps/gomlx_models/backend"
	"tvps/gomlx_models/net"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

var backends = []string{"", backend.Go}

// open returns the named backend, "" for the default one.
func open(tb testing.TB, name string) compute.Backend { return backend.ForTest(tb, name).Backend }

// newModel is a linear classifier (no hidden layers) or an MLP on rows of dim values. It
// has two arrays that are not trained: a shift of the inputs, first in the list, and a
// count of the updates, which every update increases.
func newModel(tb testing.TB, dim, classes int, hidden ...int) Model {
	tb.Helper()
	losses := func(s *net.Scope, pool, row, label *Node) *Node {
		shift := s.State("shift", net.Constant(0), dim)
		x := Sub(Gather(pool, ExpandAxes(row, -1)), ExpandLeftToRank(shift, 2))
		for i, width := range hidden {
			x = net.Relu(net.Dense(s.In([]string{"layer1", "layer2"}[i]), x, width, net.He))
		}
		s.Update("count", AddScalar(s.State("count", net.Constant(0)), 1))
		return net.CrossEntropy(net.Dense(s.In("output"), x, classes, net.Lecun), label)
	}
	batch := shapes.Make(dtypes.Int32, 1)
	params, err := net.Declare(open(tb, backend.Go), []shapes.Shape{shapes.Make(dtypes.Float32, 1, dim), batch, batch},
		func(s *net.Scope, in []*Node) { losses(s, in[0], in[1], in[2]) })
	demand.NoError(tb, err)
	return Model{Params: params, Losses: losses}
}

func newTrainer(tb testing.TB, name string, cfg Config, model Model) *Trainer {
	tb.Helper()
	t, err := New(open(tb, name), cfg, model)
	demand.NoError(tb, err)
	tb.Cleanup(t.Close)
	return t
}

// set is a small pool of random rows with labels. The first rows are the training samples, the
// others the meta set.
type set struct {
	x          []float32
	dim        int
	data, meta Samples
}

func newSet(dim, classes, train, meta int) set {
	rng := random.New(7, "metaweight test")
	s := set{x: normal(dim*(train+meta), 1, "pool"), dim: dim}
	for i := range train + meta {
		to := &s.data
		if i >= train {
			to = &s.meta
		}
		to.Row, to.Label = append(to.Row, int32(i)), append(to.Label, int32(rng.IntN(classes)))
	}
	return s
}

func (s set) pool() *tensors.Tensor {
	return tensors.FromFlatDataAndDimensions(s.x, len(s.x)/s.dim, s.dim)
}

// normal draws n values of N(0, std^2).
func normal(n int, std float64, purpose ...any) []float32 {
	rng := random.New(11, purpose...)
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(std * rng.NormFloat64())
	}
	return out
}

// arrays draws values for each parameter.
func arrays(params []net.Param, std float64, purpose string) net.Values {
	out := make(net.Values, len(params))
	for i, p := range params {
		out[i] = normal(p.Size(), std, purpose, i)
	}
	return out
}

func float64s(v net.Values) [][]float64 {
	out := make([][]float64, len(v))
	for i := range v {
		out[i] = make([]float64, len(v[i]))
		for j, x := range v[i] {
			out[i][j] = float64(x)
		}
	}
	return out
}

// near fails the test if a value differs by more than tol times the largest wanted value of its
// array.
func near(t *testing.T, what string, got net.Values, want [][]float64, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d arrays, want %d", what, len(got), len(want))
	}
	for i := range want {
		largest := 0.0
		for _, w := range want[i] {
			largest = max(largest, math.Abs(w))
		}
		for j, w := range want[i] {
			if d := math.Abs(float64(got[i][j]) - w); !(d <= tol*largest) {
				t.Errorf("%s: array %d[%d] is %v, want %v", what, i, j, got[i][j], w)
			}
		}
	}
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
