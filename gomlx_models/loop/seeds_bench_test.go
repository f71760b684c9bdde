package loop

import (
	"fmt"
	"testing"

	"tvps/data/random"
	"tvps/gomlx_models/net"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// stacked is an MLP of two hidden layers for so many seeds at once: every array has a
// leading axis [seeds], and the loss is the sum over seeds.
func stacked(seeds, rows, dim, hidden, batch int) Problem {
	layer := func(s *net.Scope, name string, x *Node, in, out int) *Node {
		w := s.Weight(name+"/w", net.He(in), seeds, in, out)
		return Add(Einsum("sbi,sio->sbo", x, w), s.Bias(name+"/b", net.Constant(0), seeds, 1, out))
	}
	return Problem{Name: "stacked", Data: 2, Feeds: 1, Loss: func(s *net.Scope, data, feeds []*Node) *Node {
		index := ExpandAxes(feeds[0], -1)
		x := Gather(data[0], index)                               // [seeds, batch, dim]
		y := ConvertDType(Gather(data[1], index), dtypes.Float32) // [seeds, batch]
		h := net.Relu(layer(s, "1", x, dim, hidden))
		h = net.Relu(layer(s, "2", h, hidden, hidden))
		logit := Reshape(layer(s, "3", h, hidden, 1), seeds, batch)
		// Logistic loss, log(1 + exp(-y logit)) with y = -1 or 1.
		return MulScalar(ReduceAllSum(Log1P(Exp(Neg(Mul(y, logit))))), 1/float64(batch))
	}}
}

// BenchmarkSeeds compares one seed in a loop with three on a leading axis: the metric is
// the time of an update of one seed. Where that of three is not below that of one, stacking
// gains nothing; runs of different seeds have a client each in any case.
func BenchmarkSeeds(b *testing.B) {
	const rows, chunk = 20000, 250
	for _, size := range []struct {
		name               string
		dim, hidden, batch int
	}{{"gaussian classifier", 1, 32, 128}, {"gaussian g", 1, 32, 512}, {"features g", 128, 64, 512}} {
		for _, seeds := range []int{1, 3} {
			b.Run(fmt.Sprintf("%s/%d", size.name, seeds), func(b *testing.B) {
				backend := open(b, "")
				p := stacked(seeds, rows, size.dim, size.hidden, size.batch)
				inputs := []shapes.Shape{shapes.Make(dtypes.Float32, rows, size.dim), shapes.Make(dtypes.Int32, rows), shapes.Make(dtypes.Int32, seeds, size.batch)}
				var err error
				if p.Params, err = net.Declare(backend, inputs, func(s *net.Scope, in []*Node) { p.Loss(s, in[:2], in[2:]) }); err != nil {
					b.Fatal(err)
				}
				trainer, err := New(backend, p, chunk)
				if err != nil {
					b.Fatal(err)
				}
				defer trainer.Close()
				rng := random.New(0, "seeds benchmark")
				x, y, index := make([]float32, rows*size.dim), make([]int32, rows), make([]int32, chunk*seeds*size.batch)
				for i := range x {
					x[i] = float32(rng.NormFloat64())
				}
				for i := range y {
					y[i] = int32(2*rng.IntN(2) - 1)
				}
				for i := range index {
					index[i] = int32(rng.IntN(rows))
				}
				data := []*tensors.Tensor{tensors.FromFlatDataAndDimensions(x, rows, size.dim), tensors.FromFlatDataAndDimensions(y, rows)}
				feed := func(int, int) []*tensors.Tensor {
					return []*tensors.Tensor{tensors.FromFlatDataAndDimensions(index, chunk, seeds, size.batch)}
				}
				start := net.Init(p.Params, 0, "seeds benchmark")
				fit := func() {
					if _, _, err := trainer.Fit(b.Context(), start, data, 1e-3, 4*chunk, feed); err != nil {
						b.Fatal(err)
					}
				}
				fit() // compiles
				for b.Loop() {
					fit()
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*4*chunk*seeds), "µs/seed-update")
			})
		}
	}
}
