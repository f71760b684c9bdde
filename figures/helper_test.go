package figures

import (
	"math"
	"testing"
)

// near fails the test unless got is want to within 1e-4, the precision of printed
// tables of Student's t.
func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-4 || math.IsNaN(got) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

// sampleRows has three seeds and two steps. Differences ours - everything:
// seed 0: +.1 +.3, seed 1: +.2 -.4, seed 2: +.3 -.2.
func sampleRows() []Row {
	everything := [][]float64{{.5, .6}, {.5, .7}, {.4, .6}}
	ours := [][]float64{{.6, .9}, {.7, .3}, {.7, .4}}
	var rows []Row
	for seed := range everything {
		for t := range 2 {
			rows = append(rows,
				Row{"a", "everything", int64(seed), t + 1, "accuracy", everything[seed][t]},
				Row{"a", "ours", int64(seed), t + 1, "accuracy", ours[seed][t]},
				Row{"a", "recent", int64(seed), t + 1, "accuracy", ours[seed][t] - .1})
		}
	}
	return rows
}

func sampleFigure(t *testing.T) Figure {
	t.Helper()
	ours, _, err := Relative(sampleRows(), "a", "accuracy", "ours", "everything")
	if err != nil {
		t.Fatal(err)
	}
	recent, _, err := Relative(sampleRows(), "a", "accuracy", "recent", "everything")
	if err != nil {
		t.Fatal(err)
	}
	mean := NewSeries("recent", recent)
	mean.Style = MeanLine
	return Figure{
		Name: "fig01", Title: "Relative accuracy", Caption: "Above 0 is better.",
		Source: []string{"Data: made up for a test.", "Scale: tiny."},
		Panels: []Panel{{
			Key: "a", Title: "Gaussian <script> & co", XLabel: "Time step t", YLabel: "Accuracy minus Everything",
			Series: []Series{mean, NewSeries("ours", ours)}, Reference: NewReference("everything", 0),
			Notes: []string{"A note of the panel."},
		}},
	}
}
