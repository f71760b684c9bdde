package main

import (
	"bytes"
	"cmp"
	"flag"
	"maps"
	"os"
	"slices"
	"testing"

	"tvps/ci/demand"
	"tvps/data/statistics"
	"tvps/figures"
	"tvps/gomlx_models/backend"
	"tvps/replicate/experiment"
	"tvps/replicate/robots"
	"tvps/replicate/runs"

	"github.com/gomlx/gomlx/support/xslices"
)

var curves = flag.String("curves", "",
	"folder of runs with which peers/ours.csv is computed again; an interrupted test continues")

// TestLearningCurveAgreesWithSBX compares the stored learning curves of package sac and of another program, SBX (SAC in
// JAX, peers/halfcheetah.py), on gymnasium's HalfCheetah-v5. Our mean over seeds is within the 95% interval of SBX's
// mean at nine or ten of the ten evaluations. Steps and number of seeds are the same.
func TestLearningCurveAgreesWithSBX(t *testing.T) {
	if *curves != "" {
		demand.Write(t, "peers/ours.csv", computeCurve(t, *curves))
	}
	ours, sbx := curve(t, "peers/ours.csv"), curve(t, "peers/sbx.csv")
	if len(ours) != 10 || len(sbx) != 10 {
		t.Fatalf("%d and %d evaluations, want 10 of each", len(ours), len(sbx))
	}
	outside := 0
	for at, theirs := range sbx {
		of, peer := statistics.MeanInterval(ours[at]), statistics.MeanInterval(theirs)
		if of.N != 5 || peer.N != 5 {
			t.Fatalf("step %d: %d and %d seeds, want 5 of each", at, of.N, peer.N)
		}
		in := peer.Low <= of.Mean && of.Mean <= peer.High
		t.Logf("step %d: ours %.0f [%.0f, %.0f], SBX %.0f [%.0f, %.0f], within: %v",
			at, of.Mean, of.Low, of.High, peer.Mean, peer.Low, peer.High, in)
		if !in {
			outside++
		}
	}
	if outside > 1 {
		t.Errorf("at %d of 10 evaluations our mean is outside of SBX's interval, want at most 1", outside)
	}
}

// curve returns the returns in a file, by step.
func curve(t *testing.T, path string) map[int][]float64 {
	t.Helper()
	rows, err := figures.ReadCSV(bytes.NewReader(demand.Read(t, path)))
	demand.NoError(t, err)
	out := map[int][]float64{}
	for _, r := range rows {
		if r.Metric == "return" {
			out[r.T] = append(out[r.T], r.Value)
		}
	}
	return out
}

const (
	horizon         = 1000 // steps per episode of HalfCheetah-v5
	episodesBetween = 2    // training episodes between evaluations: 2,000 steps
)

// peerSettings are those of halfcheetah.py.
func peerSettings() robots.Settings {
	return robots.Settings{
		Scenario: "halfcheetah", Horizon: horizon, Repeat: 1, Valves: 1,
		Every: episodesBetween, Evaluate: robots.EvaluateComing, EvaluateEpisodes: 5,
		Episodes: 20_000 / horizon,
		Hidden:   256, Layers: 2, Batch: 256, Gamma: .99, Tau: .005,
		ActorRate: 3e-4, CriticRate: 3e-4, Alpha: .2, LearnAlpha: true,
		Replay: 1e6, BurnIn: 1000, UpdateEvery: 1,
		// Plain SAC does not use the rest, but its values must be valid.
		ContextHidden: 1, History: 1, GNetwork: "deep", GHidden: 1, GLayers: 2, GRate: 1e-4, GUpdates: 1, GBatch: 2,
		Method: "method2", GTime: "scalar", Waves: 1, Clip: "min1",
	}
}

// computeCurve returns the returns of five seeds as CSV, in the order of the seeds.
func computeCurve(t *testing.T, results string) []byte {
	b, err := backend.Open(t.Context(), "", backend.Options{Log: os.Stderr})
	demand.NoError(t, err)
	store, err := runs.Open(results)
	demand.NoError(t, err)
	host := &experiment.Host{Backend: b, Log: os.Stderr}
	wanted, err := peerSettings().Jobs(host, []string{"sac"}, []int64{0, 1, 2, 3, 4}, robots.MeasureReturn)
	demand.NoError(t, err)
	jobs := xslices.Map(wanted, func(w runs.Wanted) runs.Job { return w.Job })
	report, err := runs.Execute(t.Context(), store, jobs, runs.Options{Workers: 1, Out: os.Stderr})
	demand.NoError(t, cmp.Or(err, report.Err()))
	var rows []figures.Row
	bySeed := func(a, b *runs.Result) int { return int(a.Spec.Seed - b.Spec.Seed) }
	for _, r := range slices.SortedFunc(maps.Values(report.Results), bySeed) {
		for _, row := range r.Rows {
			if row.Metric == robots.MeasureReturn {
				rows = append(rows, figures.Row{Panel: "halfcheetah", Series: "ours", Seed: r.Spec.Seed,
					T: row.T * horizon, Metric: row.Metric, Value: row.Value})
			}
		}
	}
	var text bytes.Buffer
	demand.NoError(t, figures.WriteCSV(&text, rows))
	return text.Bytes()
}
