package net

import (
	"math"
	"testing"

	"tvps/ci/demand"
	"tvps/data/random"

	. "github.com/gomlx/gomlx/core/graph"
)

// draw returns n standard normal numbers.
func draw(n int, purpose string) []float32 {
	rng := random.New(0, "net test", purpose)
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(rng.NormFloat64())
	}
	return out
}

func TestDense(t *testing.T) {
	params := []Param{{Name: "weights", Dims: []int{2, 3}}, {Name: "biases", Dims: []int{3}}}
	for _, name := range backends {
		out := run(t, open(t, name), func(in []*Node) []*Node {
			return []*Node{Relu(Dense(Bind(in[0].Graph(), params, in[1:], false), in[0], 3, He))}
		}, [][]float32{{1, 2}}, [][]float32{{1, 2, -3}, {4, 5, 6}}, []float32{.5, -20, 1})
		demand.Floats(t, "relu(x W + b)", out[0], []float32{9.5, 0, 10}, 1e-6)
	}
}

func TestEmbeddingAndItsGradient(t *testing.T) {
	params := []Param{{Name: "table", Dims: []int{3, 2}}}
	for _, name := range backends {
		out := run(t, open(t, name), func(in []*Node) []*Node {
			e := Embedding(Bind(in[0].Graph(), params, in[1:], false), in[0], 3, 2)
			return []*Node{e, Gradient(ReduceAllSum(Mul(e, e)), in[1])[0]}
		}, []int32{2, 0, 2}, [][]float32{{1, 2}, {3, 4}, {5, 6}})
		demand.Floats(t, "rows", out[0], []float32{5, 6, 1, 2, 5, 6}, 0)
		demand.Floats(t, "gradient", out[1], []float32{2, 4, 0, 0, 20, 24}, 0) // row 2 twice, row 1 never
	}
}

func TestCrossEntropy(t *testing.T) {
	ln := func(x float64) float32 { return float32(math.Log(x)) }
	logits := [][]float32{{0, 0, 0}, {ln(1), ln(2), ln(5)}, {1000, 0, 0}}
	for _, name := range backends {
		out := run(t, open(t, name), func(in []*Node) []*Node {
			loss := CrossEntropy(in[0], in[1])
			return []*Node{loss, Gradient(ReduceAllSum(loss), in[0])[0]}
		}, logits, []int32{1, 2, 1})
		demand.Floats(t, "loss", out[0], []float32{ln(3), ln(8. / 5), 1000}, 1e-5)
		third := float32(1. / 3)
		demand.Floats(t, "softmax minus one-hot", out[1],
			[]float32{third, third - 1, third, 1. / 8, 2. / 8, 5./8 - 1, 1, -1, 0}, 1e-6)
	}
}

// TestConv compares the values of both implementations with loops, and the gradients with
// respect to x and kernel of im2col with those of the native convolution.
func TestConv(t *testing.T) {
	const batch, in, out = 2, 3, 4
	for _, c := range []struct{ size, kernel, stride int }{
		{6, 3, 1}, {6, 3, 2}, {5, 3, 2}, {1, 3, 2}, {4, 1, 1}, {4, 1, 2}, {7, 5, 1},
	} {
		x, w := draw(batch*c.size*c.size*in, "x"), draw(c.kernel*c.kernel*in*out, "w")
		want := convLoops(x, w, batch, c.size, in, out, c.kernel, c.stride)
		weights := draw(len(want), "adjoint")
		native := convWithGradients(t, x, w, weights, batch, c.size, in, out, c.kernel, c.stride, Conv)
		im2col := convWithGradients(t, x, w, weights, batch, c.size, in, out, c.kernel, c.stride, Im2colConv)
		demand.Floats(t, "convolution", native[0], want, 1e-4)
		demand.Floats(t, "convolution by im2col", im2col[0], want, 1e-4)
		demand.Floats(t, "gradient with respect to x", im2col[1], native[1], 1e-4)
		demand.Floats(t, "gradient with respect to the kernel", im2col[2], native[2], 1e-3)
	}
}

// TestWinograd compares values and gradients with those of the native convolution.
func TestWinograd(t *testing.T) {
	const batch, in, out = 2, 3, 4
	for _, size := range []int{2, 4, 6} {
		x, w := draw(batch*size*size*in, "x"), draw(9*in*out, "w")
		weights := draw(batch*size*size*out, "adjoint")
		got := convWithGradients(t, x, w, weights, batch, size, in, out, 3, 1,
			func(s *Scope, x *Node, out, _, _ int) *Node {
				return TransposeAllAxes(WinogradConv(s, TransposeAllAxes(x, 1, 2, 0, 3), out), 2, 0, 1, 3)
			})
		for i, want := range convWithGradients(t, x, w, weights, batch, size, in, out, 3, 1, Conv) {
			demand.Floats(t, []string{"convolution", "gradient of x", "gradient of the kernel"}[i], got[i], want, 1e-4)
		}
	}
}

