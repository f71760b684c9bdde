package runs

import (
	"context"
	"fmt"
	"os"
	"testing"
)

// BenchmarkPlan plans 400 missing runs next to stored ones, which are other settings of the same seeds: with four times
// as many stored runs it should take about four times as long.
func BenchmarkPlan(b *testing.B) {
	const seeds = 10
	of := func(seed, epochs int) Spec {
		return Spec{Experiment: "test", Learner: "ours", Seed: int64(seed),
			Settings: map[string]string{"epochs": fmt.Sprint(epochs), "lr": "0.1", "clip": "min"}}
	}
	for _, n := range []int{1000, 4000} {
		store, err := Open(b.TempDir())
		if err != nil {
			b.Fatal(err)
		}
		if err := store.checkWritable("test"); err != nil {
			b.Fatal(err)
		}
		var jobs []Job
		step := func(context.Context, int) ([]Row, error) { panic("computed") }
		for i := range n + 400 {
			spec := of(i%seeds, i/seeds)
			jobs = append(jobs, Job{Spec: spec, Steps: upTo(10), Step: step})
			if i >= n {
				continue
			}
			rows := map[int][]Row{}
			for t := range 10 {
				rows[t] = []Row{{t, "accuracy", float64(t)}}
			}
			if err := os.WriteFile(store.donePath(spec), encodeResult(newResult(spec, Provenance{}, rows)), 0o644); err != nil {
				b.Fatal(err)
			}
		}
		ctx, cancel := context.WithCancel(b.Context())
		cancel() // nothing is computed
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if _, err := Execute(ctx, store, jobs, Options{Provenance: Provenance{Command: []string{"test"}}}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
