package figures

import (
	"testing"

	"tvps/ci/demand"
	"tvps/data/statistics"
)

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
	ours, err := Means(sampleRows(), "a", "accuracy", "ours", "everything")
	demand.NoError(t, err)
	recent, err := Means(sampleRows(), "a", "accuracy", "recent", "everything")
	demand.NoError(t, err)
	mean := NewSeries("recent", recent)
	mean.Mean = true
	return Figure{
		Name: "fig01", Title: "Relative accuracy", Caption: "Above 0 is better.",
		Source: []string{"Data: made up for a test.", "Scale: tiny."},
		Panels: []Chart{{
			Key: "a", Title: "Gaussian <script> & co", XLabel: "Time step t", YLabel: "Accuracy minus Everything",
			Series: []Series{mean, NewSeries("ours", ours)}, Reference: NewReference("everything", 0),
			Notes: []string{"A note of the panel."},
		}},
	}
}

// fullFigure is the sample with a second panel and everything that its page can show.
func fullFigure(t *testing.T) Figure {
	t.Helper()
	fig := sampleFigure(t)
	second := fig.Panels[0]
	second.Key, second.Title, second.Notes = "b", "Gaussian again", []string{"In both panels.", "Made of <dots>"}
	fig.Panels[0].Notes = []string{"Only here.", "In both panels."}
	fig.Panels = append(fig.Panels, second)
	table, err := Table(sampleRows(), "a", "accuracy", "everything")
	demand.NoError(t, err)
	fig.Tables = []Summary{table}
	fig.Data = []string{"Made of <dots>."}
	fig.Command = `go run ./make 1 --set "a<b"`
	fig.Links = []Link{{"All <numbers>", "claims.json", "claims.json"}, {Label: "Runs", Text: "gaussian"}}
	holds, open := Verdict{"holds", Confirmed}, Verdict{"undecided", Open}
	no, none := Verdict{"does not hold", Contradicted}, Verdict{"not run", Missing}
	const above = "Ours minus Everything (claimed above 0)"
	fig.Claims = []Claim{
		{ID: "1", Text: "Ours is better", Place: "Section 9", Says: `"<much> better"`, Verdict: Verdict{"partly", Mixed},
			Parts: []ClaimPart{
				{above, "Ours minus Everything", Points, "a", estimate(.125, .1, .15, 3), holds, ", every 2nd step",
					"go run ./make 1 --panel a", ""},
				{above, "Ours minus Everything", Points, "b (made up)", estimate(-.0001, -.2, .2, 3), open, "", "", ""},
			}},
		{ID: "2", Text: "It does not take long", Place: "Section 8", Says: "a curve", Verdict: no,
			Parts: []ClaimPart{{"Ours is fast", "steps of Ours", "", "a", estimate(7, 7, 7, 1), no, "", "", ""}}},
		{ID: "3", Text: "It is easy", Place: "Section 7", Says: "nothing", Verdict: none, Command: "go run ./make 2"},
		{ID: "4", Text: "It is short", Place: "Section 6", Says: "a page", Verdict: none,
			Parts: []ClaimPart{{"Ours is short", "time of Ours", "", "b", statistics.Estimate{}, none, "", "", ""}}},
	}
	return fig
}

func estimate(mean, low, high float64, n int) statistics.Estimate {
	return statistics.Estimate{Mean: mean, Low: low, High: high, N: n}
}
