package loop

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"tvps/ci/demand"
	"tvps/data/random"
	"tvps/gomlx_models/backend/backendtest"
	"tvps/gomlx_models/net"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// classifier returns the Loss of an MLP with two hidden layers. data: x [rows, dim] float32,
// y [rows] int32 of -1 and 1. feed: row numbers of a minibatch, [batch] int32.
func classifier(hidden int) func(s *net.Scope, data, feeds []*Node) *Node {
	return func(s *net.Scope, data, feeds []*Node) *Node {
		x := net.Rows(s, data[0], feeds[0])
		y := ConvertDType(net.Rows(s, data[1], feeds[0]), dtypes.Float32)
		h := net.Relu(net.Dense(s.In("1"), x, hidden, net.He))
		h = net.Relu(net.Dense(s.In("2"), h, hidden, net.He))
		logit := Squeeze(net.Dense(s.In("3"), h, 1, net.Lecun), -1)
		return ReduceMean(Softplus(Neg(Mul(y, logit))), -1)
	}
}

// seedsSize holds the number of features, of hidden units, and of samples in a minibatch.
type seedsSize struct {
	name               string
	dim, hidden, batch int
}

const seedsRows, seedsChunk, seedsUpdates = 20000, 250, 1000

// seedsFit returns a function that trains an MLP for a group of seeds, on its own client of
// the backend.
func seedsFit(b *testing.B, size seedsSize, seeds int) func() error {
	backend, err := backendtest.Open(b, "").NewClient(0)
	demand.NoError(b, err)
	p := Problem{Name: "seeds", Data: 2, Feeds: 1, Loss: classifier(size.hidden)}
	inputs := []shapes.Shape{shapes.Make(dtypes.Float32, seedsRows, size.dim), shapes.Make(dtypes.Int32, seedsRows),
		shapes.Make(dtypes.Int32, size.batch)}
	p.Params, err = net.Declare(backend.Backend, inputs, func(s *net.Scope, in []*Node) { p.Loss(s, in[:2], in[2:]) })
	demand.NoError(b, err)
	trainer := New(backend.Backend, p, seedsChunk)
	group := NewGroup(seeds)
	b.Cleanup(func() {
		group.Close()
		trainer.Close()
		backend.Finalize()
	})
	rng := random.New(0, "seeds benchmark")
	x, y, index := make([]float32, seedsRows*size.dim), make([]int32, seedsRows), make([]int32, seedsChunk*size.batch)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	for i := range y {
		y[i] = int32(2*rng.IntN(2) - 1)
	}
	for i := range index {
		index[i] = int32(rng.IntN(seedsRows))
	}
	data := []*tensors.Tensor{tensors.FromFlatDataAndDimensions(x, seedsRows, size.dim),
		tensors.FromFlatDataAndDimensions(y, seedsRows)}
	feed := func(int, int) []*tensors.Tensor {
		return []*tensors.Tensor{tensors.FromFlatDataAndDimensions(index, seedsChunk, size.batch)}
	}
	return func() error {
		return group.Each(b.Context(), func(ctx context.Context, i int) error {
			start := net.Init(p.Params, int64(i), "seeds benchmark")
			_, _, err := group.Member(i, trainer).Fit(ctx, start, data, 1e-3, seedsUpdates, feed)
			return err
		})
	}
}

// BenchmarkSeeds compares trainings of one seed with groups of three batched seeds, on one
// client and on two parallel clients, as the runs of a figure use them. The metric is the time
// of an update divided by the number of seeds in all clients. A group is worthwhile if
// three seeds take less time than one seed on as many clients. The gain is largest where an
// update consists of small operations.
func BenchmarkSeeds(b *testing.B) {
	sizes := []seedsSize{{"gaussian classifier", 1, 32, 128}, {"gaussian g", 1, 32, 512}, {"features g", 128, 64, 512}}
	for _, size := range sizes {
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
		fits[i] = seedsFit(b, size, seeds)
		demand.NoError(b, fits[i]()) // compiles
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
