package main

import (
	"testing"

	"tvps/figures"
)

// TestChooseForgetting: at each step the way to forget that was the best on average before is taken, Everything at
// first and the longest memory among equals; other seeds and other metrics do not count.
func TestChooseForgetting(t *testing.T) {
	accuracies := map[string][]float64{"everything": {.1, .2, .3}, "age-5": {.5, .1, .4}, "last-5": {.55, .6, .5}}
	var rows []figures.Row
	for _, name := range forgetters {
		for step := range 3 {
			value := 0.
			if of, ok := accuracies[name]; ok {
				value = of[step]
			}
			rows = append(rows, figures.Row{Panel: "a", Series: name, Seed: 1, T: 10 - step, Metric: "accuracy", Value: value},
				figures.Row{Panel: "a", Series: name, Seed: 1, T: 10 - step, Metric: "ess", Value: 9},
				figures.Row{Panel: "a", Series: name, Seed: 2, T: step, Metric: "accuracy", Value: 1})
		}
	}
	got := map[int64]map[int]float64{1: {}, 2: {}}
	for _, r := range chooseForgetting(rows) {
		if r.Series != chosen || r.Metric != "accuracy" {
			t.Errorf("a row of %s, %s", r.Series, r.Metric)
		}
		got[r.Seed][r.T] = r.Value
	}
	// Times run backwards in the made rows: Everything has .3 at 8; last-5 was best there, and has .6 at 9; last-5 again.
	for at, want := range map[int]float64{8: .3, 9: .6, 10: .55} {
		if got[1][at] != want {
			t.Errorf("at %d %v was chosen, want %v", at, got[1][at], want)
		}
	}
	if len(got[1]) != 3 || len(got[2]) != 3 {
		t.Errorf("%d and %d steps", len(got[1]), len(got[2]))
	}
}

// TestForgettingPage: the page has the table and the pictures of the runs next to it.
func TestForgettingPage(t *testing.T) {
	pictures := t.TempDir()
	checkPage(t, forgettingCommand(), "forgetting", pictures, pictures, "gaussian.svg", "images.svg")
}
