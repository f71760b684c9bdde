package reinforce

import (
	"fmt"
	"testing"

	"tvps/gomlx_models/backend/backendtest"
)

// BenchmarkTrain times steps of Half-Cheetah, each with an action, the simulation and an
// update, with SAC as ci/peers/halfcheetah.py has it: 256 units and batches of 256.
// steps/s counts those of every seed. That script prints the same rate of SBX.
func BenchmarkTrain(b *testing.B) {
	for _, name := range Learners() {
		for _, seeds := range []int{1, 2, 3, 5, 10} {
			b.Run(fmt.Sprintf("%s/seeds=%d", name, seeds), func(b *testing.B) { benchmarkTrain(b, name, seeds) })
		}
	}
}

func benchmarkTrain(b *testing.B, name string, seeds int) {
	s := miniature()
	s.Scenario, s.Horizon, s.Hidden, s.Batch, s.Replay, s.BurnIn = "halfcheetah", 50, 256, 256, 1e6, 100
	s.ContextHidden, s.History, s.GHidden, s.GBatch, s.GUpdates = 30, 30, 64, 512, 4
	list := make([]int64, seeds)
	for i := range list {
		list[i] = int64(i)
	}
	e := &Env{Backend: backendtest.Open(b, "")}
	t, stop, err := e.training(b.Context(), s, name, list)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(stop)
	if err := t.renew(); err != nil {
		b.Fatal(err)
	}
	episode := func() {
		if err := t.next(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	for range 3 { // through the random actions, and one with updates
		episode()
	}
	for b.Loop() {
		episode()
	}
	b.ReportMetric(float64(b.N*seeds*s.Horizon)/b.Elapsed().Seconds(), "steps/s")
}
