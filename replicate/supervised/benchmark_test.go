package supervised

import (
	"fmt"
	"sync"
	"testing"

	"tvps/replicate/runs"
)

// paperGaussian returns the Gaussian at the paper's size.
func paperGaussian() Settings {
	s := gaussianSettings()
	s.Steps, s.N, s.TestN, s.Hidden, s.Rate, s.Batch = 160, 2000, 2000, 32, 9e-4, 128
	s.Epochs, s.MaxUpdates, s.FinetuneEpochs = 25, 1000, 25
	s.GHidden, s.GUpdates, s.GBatch = 32, 1000, 512
	return s
}

// BenchmarkBatchedSeeds compares single seeds with three batched ones, for one worker and for two parallel ones, at
// step 20 of the paper's size. The metric is the time of a seed's step. Measured on two busy cores, medians: batched
// seeds take .65 of the time of single ones for everything, with one worker and with two, and .87 and .90 for ours.
// An update of the classifier takes .7 of its time. An update of g, with batches of 512, takes as long batched as
// single (1.00 to 1.05), so g is not batched.
func BenchmarkBatchedSeeds(b *testing.B) {
	for _, name := range []string{"everything", "ours"} {
		for _, workers := range []int{1, 2} {
			for _, seeds := range []int{1, 3} {
				b.Run(fmt.Sprintf("%s/workers=%d/seeds=%d", name, workers, seeds), func(b *testing.B) {
					benchmarkBatch(b, name, workers, seeds)
				})
			}
		}
	}
}

func benchmarkBatch(b *testing.B, name string, workers, size int) {
	h := newHost(b, "")
	s := paperGaussian()
	s.Stack = size
	x, err := s.config(name, "")
	if err != nil {
		b.Fatal(err)
	}
	seeds := []int64{0, 1, 2}[:size]
	var members []runs.Spec
	for _, seed := range seeds {
		members = append(members, runs.Spec{Seed: seed})
	}
	var steps []runs.GroupStep
	for range workers {
		step, stop, err := x.on(h).startGroup(b.Context(), seeds, members, runs.Files{})
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
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N*size*workers), "ms/seed-step")
}
