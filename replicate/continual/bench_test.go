package continual

import (
	"context"
	"testing"

	"github.com/gomlx/gomlx/core/tensors"
)

var engines = []struct{ label, name string }{{"xla", ""}, {"go", "go"}}

// BenchmarkGaussianStep times step 20 of the paper's Gaussian for all four learners:
// N = 2000, 1000 minibatches of 128 for each training, 1000 of 512 for g.
func BenchmarkGaussianStep(b *testing.B) {
	s := gaussianSettings()
	s.Steps, s.N, s.TestN, s.Hidden, s.Rate, s.Batch, s.Epochs, s.MaxUpdates, s.FinetuneEpochs = 160, 2000, 2000, 32, 9e-4, 128, 25, 1000, 25
	s.GHidden, s.GUpdates, s.GBatch = 32, 1000, 512
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