// convWithGradients returns a convolution and the gradients of its weighted sum with respect to
// x and w.
func convWithGradients(t *testing.T, x, w, weights []float32, batch, size, in, out, kernel, stride int,
	conv func(s *Scope, x *Node, out, kernel, stride int) *Node) [][]float32 {
	t.Helper()
	params := []Param{{Name: "kernel", Dims: []int{kernel, kernel, in, out}}}
	side := (size-1)/stride + 1
	return run(t, open(t, ""), func(args []*Node) []*Node {
		y := conv(Bind(args[0].Graph(), params, args[1:2], false), args[0], out, kernel, stride)
		return append([]*Node{y}, Gradient(ReduceAllSum(Mul(y, args[2])), args[0], args[1])...)
	}, tensor(x, batch, size, size, in), tensor(w, kernel, kernel, in, out), tensor(weights, batch, side, side, out))
}

// convLoops computes a convolution with padding "same" and odd kernels in loops.
func convLoops(x, w []float32, batch, size, in, out, kernel, stride int) []float32 {
	side := (size-1)/stride + 1
	y := make([]float32, batch*side*side*out)
	for i := range y {
		b, r, c, o := i/(side*side*out), i/(side*out)%side, i/out%side, i%out
		for k := range kernel * kernel * in {
			row, col, ch := r*stride+k/(kernel*in)-kernel/2, c*stride+k/in%kernel-kernel/2, k%in
			if row >= 0 && row < size && col >= 0 && col < size {
				y[i] += x[((b*size+row)*size+col)*in+ch] * w[k*out+o]
			}
		}
	}
	return y
}

var normParams = []Param{{Name: "scale", Dims: []int{2}}, {Name: "offset", Dims: []int{2}},
	{Name: "mean", Dims: []int{2}}, {Name: "variance", Dims: []int{2}}}

// TestBatchNorm compares training with batch statistics, training with frozen averages, and
// evaluation with float64 loops, on a batch of vectors and on one of images.
func TestBatchNorm(t *testing.T) {
	scale, offset, mean, variance := []float32{2, .5}, []float32{1, -1}, []float32{.3, -.2}, []float32{1.5, .7}
	x := draw(24, "norm")
	batchMean, batchVar := moments(x)
	for _, c := range []struct {
		name           string
		training       bool
		mode           BatchNormMode
		mean, variance []float64
		moves          bool
	}{
		{"batch statistics", true, BatchStatistics, batchMean, batchVar, true},
		{"frozen", true, FrozenAverages, widen(mean), widen(variance), false},
		{"evaluation", false, BatchStatistics, widen(mean), widen(variance), false},
	} {
		for _, dims := range [][]int{{12, 2}, {3, 2, 2, 2}} {
			for _, name := range backends {
				out := run(t, open(t, name), func(in []*Node) []*Node {
					s := Bind(in[0].Graph(), normParams, in[1:], c.training)
					y := BatchNorm(s, in[0], c.mode)
					return append([]*Node{y}, s.Updated(normParams, in[1:])[2:]...)
				}, tensor(x, dims...), scale, offset, mean, variance)
				want, wantMean, wantVar := make([]float32, 24), mean, variance
				for i := range want {
					j := i % 2
					want[i] = float32((float64(x[i])-c.mean[j])/math.Sqrt(c.variance[j]+1e-5)*float64(scale[j]) + float64(offset[j]))
				}
				if c.moves { // unbiased variance, as PyTorch
					wantMean, wantVar = moved(mean, batchMean, 1), moved(variance, batchVar, 12./11)
				}
				demand.Floats(t, c.name, out[0], want, 1e-5)
				demand.Floats(t, c.name+": average mean", out[1], wantMean, 1e-6)
				demand.Floats(t, c.name+": average variance", out[2], wantVar, 1e-6)
			}
		}
	}
}

// moments returns mean and biased variance of the values at even and at odd indices.
func moments(x []float32) (mean, variance []float64) {
	mean, variance = make([]float64, 2), make([]float64, 2)
	n := float64(len(x) / 2)
	for i, v := range x {
		mean[i%2] += float64(v) / n
	}
	for i, v := range x {
		variance[i%2] += (float64(v) - mean[i%2]) * (float64(v) - mean[i%2]) / n
	}
	return mean, variance
}

func widen(v []float32) []float64 { return []float64{float64(v[0]), float64(v[1])} }

// moved is the running average after an update by factor times now.
func moved(old []float32, now []float64, factor float64) []float32 {
	return []float32{float32(.9*float64(old[0]) + .1*factor*now[0]), float32(.9*float64(old[1]) + .1*factor*now[1])}
}
