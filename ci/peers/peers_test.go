package main

import (
	"os"
	"testing"

	"tvps/figures"
)

// The stored learning curves: at all but at most one evaluation our mean over seeds is within the 95% interval of
// SBX's, at the same steps and with the same number of seeds.
func TestLearningCurveIsThatOfSBX(t *testing.T) {
	ours, sbx := curve(t, "ours.csv"), curve(t, "sbx.csv")
	if len(ours) != 10 || len(sbx) != 10 {
		t.Fatalf("%d and %d evaluations, want 10 of each", len(ours), len(sbx))
	}
	outside := 0
	for at, theirs := range sbx {
		of, peer := figures.MeanInterval(ours[at]), figures.MeanInterval(theirs)
		if of.N != 5 || peer.N != 5 {
			t.Fatalf("step %d: %d and %d seeds, want 5 of each", at, of.N, peer.N)
		}
		in := peer.Low <= of.Mean && of.Mean <= peer.High
		t.Logf("step %d: ours %.0f [%.0f, %.0f], SBX %.0f [%.0f, %.0f], within: %v", at, of.Mean, of.Low, of.High,
			peer.Mean, peer.Low, peer.High, in)
		if !in {
			outside++
		}
	}
	if outside > 1 {
		t.Errorf("at %d of 10 evaluations our mean lies outside SBX's interval", outside)
	}
}

// curve reads the returns of a file, by step.
func curve(t *testing.T, path string) map[int][]float64 {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := figures.ReadCSV(file)
	if err != nil {
		t.Fatal(err)
	}
	out := map[int][]float64{}
	for _, r := range rows {
		if r.Metric == "return" {
			out[r.T] = append(out[r.T], r.Value)
		}
	}
	return out
}
