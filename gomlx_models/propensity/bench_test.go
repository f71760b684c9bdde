package propensity

import (
	"context"
	"testing"

	"tvps/ci/demand"
)

// BenchmarkUpdate times one training step of g (MLP of 64 units, batch 512, one
// coordinate, 20 times) inside the compiled loop.
func BenchmarkUpdate(b *testing.B) {
	d := gaussian(1, linear, equal(20, 500)...)
	for _, engine := range []struct{ label, name string }{{"xla", ""}, {"go", "go"}} {
		for _, method := range []Method{Method2, Method1} {
			b.Run(engine.label+"/"+string(method), func(b *testing.B) {
				cfg := DefaultConfig()
				cfg.Method = method
				pool, err := NewPool(d.X, ColumnsScores, 1)
				demand.NoError(b, err)
				e, err := NewEstimator(open(b, engine.name), pool, 20, cfg)
				demand.NoError(b, err)
				defer e.Close()
				samples, times := samplesOf(d, 20)
				train := func(updates int) {
					e.cfg.Updates = updates
					_, err := e.Fit(context.Background(), samples, times, 0)
					demand.NoError(b, err)
				}
				train(1) // compiles
				b.ResetTimer()
				train(b.N)
			})
		}
	}
}
