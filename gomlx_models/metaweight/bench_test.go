package metaweight

import (
	"testing"

	"tvps/gomlx_models/net"
)

// BenchmarkUpdate times one update of the two vector models of Figure 4: an MLP of 32
// units on one coordinate, and a linear layer on 2048 features.
func BenchmarkUpdate(b *testing.B) {
	for _, engine := range []struct{ label, name string }{{"xla", ""}, {"go", "go"}} {
		for _, c := range []struct {
			label  string
			dim    int
			hidden []int
		}{{"mlp32", 1, []int{32, 32}}, {"linear2048", 2048, nil}} {
			b.Run(engine.label+"/"+c.label, func(b *testing.B) {
				s, model := newSet(c.dim, 2, 2000, 200), newModel(b, c.dim, 2, c.hidden...)
				tr := newTrainer(b, engine.name, DefaultConfig(), model)
				pool, start := s.pool(), net.Init(model.Params, 0, "bench")
				train := func(updates int) {
					if _, _, err := tr.Fit(b.Context(), pool, start, s.data, s.meta, updates, 0); err != nil {
						b.Fatal(err)
					}
				}
				train(1) // compiles
				b.ResetTimer()
				train(b.N)
			})
		}
	}
}
