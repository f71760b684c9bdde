package main

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/data/statistics"
	"tvps/figures"
	"tvps/replicate/claims"
	"tvps/replicate/lab"
	"tvps/replicate/notebook"
	"tvps/replicate/paper"
	"tvps/replicate/runs"
)

func TestTables(t *testing.T) {
	fig, rows := sample(t)
	result := &lab.Result{Figure: fig}
	for _, key := range []string{"a", "b"} {
		s, err := figures.Table(rows, key, "accuracy", "everything")
		demand.NoError(t, err)
		result.Figure.Tables = append(result.Figure.Tables, s)
	}
	r, err := record(t, func() error { return tables(result) })
	demand.NoError(t, err)
	if want := "[" + notebook.ValuesMIME + " text/html text/plain]"; !slices.Equal(r.types(), []string{want, want}) {
		t.Fatalf("outputs %v, want two of %s", r.types(), want)
	}
	got := r.values(0)
	want := map[string]float64{
		"fig99/a/everything/accuracy":   .5,
		"fig99/a/ours/accuracy":         .8,
		"fig99/a/ours/minus-everything": .3,
	}
	if !maps.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }) {
		t.Errorf("values %v, want %v", got, want)
	}
	demand.Words(t, r.content(t, 1, notebook.HTMLMIME), "<b>Panel b, accuracy</b>", ">Ours<", ">0.800<", ">+0.300<",
		">[-0.971, +1.571]<", ">100% of 3<", ">minus Everything<")
	if text := r.content(t, 0, notebook.PlainMIME); !strings.HasPrefix(text, "Panel a, accuracy\n") {
		t.Errorf("text %q", text)
	}
}

func TestClaims(t *testing.T) {
	judged := claims.Verification{Claims: []claims.Judged{
		{Claim: paper.Claim{ID: "fig1a-ours-everything", Text: "A & B", Place: "Section 3"}, Figure: "fig01",
			Verdict: claims.Holds, Parts: []claims.JudgedPart{{
				Part:    paper.Part{Panel: "a", Series: "ours", Base: "everything"},
				Verdict: claims.Holds,
				Effect:  statistics.Estimate{Mean: .1, Low: .05, High: .15, N: 3},
			}}},
		{Claim: paper.Claim{Text: "Not this"}, Figure: "fig01", Verdict: claims.NotRun, Parts: []claims.JudgedPart{
			{Part: paper.Part{Panel: "b", Series: "ours", Base: "recent"}, Verdict: claims.NotRun}}},
	}}
	r, err := record(t, func() error {
		return showVerdicts(&lab.Result{Figure: judged.Shown(paper.Fig1(), "go run ./replicate fig1")})
	})
	demand.NoError(t, err)
	demand.Words(t, r.content(t, 0, notebook.HTMLMIME), "<b>holds: Ours beats Everything on the Gaussian (+0.10).",
		"2 claims: 1 holds, 1 is not run.")
	demand.Words(t, r.content(t, 1, notebook.HTMLMIME), ">holds<", ">A &amp; B<", ">Section 3<",
		">Ours minus Everything: a +0.10 [+0.05, +0.15]<", ">not run<", ">go run ./replicate fig1 --panel b<")
	tiny := &lab.Result{Figure: figures.Figure{Tally: lab.TinyNote}}
	r, err = record(t, func() error { return showVerdicts(tiny) })
	demand.NoError(t, err)
	if text := r.content(t, 0, notebook.PlainMIME); text != lab.TinyNote {
		t.Errorf("at the tiny scale: %q", text)
	}
}

// What differs between machines or days is not shown.
func TestProvenance(t *testing.T) {
	made := runs.NewProvenance("xla:cpu", map[string]string{"plugin": "0.0.1", "tvps": "/home/somebody/tvps"})
	made.Commit, made.Seconds = "abcdef", 12.5
	result := &lab.Result{Record: claims.Record{MadeBy: made, Scale: "tiny", Seeds: []int64{0, 7},
		Settings: map[string]map[string]string{"a": {"epochs": "25", "batch": "128"}}, Runs: make([]claims.RunRecord, 8)}}
	r, err := record(t, func() error { return provenance(result) })
	demand.NoError(t, err)
	text := r.content(t, 0, notebook.PlainMIME)
	demand.Words(t, text, "scale: tiny", "seeds: 0 7", "backend: xla:cpu 0.0.1", "runs: 8",
		"settings of panel a: batch=128, epochs=25")
	for _, bad := range []string{"somebody", "abcdef", "12.5", made.Start.Format("2006"), made.Command[0]} {
		if bad != "" && (strings.Contains(text, bad) || strings.Contains(r.content(t, 0, notebook.HTMLMIME), bad)) {
			t.Errorf("%q is shown", bad)
		}
	}
}
