package supervised

import (
	"math"
	"slices"
	"testing"

	"tvps/ci/demand"
	"tvps/data/random"
	"tvps/gomlx_models/backend"
	"tvps/gomlx_models/net"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// metaReference computes Meta-Weight-Net of an MLP in float64. All gradients are central differences, also that through
// the trial step, so no derivative is written by hand.
type metaReference struct {
	cfg            metaConfig
	s              metaSet     // data and meta are the minibatches of the next update
	theta          [][]float64 // as returned by layers
	v              [][]float64 // weights [1, h], biases [h], weights [h, 1], bias [1]
	velocity, m, u [][]float64
	step           int
}

// layers returns shift, then weights and biases of each layer: theta without the count.
func layers(model metaModel, theta net.Values) (out [][]float64) {
	for i, values := range float64s(theta) {
		if model.Params[i].Name != "count" {
			out = append(out, values)
		}
	}
	return out
}

// loss is the cross-entropy of one sample.
func (h *metaReference) loss(theta [][]float64, row, label int32) float64 {
	x := make([]float64, h.s.dim)
	for i := range x {
		x[i] = float64(h.s.x[int(row)*h.s.dim+i]) - theta[0][i]
	}
	for layer := 1; layer < len(theta); layer += 2 {
		if layer > 1 {
			for i := range x {
				x[i] = max(0, x[i])
			}
		}
		x = dense(x, theta[layer], theta[layer+1])
	}
	sum := 0.0
	for _, f := range x {
		sum += math.Exp(f)
	}
	return math.Log(sum) - x[label]
}

func dense(x, w, b []float64) []float64 {
	out := slices.Clone(b)
	for i := range x {
		for j := range out {
			out[j] += x[i] * w[i*len(out)+j]
		}
	}
	return out
}

// weight is V(loss).
func weight(v [][]float64, loss float64) float64 {
	hidden := dense([]float64{loss}, v[0], v[1])
	for j := range hidden {
		hidden[j] = max(0, hidden[j])
	}
	return 1 / (1 + math.Exp(-dense(hidden, v[2], v[3])[0]))
}

// differences is the gradient of f with respect to arrays, by central differences.
func differences(arrays [][]float64, step float64, f func() float64) [][]float64 {
	grad := zerosLike(arrays)
	for i := range arrays {
		for j, at := range arrays[i] {
			arrays[i][j] = at + step
			up := f()
			arrays[i][j] = at - step
			grad[i][j] = (up - f()) / (2 * step)
			arrays[i][j] = at
		}
	}
	return grad
}

// gradient is that of the weighted loss with respect to theta. The weights are constants.
func (h *metaReference) gradient(v [][]float64) [][]float64 {
	data := h.s.data
	weights := make([]float64, len(data.Row))
	for i := range weights {
		weights[i] = weight(v, h.loss(h.theta, data.Row[i], data.Label[i]))
	}
	return differences(h.theta[1:], 1e-5, func() (mean float64) {
		for i, w := range weights {
			mean += w * h.loss(h.theta, data.Row[i], data.Label[i]) / float64(len(weights))
		}
		return mean
	})
}

// meta is the mean meta loss after the trial step. The inputs of V are the losses at theta; the
// differences do not change them.
func (h *metaReference) meta(v [][]float64) float64 {
	hat := append([][]float64{h.theta[0]}, zerosLike(h.theta[1:])...)
	addTo(hat[1:], h.theta[1:], 1)
	addTo(hat[1:], h.gradient(v), -h.cfg.Rate)
	sum := 0.0
	for i, row := range h.s.meta.Row {
		sum += h.loss(hat, row, h.s.meta.Label[i])
	}
	return sum / float64(len(h.s.meta.Row))
}

// metaGradient is the gradient of meta with respect to V.
func (h *metaReference) metaGradient() [][]float64 {
	return differences(h.v, 1e-4, func() float64 { return h.meta(h.v) })
}

// update is one update: the three steps in the comment of metaTrainer.
func (h *metaReference) update() {
	h.adam(h.metaGradient())
	h.sgd(h.gradient(h.v))
	h.step++
}

// adam follows the documentation of torch.optim.Adam (weight_decay).
func (h *metaReference) adam(grad [][]float64) {
	t := float64(h.step + 1)
	for i := range grad {
		for j, g := range grad[i] {
			g += h.cfg.MetaDecay * h.v[i][j]
			h.m[i][j] = .9*h.m[i][j] + .1*g
			h.u[i][j] = .999*h.u[i][j] + .001*g*g
			mHat, uHat := h.m[i][j]/(1-math.Pow(.9, t)), h.u[i][j]/(1-math.Pow(.999, t))
			h.v[i][j] -= h.cfg.MetaRate * mHat / (math.Sqrt(uHat) + 1e-8)
		}
	}
}

// sgd follows the documentation of torch.optim.SGD (momentum, weight_decay).
func (h *metaReference) sgd(grad [][]float64) {
	for i := range grad {
		for j, g := range grad[i] {
			g += h.cfg.Decay * h.theta[1+i][j]
			h.velocity[i][j] = h.cfg.Momentum*h.velocity[i][j] + g
			h.theta[1+i][j] -= h.cfg.Rate * h.velocity[i][j]
		}
	}
}

func zerosLike(a [][]float64) [][]float64 {
	out := make([][]float64, len(a))
	for i := range a {
		out[i] = make([]float64, len(a[i]))
	}
	return out
}

func addTo(a, b [][]float64, factor float64) {
	for i := range a {
		floats.AddScaled(a[i], factor, b[i])
	}
}

// small has rates and decays so large that one update changes all values visibly.
func small() metaConfig {
	return metaConfig{Hidden: 6, Batch: 4, MetaBatch: 3, Rate: .5, Momentum: .8, Decay: .03, MetaRate: .02, MetaDecay: 1e-3}
}

// newMetaModel is a linear classifier (no hidden layers) or an MLP on rows of dim values. It
// has two arrays that are not trained: a shift of the inputs, first in the list, and a
// count of the updates, which every update increases.
func newMetaModel(tb testing.TB, dim, classes int, hidden ...int) metaModel {
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
	params, err := net.Declare(open(tb, backend.Go).Backend, []shapes.Shape{shapes.Make(dtypes.Float32, 1, dim), batch, batch},
		func(s *net.Scope, in []*Node) { losses(s, in[0], in[1], in[2]) })
	demand.NoError(tb, err)
	return metaModel{Params: params, Losses: losses}
}

func testMetaTrainer(tb testing.TB, name string, cfg metaConfig, model metaModel) *metaTrainer {
	tb.Helper()
	t, err := newMetaTrainer(open(tb, name).Backend, cfg, model)
	demand.NoError(tb, err)
	tb.Cleanup(t.loop.Close)
	return t
}

// metaSet is a small pool of random rows with labels. The first rows are the training samples, the
// others the meta set.
type metaSet struct {
	x          []float32
	dim        int
	data, meta Samples
}

func newMetaSet(dim, classes, train, meta int) metaSet {
	rng := random.New(7, "metaweight test")
	s := metaSet{x: normal(dim*(train+meta), 1, "pool"), dim: dim}
	for i := range train + meta {
		to := &s.data
		if i >= train {
			to = &s.meta
		}
		to.Row, to.Label = append(to.Row, int32(i)), append(to.Label, int32(rng.IntN(classes)))
	}
	return s
}

func (s metaSet) pool() *tensors.Tensor {
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

// TestMetaWeightNet compares whole trainings with the reference: initial values, batches, rate, step
// count, moments and the updates of arrays that are not trained.
func TestMetaWeightNet(t *testing.T) {
	cfg, s := small(), newMetaSet(2, 3, 10, 5)
	for _, name := range []string{"", backend.Go} {
		tr := testMetaTrainer(t, name, cfg, newMetaModel(t, 2, 3, 5, 4))
		start := arrays(tr.model.Params, .7, "state")
		theta, v, err := tr.Fit(t.Context(), s.pool(), start, s.data, s.meta, 7, 3)
		demand.NoError(t, err)
		h := &metaReference{cfg: cfg, s: s, theta: layers(tr.model, start), v: float64s(net.Init(tr.v, 3, "metaweight"))}
		h.velocity, h.m, h.u = zerosLike(h.theta[1:]), zerosLike(h.v), zerosLike(h.v)
		data := minibatches(s.data, nil, 4, random.New(3, "metaweight", "training"))
		meta := minibatches(s.meta, nil, 3, random.New(3, "metaweight", "meta"))
		for range 7 {
			h.s.data.Row, h.s.data.Label = flat(data(1, 1))
			h.s.meta.Row, h.s.meta.Label = flat(meta(1, 1))
			h.update()
		}
		count := slices.IndexFunc(tr.model.Params, func(p net.Param) bool { return p.Name == "count" })
		counted := []float64{float64(start[count][0]) + 7}
		near(t, name+" theta", theta, slices.Insert(slices.Clone(h.theta), count, counted), 1e-4)
		near(t, name+" V", v, h.v, 1e-4)
	}
}

func flat(rowAndLabel []*tensors.Tensor) (rows, labels []int32) {
	return tensors.MustCopyFlatData[int32](rowAndLabel[0]), tensors.MustCopyFlatData[int32](rowAndLabel[1])
}

// TestInitialVariancesOfV: 1/(3 fan-in) for weights and biases, as in PyTorch's linear layers.
func TestInitialVariancesOfV(t *testing.T) {
	cfg := metaConfig{Hidden: 3000, Batch: 1, MetaBatch: 1, Rate: 1, MetaRate: 1}
	tr := testMetaTrainer(t, backend.Go, cfg, newMetaModel(t, 1, 2))
	v := net.Init(tr.v, 0, "test")
	for i, want := range []float64{1. / 3, 1. / 3, 1. / 9000} {
		squares := make([]float64, len(v[i]))
		for j, x := range v[i] {
			squares[j] = float64(x) * float64(x)
		}
		if got := stat.Mean(squares, nil); math.Abs(got-want) > .1*want {
			t.Errorf("array %s has variance %v, want %v", tr.v[i].Name, got, want)
		}
	}
	if bias := math.Abs(float64(v[3][0])); bias == 0 || bias > 5/math.Sqrt(9000) {
		t.Errorf("the last bias starts at %v, want not 0 and at most 5 standard deviations", bias)
	}
}
