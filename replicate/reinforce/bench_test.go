package reinforce

import (
	"fmt"
	"slices"
	"testing"

	"tvps/figures"
	"tvps/gomlx_models/backend/backendtest"
	"tvps/gomlx_models/propensity"
	"tvps/replicate/experiment"
	"tvps/replicate/runs"
)

// BenchmarkTrain times steps of Half-Cheetah, each with an action, the simulation and an update, with SAC as in
// ci/peers/halfcheetah.py: 256 units and batches of 256. steps/s is summed over seeds. That script prints the same
// throughput for SBX. threads as of the setting.
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
	t, stop, err := configOf(&experiment.Host{Backend: backendtest.Open(b, "")}, s, name).training(b.Context(), list)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(stop)
	if err := t.restart(); err != nil {
		b.Fatal(err)
	}
	episode := func() {
		if err := t.train(); err != nil {
			b.Fatal(err)
		}
	}
	for range 3 { // two with random actions, and one with updates
		episode()
	}
	for b.Loop() {
		episode()
	}
	b.ReportMetric(float64(b.N*seeds*s.Horizon)/b.Elapsed().Seconds(), "steps/s")
}

const encodingEpisodes = 400

// BenchmarkEncodings measures what g learns from 400 episodes of random actions with each encoding of the episode's
// number, the first table of I25: its loss on new episodes from number 100, and at the end the effective share and the
// correlations of omega with the tasks. Seeds 100 to 105, which no figure uses. Run it with -benchtime 1x.
func BenchmarkEncodings(b *testing.B) {
	for _, scenario := range []string{"cheetah", "claw"} {
		for _, time := range propensity.BatchedEncodings() {
			for _, rate := range []float64{1e-4, 3e-4, 1e-3} {
				b.Run(fmt.Sprintf("%s/%s/%g", scenario, time, rate), func(b *testing.B) {
					setup, err := At(scenario, experiment.Paper)
					if err != nil {
						b.Fatal(err)
					}
					s := setup.(Settings)
					s.GTime, s.GRate, s.BurnIn, s.Every = time, rate, 1e8, encodingEpisodes-100
					benchmarkEncoding(b, s, 100, 101, 102, 103, 104, 105)
				})
			}
		}
	}
}

func benchmarkEncoding(b *testing.B, s Settings, seeds ...int64) {
	for b.Loop() {
		t, stop, err := configOf(&experiment.Host{Backend: backendtest.Open(b, "")}, s, "sac-omega").training(b.Context(), seeds)
		if err != nil {
			b.Fatal(err)
		}
		if err := t.restart(); err != nil {
			b.Fatal(err)
		}
		for t.episode < encodingEpisodes {
			if err := t.train(); err != nil {
				b.Fatal(err)
			}
			if err := t.agent.FitOmega(); err != nil {
				b.Fatal(err)
			}
		}
		t.members = make([]runs.Spec, len(seeds))
		for i, seed := range seeds {
			t.members[i].Seed = seed
		}
		rows := make([][]runs.Row, len(seeds))
		if err := t.addOmega(rows); err != nil {
			b.Fatal(err)
		}
		stop()
		for _, metric := range []string{OmegaLoss, OmegaShare, OmegaWind, OmegaSimilarity} {
			if values := metrics(slices.Concat(rows...), metric); len(values) > 0 {
				e := figures.MeanInterval(values)
				b.ReportMetric(e.Mean, metric)
				b.ReportMetric(e.High-e.Mean, "+-"+metric)
			}
		}
	}
}
