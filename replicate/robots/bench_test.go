package robots

import (
	"fmt"
	"testing"

	"tvps/ci/demand"
	"tvps/gomlx_models/backend"
	"tvps/replicate/experiment"
)

// BenchmarkTrain times steps of Half-Cheetah, each with an action, the simulation and an update, with SAC as in
// ci/research/peers/halfcheetah.py: 256 units and batches of 256. steps/s is summed over seeds. That script prints the
// same throughput for SBX. threads as of the setting.
func BenchmarkTrain(b *testing.B) {
	for _, name := range agents() {
		for _, seeds := range []int{1, 2, 3, 5, 10} {
			for _, threads := range []int{0, 1, 2} {
				b.Run(fmt.Sprintf("%s/seeds=%d/threads=%d", name, seeds, threads),
					func(b *testing.B) { benchmarkTrain(b, name, seeds, threads) })
			}
		}
	}
}

func benchmarkTrain(b *testing.B, name string, seeds, threads int) {
	s := miniature()
	s.Scenario, s.Horizon, s.Hidden, s.Batch, s.Replay, s.BurnIn = "halfcheetah", 50, 256, 256, 1e6, 100
	s.ContextHidden, s.History, s.GHidden, s.GBatch, s.GUpdates = 30, 30, 64, 512, 4
	s.Threads = threads
	list := make([]int64, seeds)
	for i := range list {
		list[i] = int64(i)
	}
	configs, err := s.configs(&experiment.Host{Backend: backend.ForTest(b, "")}, []string{name}, MeasureReturn)
	demand.NoError(b, err)
	t, stop, err := configs[0].training(b.Context(), list)
	demand.NoError(b, err)
	b.Cleanup(stop)
	demand.NoError(b, t.restart())
	for range 3 { // two with random actions, and one with updates
		demand.NoError(b, t.train())
	}
	for b.Loop() {
		demand.NoError(b, t.train())
	}
	b.ReportMetric(float64(b.N*seeds*s.Horizon)/b.Elapsed().Seconds(), "steps/s")
}
