package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"tvps/ci/demand"
	"tvps/data/random"
	"tvps/gomlx_models/backend"
	"tvps/gomlx_models/loop"
	"tvps/gomlx_models/net"
	"tvps/gomlx_models/resnet"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// BenchmarkLastBlock times an update of the last block and the classifier on a batch of 128, as label shifts train
// them. It reports the multiplications that direct convolutions need in the time of the fastest update (gflops), and
// their share of those of the fastest product of two float32 matrices with 2048 rows and columns in the same run.
// Winograd's convolutions need fewer, so their share may be above 1. (All other operations count as lost time.)
func BenchmarkLastBlock(b *testing.B) {
	for _, width := range []int{16, 64} {
		for name, head := range map[string]func(s *net.Scope, x *Node, bn net.BatchNormMode) *Node{
			"direct": resnet.LastBlock.Head, "winograd": resnet.WinogradHead,
		} {
			b.Run(fmt.Sprintf("width=%d/%s", width, name), func(b *testing.B) {
				engine := backend.ForTest(b, "").Backend
				train, multiply := updatesOf(b, engine, width, head), productOf(b, engine)
				train(1) // compiles
				multiply()
				update, product := time.Hour, time.Hour
				for b.Loop() {
					update, product = min(update, train(20)), min(product, multiply())
				}
				c, places := float64(resnet.LastBlock.Channels(width)), float64(resnet.LastBlock.Side()*resnet.LastBlock.Side())
				work := 3 * 2 * 2 * 9 * c * c * batch * places // two convolutions, once forward and twice backward
				b.ReportMetric(work/update.Seconds()/1e9, "gflops")
				b.ReportMetric(work/update.Seconds()/(2*n*n*n/product.Seconds()), "share")
			})
		}
	}
}

const (
	batch = 128
	n     = 2048 // rows of the matrices
)

// updatesOf returns a function that trains for some updates and returns the time of the fastest.
func updatesOf(b *testing.B, engine compute.Backend, width int,
	head func(s *net.Scope, x *Node, bn net.BatchNormMode) *Node) func(updates int) time.Duration {
	shape := shapes.Make(dtypes.Float32, batch, resnet.LastBlock.Side(), resnet.LastBlock.Side(), resnet.LastBlock.Channels(width))
	params, err := net.Declare(engine, []shapes.Shape{shape},
		func(s *net.Scope, in []*Node) { head(s, in[0], net.BatchStatistics) })
	demand.NoError(b, err)
	trainer := loop.New(engine, loop.Problem{Name: "last block", Params: params, Dispatch: true, Data: 1, Feeds: 1,
		Loss: func(s *net.Scope, data, feeds []*Node) *Node {
			return ReduceAllMean(net.CrossEntropy(head(s, data[0], net.BatchStatistics), feeds[0]))
		}}, 1)
	b.Cleanup(trainer.Close)
	rng, x, labels := random.New(1, "last block"), make([]float32, shape.Size()), make([]int32, batch)
	for i := range x {
		x[i] = rng.Float32()
	}
	for i := range labels {
		labels[i] = int32(i % 10)
	}
	data := []*tensors.Tensor{tensors.FromFlatDataAndDimensions(x, shape.Dimensions...)}
	feed := func(_, _ int) []*tensors.Tensor {
		return []*tensors.Tensor{tensors.FromFlatDataAndDimensions(labels, 1, batch)}
	}
	start := net.Init(params, 1, "last block")
	return func(updates int) time.Duration {
		last, fastest := time.Now(), time.Hour
		_, _, err := trainer.Fit(context.Background(), start, data, 1e-3, updates, feed, func(int, float64) {
			now := time.Now()
			fastest, last = min(fastest, now.Sub(last)), now
		})
		demand.NoError(b, err)
		return fastest
	}
}

// productOf returns a function that multiplies two matrices and returns its time.
func productOf(b *testing.B, engine compute.Backend) func() time.Duration {
	square := tensors.FromFlatDataAndDimensions(make([]float32, n*n), n, n)
	product := MustNewExec(engine, func(x *Node) *Node { return ReduceAllSum(Dot(x, x).Product()) })
	b.Cleanup(product.Finalize)
	return func() time.Duration {
		begin := time.Now()
		demand.NoError(b, product.MustCall(square)[0].FinalizeAll())
		return time.Since(begin)
	}
}
