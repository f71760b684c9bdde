package loop

import (
	"context"
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

// classifier is an MLP of two hidden layers. data: x [rows, dim], y [rows] of -1 and 1;
// feed: rows of a minibatch.
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

// seedsSize is a task's number of features, hidden units and samples of a minibatch.
type seedsSize struct {
	name               string
	dim, hidden, batch int
}

const seedsRows, seedsChunk, seedsUpdates = 20000, 250, 1000

// seedsFit compiles an MLP for a client of its own, and returns what trains it for so many
// seeds.
func seedsFit(b *testing.B, size seedsSize, seeds int) func() error {
	backend := open(b, "")
	p := Problem{Name: "seeds", Data: 2, Feeds: 1, Loss: classifier(size.hidden)}
	inputs := []shapes.Shape{shapes.Make(dtypes.Float32, seedsRows, size.dim), shapes.Make(dtypes.Int32, seedsRows), shapes.Make(dtypes.Int32, size.batch)}
	var err error
	if p.Params, err = net.Declare(backend, inputs, func(s *net.Scope, in []*Node) { p.Loss(s, in[:2], in[2:]) }); err != nil {
		b.Fatal(err)
	}
	trainer, err := New(backend, p, seedsChunk)
	if err != nil {
		b.Fatal(err)
	}
	group := NewGroup(seeds)
	b.Cleanup(func() {
		group.Close()
		trainer.Close()
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
	data := []*tensors.Tensor{tensors.FromFlatDataAndDimensions(x, seedsRows, size.dim), tensors.FromFlatDataAndDimensions(y, seedsRows)}
	feed := func(int, int) []*tensors.Tensor {
		return []*tensors.Tensor{tensors.FromFlatDataAndDimensions(index, seedsChunk, size.batch)}
	}
	return func() error {
		return group.Each(b.Context(), func(ctx context.Context, i int) error {
			_, _, err := group.Member(i, trainer).Fit(ctx, net.Init(p.Params, int64(i), "seeds benchmark"), data, 1e-3, seedsUpdates, feed)
			return err
		})
	}
}

// BenchmarkSeeds compares a seed that trains alone with a group of three, in one client and
// in two side by side, as the runs of a figure are: the metric is the time of an update of
// one seed. Stacking gains where three seeds are faster than one with as many clients: the
// more an update consists of small operations, the more. With this bare network it is a tenth
// at batches of 128 and nothing at 512.
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
		fits[i] = seedsFit(b, size, seeds)
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
