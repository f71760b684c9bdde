package study

import (
	"path/filepath"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/data/statistics"
	"tvps/figures"
	"tvps/replicate/lab"
)

// byHand returns a table with one row of every kind.
func byHand() table {
	of := func(mean, difference, low, high float64, n int) figures.SummaryRow {
		return figures.SummaryRow{Mean: statistics.Estimate{Mean: mean, N: n},
			Difference: statistics.Estimate{Mean: difference, Low: low, High: high, N: n}}
	}
	base := of(.65, 0, 0, 0, 3)
	t := table{
		Command: "go run ./ci/research study --scale small --scenario gaussian",
		Notes:   []string{"Seeds 0, 1, 2; 3 steps (1, 4, 7) of 9.", "N = 2000."},
		Steps:   []int{1, 4, 7},
		Rows: []row{
			{OwnBase: true, Steps: []int{1, 4, 7}, Results: map[string]figures.SummaryRow{"everything": base,
				"ours": of(.9, .263, .2471, .2789, 3), "exact": of(.9, -.0004, -.0104, .0004, 3)}},
			{Alternative: Alternative{Name: "clip", About: "I2", Set: []string{"clip=none"}},
				Steps: []int{1, 4, 7}, Lacking: []string{"exact"},
				Results: map[string]figures.SummaryRow{"everything": base, "ours": of(.7, .05, .05, .05, 1)}},
			{Alternative: Alternative{Name: "long", About: "I3", Set: []string{"max-updates=0", "x=1"},
				Text: "no limit"}, Steps: []int{4}, OwnBase: true,
				Results: map[string]figures.SummaryRow{"everything": of(.5921, 0, 0, 0, 3),
					"ours": of(.7, -.013, -.02, -.006, 3)}},
			{Alternative: Alternative{Name: "table2", About: "I1", Set: []string{"g-updates=200"},
				Text: "Table 2"}, Steps: []int{1, 4, 7}, OwnBase: true, Defaults: true,
				Results: map[string]figures.SummaryRow{"everything": base}},
		},
	}
	t.Key, t.Title, t.Series = "gaussian", "Drifting Gaussian", []string{"everything", "ours", "exact"}
	t.Left = []leftOut{{"slow", "it takes an hour"}, {"wide", "it is the default"}}
	return t
}

// TestStudyTable: the exact text of a table with given values.
func TestStudyTable(t *testing.T) {
	const markdown = "Drifting Gaussian: `go run ./ci/research study --scale small --scenario gaussian`." + `
Seeds 0, 1, 2; 3 steps (1, 4, 7) of 9.
N = 2000.

| setting | about | Everything | Ours | Exact weights |
|---|---|---|---|---|
| default | | 65.0% | +26.3 [24.7, 27.9] | +0.0 [-1.0, 0.0] |
` + "| `clip=none` | I2 | | +5.0 | not run |\n" +
		"| `max-updates=0 x=1`, no limit, 1 of the steps | I3 | 59.2% | -1.3 [-2.0, -0.6] | |\n" +
		"| `g-updates=200`, Table 2, the default here | I1 | 65.0% | | |\n\nLeft out:\n" +
		"- slow: it takes an hour.\n- wide: it is the default.\n"
	if got := byHand().markdown(); got != markdown {
		t.Errorf("markdown:\n%s\nwant:\n%s", got, markdown)
	}
}

func TestCommand(t *testing.T) {
	o := Options{Options: lab.Options{Scale: "small", Seeds: []int64{0, 4}, Panels: []string{"cifar10b"},
		Overrides: []string{"epochs=5", "cifar10b.n=3"}}, Rows: []string{"rate", "linear"}}
	const want = "go run ./ci/research study --scale small --seeds 0,4 --set epochs=5 --set cifar10b.n=3 " +
		"--scenario cifar10b --row rate,linear"
	if got := command(o, "cifar10b"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestSteps(t *testing.T) {
	for want, all := range map[string][]int{"1 step (7)": {7}, "3 steps (1, 5, 9)": {1, 5, 9},
		"9 steps (0, 1, ..., 8)": {0, 1, 2, 3, 4, 5, 6, 7, 8}} {
		if got := steps(all); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestUpdateFile: a file without marks is rejected before anything is computed. With marks only the chosen table
// changes.
func TestUpdateFile(t *testing.T) {
	w, tables, o := newStudy(t, clipNone)
	o.Update = filepath.Join(t.TempDir(), "x.md")
	demand.Write(t, o.Update, "no marks")
	_, _, err := Make(t.Context(), w.Lab, tables, o)
	demand.Error(t, err, "--update", o.Update, "<!-- study:gaussian:begin -->")
	if done, _ := filepath.Glob(filepath.Join(w.results, "*", "*")); len(done) > 0 {
		t.Errorf("runs were computed before the error: %v", done)
	}
	const before = "above\n<!-- study:gaussian:begin -->\n"
	const after = "<!-- study:gaussian:end -->\nbelow <!-- study:cifar10b:begin -->\n"
	demand.Write(t, o.Update, before+"old\n"+after)
	made, _, err := Make(t.Context(), w.Lab, tables, o)
	demand.NoError(t, err)
	want := before + "\n" + made[0].markdown() + "\n" + after
	if text := demand.Read(t, o.Update); string(text) != want {
		t.Errorf("%s\nwant\n%s", text, want)
	}
	demand.Words(t, w.stdout.String(), "Tables rewritten: "+o.Update)
}

// TestInterpretationsHaveMarks: measured.md has the marks of every table, each in a paragraph of its own.
func TestInterpretationsHaveMarks(t *testing.T) {
	text := demand.Read(t, filepath.Join(gallery, "archive", "interpretations", "measured.md"))
	keys := Keys(Tables())
	for _, key := range keys {
		if block, err := demand.Block(text, "study:"+key); err != nil || !strings.HasPrefix(block, "\n") {
			t.Errorf("the table of %s is not a paragraph of its own: %.40q, %v", key, block, err)
		}
	}
}
