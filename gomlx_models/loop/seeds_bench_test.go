package loop

import (
	"fmt"
	"sync"
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

// seedsSize is a task's number of features, hidden units and samples of a minibatch.
type seedsSize struct {
	name               string
	dim, hidden, batch int
}

const seedsRows, seedsChunk, seedsUpdates = 20000, 250, 1000

// stackedFit compiles an MLP of so many seeds for a client of its own, and returns what
// trains it.
func stackedFit(b *testing.B, size seedsSize, seeds int) func() error {
	backend := open(b, "")
	p := stacked(seeds, seedsRows, size.dim, size.hidden, size.batch)
	inputs := []shapes.Shape{shapes.Make(dtypes.Float32, seedsRows, size.dim), shapes.Make(dtypes.Int32, seedsRows), shapes.Make(dtypes.Int32, seeds, size.batch)}
	var err error
	if p.Params, err = net.Declare(backend, inputs, func(s *net.Scope, in []*Node) { p.Loss(s, in[:2], in[2:]) }); err != nil {
		b.Fatal(err)
	}
	trainer, err := New(backend, p, seedsChunk)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(trainer.Close)
	rng := random.New(0, "seeds benchmark")
	x, y, index := make([]float32, seedsRows*size.dim), make([]int32, seedsRows), make([]int32, seedsChunk*seeds*size.batch)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	for i := range y {
		y[i] = int32(2*rng.IntN(2) - 1)
	}
	for i := range index {
		index[i] = int32(rng.IntN(seedsRows))
	}
	data := []*tensors.Tensor{tensors.FromFlatDataAndDimensions(x, seedsRows, size.dim), tensors.FromFlatDataAndDimensions(y, seedsRows)}
	feed := func(int, int) []*tensors.Tensor {
		return []*tensors.Tensor{tensors.FromFlatDataAndDimensions(index, seedsChunk, seeds, size.batch)}
	}
	start := net.Init(p.Params, 0, "seeds benchmark")
	return func() error {
		_, _, err := trainer.Fit(b.Context(), start, data, 1e-3, seedsUpdates, feed)
		return err
	}
}

// BenchmarkSeeds compares one seed in a loop with three on a leading axis, in one client
// and in two side by side, as the runs of a figure are: the metric is the time of an update
// of one seed. Stacking gains where three seeds are faster than one with as many clients.
func BenchmarkSeeds(b *testing.B) {
	for _, size := range []seedsSize{{"gaussian classifier", 1, 32, 128}, {"gaussian g", 1, 32, 512}, {"features g", 128, 64, 512}} {
		for _, clients := range []int{1, 2} {
			for _, seeds := range []int{1, 3} {
				b.Run(fmt.Sprintf("%s/clients=%d/seeds=%d", size.name, clients, seeds), func(b *testing.B) {
					benchmarkSeeds(b, size, clients, seeds)
				})
			}
		}
	}
}

func benchmarkSeeds(b *testing.B, size seedsSize, clients, seeds int) {
	fits := make([]func() error, clients)
	for i := range fits {
		fits[i] = stackedFit(b, size, seeds)
		if err := fits[i](); err != nil { // compiles
			b.Fatal(err)
		}
	}
	for b.Loop() {
		var wait sync.WaitGroup
		for _, fit := range fits {
			wait.Go(func() {
				if err := fit(); err != nil {
					b.Error(err)
				}
			})
		}
		wait.Wait()
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*seedsUpdates*seeds*clients), "µs/seed-update")
}
