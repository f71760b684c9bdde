package main

import (
	"math"
	"os/exec"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"
)

// TestExact: the exact log ratio is that of two normal densities.
func TestExact(t *testing.T) {
	r := rows{X: []float64{.7}, Time: []int{5}}
	density := func(mean float64) float64 { return math.Exp(-(.7-mean)*(.7-mean)/2) / math.Sqrt(2*math.Pi) }
	if want := math.Log(density(1.9) / density(.5)); math.Abs(r.exact()[0]-want) > 1e-12 {
		t.Errorf("%v, want %v", r.exact()[0], want)
	}
}

// TestPeers: scikit-learn's logistic regression on x and x^2, whose model holds, finds the ratio.
func TestPeers(t *testing.T) {
	if exec.Command("python3", "-c", "import sklearn").Run() != nil {
		t.Skip("no python3 with scikit-learn")
	}
	test := draw("test")
	results, err := theirs(t.Context(), "python3", draw("train"), test)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(results[0].Name, "scikit-learn, logistic") {
		t.Fatalf("first result: %s", results[0].Name)
	}
	if c := stat.Correlation(results[0].Log, test.exact(), nil); c < .95 {
		t.Errorf("correlation %.3f", c)
	}
}

// TestNoPython: without Python the command says so.
func TestNoPython(t *testing.T) {
	var out strings.Builder
	err := compareRatios(t.Context(), "no-such-python", &out)
	if err != nil || !strings.Contains(out.String(), "no scikit-learn") {
		t.Errorf("%q, %v", out.String(), err)
	}
}
