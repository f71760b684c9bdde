package main

import (
	"maps"
	"math"
	"path/filepath"
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
	demand.Equal(t, r.content(t, 0, notebook.PlainMIME), lab.TinyNote, "at the tiny scale")
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

// The claims of every figure of the paper can be shown from the committed gallery.
func TestFound(t *testing.T) {
	gallery := filepath.Join("..", "..", "..", "figures", "gallery")
	verdicts := t.TempDir() // the gallery without its pictures, which take long to reduce
	demand.Write(t, filepath.Join(verdicts, "verify.json"), demand.Read(t, filepath.Join(gallery, "verify.json")))
	for _, f := range paper.Figures() {
		r, err := record(t, func() error { return found(verdicts, f.Number) })
		demand.NoError(t, err)
		text := r.content(t, 1, notebook.PlainMIME)
		demand.Words(t, text, "scale small", f.Caption, "go run ./replicate "+f.Command())
		for _, c := range f.Claims {
			demand.Words(t, text, c.Place)
		}
	}
	for figure, words := range map[int]string{1: "holds on CIFAR-10; CLEAR not tested: On CIFAR-10a, CIFAR-10b and CLEAR, Ours",
		4: "holds on the Gaussian; CLEAR not tested: Ours is better than Everything, on the Gaussian and on CLEAR"} {
		r, err := record(t, func() error { return found(verdicts, figure) })
		demand.NoError(t, err)
		demand.Words(t, r.content(t, 0, notebook.PlainMIME), "; CLEAR not tested.\n")
		demand.Words(t, r.content(t, 1, notebook.PlainMIME), words)
		demand.Words(t, r.content(t, 1, notebook.HTMLMIME), "; CLEAR not tested</td>")
	}
	r, err := record(t, func() error { return found(gallery, 14) })
	if err != nil || len(r) != 3 || r[1].Data[notebook.SVGMIME] == nil {
		t.Errorf("%v, outputs %v, want the answer, a picture and the claims", err, r.types())
	}
	if r[2].Data[notebook.ValuesMIME] == nil || !strings.HasPrefix(r.content(t, 2, notebook.HTMLMIME), "<details>") {
		t.Errorf("the claims are not folded, or have no numbers for the check: %v", r[2])
	}
	r, err = record(t, func() error { return found(gallery, 2) })
	demand.NoError(t, err)
	demand.Words(t, r.content(t, 5, notebook.PlainMIME), "scale medium")
	r, err = record(t, func() error { return found(gallery, 1, "b", "c") })
	if err != nil || len(r) != 4 || r.content(t, 1, notebook.PlainMIME) != "Picture: fig01-b.svg" {
		t.Errorf("%v, of panels b and c: %v", err, r.types())
	}
	if svg := r.content(t, 1, notebook.SVGMIME); strings.Contains(svg, "\n") || !strings.Contains(svg, "</svg>") {
		t.Error("the picture has line breaks, or no end")
	}
	demand.Error(t, found(t.TempDir(), 1), "verify.json")
}

// The numbers are those of the figure's own seeds and steps, which may be in two tables.
func TestMeasured(t *testing.T) {
	gallery := t.TempDir()
	_, rows := sample(t)
	rows = rows[:6*2]
	for i := range rows {
		rows[i].T = 1 + 3*rows[i].T // every third step
	}
	fig := figures.Figure{Name: "fig01", Compact: true, Panels: []figures.Chart{{Key: "a",
		Series: []figures.Series{figures.NewSeries("ours", []figures.Point{figures.Exactly(0, 0)})},
		Others: rows[8:]}}}
	between := figures.Row{Panel: "a", Series: "ours", Seed: 1, T: 3, Metric: "accuracy", Value: 9}
	further := figures.Row{Panel: "a", Series: "ours", Seed: 9, T: 4, Metric: "accuracy", Value: 9}
	demand.NoError(t, figures.Write(fig, append(rows[:8:8], between, further), nil, filepath.Join(gallery, "fig01")))
	m, err := measured(gallery, 1, "a")
	demand.NoError(t, err)
	want := notebook.Measurement{Series: "ours", Seed: 1, T: 7, Value: rows[11].Value}
	if len(m) != 12 || m[11] != want || m[11].Value < .8 {
		t.Errorf("%d numbers, the last is %v, want %v", len(m), m[11], want)
	}
	demand.List(t, m.Steps(), []int{1, 4, 7}, "steps")
	_, err = measured(gallery, 1, "x")
	demand.Error(t, err, "has no panel \"x\"")
}
