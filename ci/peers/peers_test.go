package main

import (
	"os"
	"testing"

	"tvps/figures"
)

// In the stored learning curves our mean over seeds is within the 95% interval of SBX's mean at
// nine or ten of the ten evaluations. Steps and number of seeds are the same.
func TestLearningCurveAgreesWithSBX(t *testing.T) {
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
