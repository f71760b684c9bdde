package metaweight

import (
	"math"
	"slices"
	"testing"

	"tvps/gomlx_models/net"

	. "github.com/gomlx/gomlx/core/graph"
)

// objective computes the meta loss of an MLP as a function of V, in float64. The gradient of
// the trial step is computed by central differences, so no derivative is written by hand.
type objective struct {
	cfg   Config
	s     set
	theta [][]float64 // as returned by layers
}

// layers returns shift, then weights and biases of each layer: theta without the count.
func layers(model Model, theta net.Values) (out [][]float64) {
	for i, values := range float64s(theta) {
		if model.Params[i].Name != "count" {
			out = append(out, values)
		}
	}
	return out
}

// loss is the cross-entropy of one sample.
func (o *objective) loss(theta [][]float64, row, label int32) float64 {
	x := make([]float64, o.s.dim)
	for i := range x {
		x[i] = float64(o.s.x[int(row)*o.s.dim+i]) - theta[0][i]
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

// meta is the mean meta loss after the trial step. The inputs of V are the losses at theta; the
// differences do not change them.
func (o *objective) meta(v [][]float64) float64 {
	weights := make([]float64, o.s.data.Len())
	for i := range weights {
		weights[i] = weight(v, o.loss(o.theta, o.s.data.Row[i], o.s.data.Label[i]))
	}
	trained := o.theta[1:]
	hat := append([][]float64{o.theta[0]}, zerosLike(trained)...)
	addTo(hat[1:], trained, 1)
	grad := differences(trained, 1e-5, func() float64 {
		sum := 0.0
		for i, w := range weights {
			sum += w * o.loss(o.theta, o.s.data.Row[i], o.s.data.Label[i])
		}
		return sum / float64(len(weights))
	})
	addTo(hat[1:], grad, -o.cfg.Rate)
	sum := 0.0
	for i, row := range o.s.meta.Row {
		sum += o.loss(hat, row, o.s.meta.Label[i])
	}
	return sum / float64(o.s.meta.Len())
}

// TestMetaGradientByDifferences checks the gradient through the trial step for a linear
// model and for an MLP with two hidden layers.
func TestMetaGradientByDifferences(t *testing.T) {
	for _, hidden := range [][]int{nil, {5, 4}} {
		cfg, s, model := small(), newSet(2, 3, 4, 3), newModel(t, 2, 3, hidden...)
		tr := newTrainer(t, "", cfg, model)
		theta, v := arrays(model.Params, .7, "theta"), arrays(tr.v, .7, "v")
		o := &objective{cfg: cfg, s: s, theta: layers(model, theta)}
		at := float64s(v)
		want := differences(at, 1e-4, func() float64 { return o.meta(at) })
		for _, name := range backends {
			got := run(t, name, func(in []*Node) []*Node {
				n := 6 + len(model.Params)
				losses := model.Losses(net.Bind(in[0].Graph(), model.Params, in[6:n], true), in[0], in[1], in[2])
				return tr.metaGradient(in[6:n], in[n:], losses, in[0], in[3], in[4], in[5])
			}, s.pool(), s.data.Row, s.data.Label, s.meta.Row, s.meta.Label, float32(cfg.Rate),
				theta.Tensors(model.Params), v.Tensors(tr.v))
			near(t, name, got, want, 1e-4)
		}
	}
}
