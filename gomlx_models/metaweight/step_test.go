package metaweight

import (
	"math"
	"slices"
	"testing"

	"tvps/data/random"
	"tvps/gomlx_models/net"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// reference computes Meta-Weight-Net of a linear classifier in float64, from the formulas. The
// arrays are those of Trainer.problem: theta = shift [dim], count, weights [dim, classes], biases
// [classes]; v = weights [1, h], biases [h], weights [h, 1], bias [1].
type reference struct {
	cfg                Config
	x                  []float32
	dim, classes       int
	theta, v           [][]float64
	velocity, m, u     [][]float64
	step               int
	row, label         []int32
	metaRow, metaLabel []int32
}

// sample returns the loss of one sample and its gradient with respect to weights and biases.
func (h *reference) sample(w, b []float64, row, label int32) (loss float64, grad [][]float64) {
	logits, x := slices.Clone(b), make([]float64, h.dim)
	for i := range x {
		x[i] = float64(h.x[int(row)*h.dim+i]) - h.theta[0][i]
		for c := range logits {
			logits[c] += x[i] * w[i*h.classes+c]
		}
	}
	sum := 0.0
	for _, f := range logits {
		sum += math.Exp(f)
	}
	grad = [][]float64{make([]float64, len(w)), make([]float64, len(b))}
	for c, f := range logits {
		d := math.Exp(f) / sum
		if c == int(label) {
			d--
		}
		grad[1][c] = d
		for i := range x {
			grad[0][i*h.classes+c] = x[i] * d
		}
	}
	return math.Log(sum) - logits[label], grad
}

// weight returns V(loss) and its gradient with respect to the four arrays of V.
func (h *reference) weight(loss float64) (weight float64, grad [][]float64) {
	w1, b1, w2, out := h.v[0], h.v[1], h.v[2], h.v[3][0]
	for j := range w1 {
		out += w2[j] * max(0, w1[j]*loss+b1[j])
	}
	weight = 1 / (1 + math.Exp(-out))
	slope := weight * (1 - weight)
	grad = zerosLike(h.v)
	grad[3][0] = slope
	for j := range w1 {
		if z := w1[j]*loss + b1[j]; z > 0 {
			grad[0][j], grad[1][j], grad[2][j] = slope*w2[j]*loss, slope*w2[j], slope*z
		}
	}
	return weight, grad
}

// update is one update: the three steps of the package comment, with the gradient through the
// trial step by
//
//	d meta / d V(L_i) = -rate/n <grad meta(theta_hat), grad L_i(theta)>.
func (h *reference) update() (loss float64) {
	n := float64(len(h.row))
	w, b := h.theta[2], h.theta[3]
	losses, grads := make([]float64, len(h.row)), make([][][]float64, len(h.row))
	hat := [][]float64{slices.Clone(w), slices.Clone(b)}
	for i := range h.row {
		losses[i], grads[i] = h.sample(w, b, h.row[i], h.label[i])
		v, _ := h.weight(losses[i])
		addTo(hat, grads[i], -h.cfg.Rate*v/n)
	}
	metaGrad := zerosLike(hat)
	for j := range h.metaRow {
		_, g := h.sample(hat[0], hat[1], h.metaRow[j], h.metaLabel[j])
		addTo(metaGrad, g, 1/float64(len(h.metaRow)))
	}
	vGrad := zerosLike(h.v)
	for i := range h.row {
		_, g := h.weight(losses[i])
		addTo(vGrad, g, -h.cfg.Rate/n*dot(metaGrad, grads[i]))
	}
	h.adam(vGrad)
	total := zerosLike(hat)
	for i := range h.row {
		v, _ := h.weight(losses[i])
		addTo(total, grads[i], v/n)
		loss += v * losses[i] / n
	}
	h.sgd(total)
	h.theta[1][0]++
	h.step++
	return loss
}

// adam follows the documentation of torch.optim.Adam (weight_decay).
func (h *reference) adam(grad [][]float64) {
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
func (h *reference) sgd(grad [][]float64) {
	for i := range grad {
		for j, g := range grad[i] {
			g += h.cfg.Decay * h.theta[2+i][j]
			h.velocity[i][j] = h.cfg.Momentum*h.velocity[i][j] + g
			h.theta[2+i][j] -= h.cfg.Rate * h.velocity[i][j]
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
		for j := range a[i] {
			a[i][j] += factor * b[i][j]
		}
	}
}

func dot(a, b [][]float64) float64 {
	sum := 0.0
	for i := range a {
		for j := range a[i] {
			sum += a[i][j] * b[i][j]
		}
	}
	return sum
}

// small has rates and decays so large that one update changes all values visibly.
func small() Config {
	return Config{Hidden: 6, Batch: 4, MetaBatch: 3, Rate: .5, Momentum: .8, Decay: .03, MetaRate: .02, MetaDecay: 1e-3}
}

// run executes a graph function once.
func run(t *testing.T, name string, fn func(in []*Node) []*Node, args ...any) net.Values {
	t.Helper()
	exec, err := NewExec(open(t, name), fn)
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	out, err := net.Run(exec, args...)
	if err != nil {
		t.Fatal(err)
	}
	values, err := net.FromTensors(out)
	if err != nil {
		t.Fatal(err)
	}
	return values
}

// TestOneUpdate compares the whole state after one update in the middle of a training (moments
// are not zero) with the reference.
func TestOneUpdate(t *testing.T) {
	cfg, s := small(), newSet(2, 3, 4, 3)
	for _, name := range backends {
		tr := newTrainer(t, name, cfg, newModel(t, 2, 3))
		p := tr.problem()
		state := arrays(p.Params, .7, "state")
		slots := arrays(p.Slots, .01, "slots")
		for _, squares := range slots[len(slots)-4:] { // second moments
			for j, v := range squares {
				squares[j] = v * v
			}
		}
		h := &reference{cfg: cfg, x: s.x, dim: 2, classes: 3, step: 5, row: s.data.Row, label: s.data.Label,
			metaRow: s.meta.Row, metaLabel: s.meta.Label}
		h.theta, h.v = float64s(state[:4]), float64s(state[4:])
		h.velocity, h.m, h.u = float64s(slots[:2]), float64s(slots[2:6]), float64s(slots[6:])
		loss := h.update()
		out := run(t, name, func(in []*Node) []*Node {
			loss, next := tr.step(in[7:], in[:1], in[1:5], in[5], in[6])
			return append([]*Node{loss}, next...)
		}, s.pool(), s.data.Row, s.data.Label, s.meta.Row, s.meta.Label, int32(5), float32(cfg.Rate),
			state.Tensors(p.Params), slots.Tensors(p.Slots))
		near(t, name+" loss", out[:1], [][]float64{{loss}}, 1e-5)
		near(t, name+" theta", out[1:5], h.theta, 1e-5)
		near(t, name+" V", out[5:9], h.v, 1e-5)
		near(t, name+" velocity", out[9:11], h.velocity, 1e-5)
		near(t, name+" first moments", out[11:15], h.m, 1e-4)
		near(t, name+" second moments", out[15:], h.u, 1e-4)
	}
}

// TestFit compares whole trainings with the reference: initial values, batches, rate and step
// count.
func TestFit(t *testing.T) {
	cfg, s := small(), newSet(2, 3, 10, 5)
	for _, name := range backends {
		tr := newTrainer(t, name, cfg, newModel(t, 2, 3))
		start := arrays(tr.model.Params, .7, "state")
		theta, v, err := tr.Fit(t.Context(), s.pool(), start, s.data, s.meta, 7, 3)
		if err != nil {
			t.Fatal(err)
		}
		h := &reference{cfg: cfg, x: s.x, dim: 2, classes: 3, theta: float64s(start),
			v: float64s(net.Init(tr.v, 3, "metaweight"))}
		h.velocity, h.m, h.u = zerosLike(h.theta[2:]), zerosLike(h.v), zerosLike(h.v)
		data := &batches{samples: s.data, size: 4, rng: random.New(3, "metaweight", "training")}
		meta := &batches{samples: s.meta, size: 3, rng: random.New(3, "metaweight", "meta")}
		for range 7 {
			h.row, h.label = flat(data.next(1, 1))
			h.metaRow, h.metaLabel = flat(meta.next(1, 1))
			h.update()
		}
		near(t, name+" theta", theta, h.theta, 1e-4)
		near(t, name+" V", v, h.v, 1e-4)
		// more samples than one call of Weights evaluates at once
		many := Samples{Row: slices.Repeat(s.data.Row, 60), Label: slices.Repeat(s.data.Label, 60)}
		weights, err := tr.Weights(t.Context(), s.pool(), theta, v, Samples{Row: many.Row[3:], Label: many.Label[3:]})
		if err != nil {
			t.Fatal(err)
		}
		if len(weights) != 597 {
			t.Fatalf("%s: %d weights of 597 samples", name, len(weights))
		}
		for i, got := range weights {
			loss, _ := h.sample(h.theta[2], h.theta[3], many.Row[i+3], many.Label[i+3])
			if want, _ := h.weight(loss); math.Abs(got-want) > 1e-4 {
				t.Errorf("%s: the weight of sample %d is %v, want %v", name, i, got, want)
			}
		}
	}
}

func flat(row, label *tensors.Tensor) (rows, labels []int32) {
	rows, _ = tensors.CopyFlatData[int32](row)
	labels, _ = tensors.CopyFlatData[int32](label)
	return rows, labels
}

// TestBatchesAreEpochs: each epoch has every sample once, with its label, also if a batch is
// larger than the set.
func TestBatchesAreEpochs(t *testing.T) {
	samples := Samples{Row: []int32{5, 6, 7}, Label: []int32{50, 60, 70}}
	b := &batches{samples: samples, size: 4, rng: random.New(0, "test")}
	rows, labels := flat(b.next(5, 3)) // 3 of 5 minibatches: 12 samples of 20
	orders := map[[3]int32]bool{}
	for epoch := range 4 {
		part := rows[3*epoch : 3*epoch+3]
		orders[[3]int32(part)] = true
		if sorted := slices.Sorted(slices.Values(part)); !slices.Equal(sorted, []int32{5, 6, 7}) {
			t.Errorf("epoch %d has rows %v", epoch, part)
		}
	}
	for i, row := range rows[:12] {
		if labels[i] != 10*row {
			t.Errorf("row %d came with label %d", row, labels[i])
		}
	}
	if len(orders) < 2 {
		t.Errorf("all epochs have the same order")
	}
}
