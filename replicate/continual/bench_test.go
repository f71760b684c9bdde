package continual

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"tvps/replicate/runs"

	"github.com/gomlx/gomlx/core/tensors"
)

var engines = []struct{ label, name string }{{"xla", ""}, {"go", "go"}}

// BenchmarkGaussianStep times step 20 of the paper's Gaussian for all four learners:
// N = 2000, 1000 minibatches of 128 for each training, 1000 of 512 for g.
func BenchmarkGaussianStep(b *testing.B) {
	s := paperGaussian()
	for _, engine := range engines {
		b.Run(engine.label, func(b *testing.B) {
			bench := newBench(b, engine.name, s, "ours", 0)
			if engine.name == "" {
				accuracyOf(b, bench, learnerTable["ours"], 2) // compiles
			}
			for b.Loop() {
				for _, name := range []string{"everything", "recent", "finetune", "ours"} {
					accuracyOf(b, bench, learnerTable[name], 20)
				}
			}
		})
	}
}

// paperGaussian is the paper's size of the Gaussian.
func paperGaussian() Settings {
	s := gaussianSettings()
	s.Steps, s.N, s.TestN, s.Hidden, s.Rate, s.Batch, s.Epochs, s.MaxUpdates, s.FinetuneEpochs = 160, 2000, 2000, 32, 9e-4, 128, 25, 1000, 25
	s.GHidden, s.GUpdates, s.GBatch = 32, 1000, 512
	return s
}

// BenchmarkGaussianStack compares seeds that train alone with three in one program, for one
// worker and for two side by side, at step 20 of the paper's size. The metric is the time of
// a seed's step. Measured on two busy cores, medians: everything takes .65 of the time with
// one worker and with two, ours .87 and .90. An update of the classifier takes .7 of its
// time. One of g, with batches of 512, takes as long in a stack as alone (1.00 to 1.05), so g
// is not stacked.
func BenchmarkGaussianStack(b *testing.B) {
	for _, name := range []string{"everything", "ours"} {
		for _, workers := range []int{1, 2} {
			for _, seeds := range []int{1, 3} {
				b.Run(fmt.Sprintf("%s/workers=%d/seeds=%d", name, workers, seeds), func(b *testing.B) {
					benchmarkStack(b, name, workers, seeds)
				})
			}
		}
	}
}

func benchmarkStack(b *testing.B, name string, workers, seeds int) {
	e := &Env{Backend: open(b, "")}
	s := paperGaussian()
	s.Stack = seeds
	var steps []runs.GroupStep
	for range workers {
		list := []int64{0, 1, 2}[:seeds]
		jobs, err := e.jobs(s, name, list, "")
		if err != nil {
			b.Fatal(err)
		}
		var members []runs.Spec
		for _, job := range jobs {
			members = append(members, job.Spec)
		}
		step, stop, err := e.startGroup(b.Context(), s, name, list, members)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(stop)
		if _, err := step(b.Context(), 2); err != nil { // compiles
			b.Fatal(err)
		}
		steps = append(steps, step)
	}
	for b.Loop() {
		var wait sync.WaitGroup
		for _, step := range steps {
			wait.Go(func() {
				if _, err := step(b.Context(), 20); err != nil {
					b.Error(err)
				}
			})
		}
		wait.Wait()
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N*seeds*workers), "ms/seed-step")
}

// BenchmarkHeadUpdate times one training step of the last block and the classifier at
// width 16 and batch 128, inside the compiled loop.
func BenchmarkHeadUpdate(b *testing.B) {
	s := imageSettings()
	s.Width, s.Batch = 16, 128
	for _, engine := range engines {
		b.Run(engine.label, func(b *testing.B) {
			im := fakeImages(b, 500, 10, 128) // tensors belong to one backend
			bench := imageBench(b, engine.name, s, im)
			data := bench.stream.Upto(0, 4)
			weight, err := normalise(data)
			if err != nil {
				b.Fatal(err)
			}
			c := bench.classifier
			train := func(updates int) {
				_, _, err := c.trainer.Fit(context.Background(), c.Init(0, 0), []*tensors.Tensor{im.pool}, 1e-3, updates, c.batches(data, weight, batchOrder(0, 0, 0)))
				if err != nil {
					b.Fatal(err)
				}
			}
			if engine.name == "" {
				train(1) // compiles
			}
			b.ResetTimer()
			train(b.N)
		})
	}
}
