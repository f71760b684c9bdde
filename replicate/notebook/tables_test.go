package notebook

import (
	"encoding/json"
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
	"tvps/replicate/paper"
	"tvps/replicate/runs"
)

// values reads a message's numbers as `kernel check` does.
func values(t *testing.T, m message) map[string]float64 {
	t.Helper()
	text, err := json.Marshal(m.data[ValuesMIME])
	demand.NoError(t, err)
	var v struct{ Values map[string]float64 }
	demand.NoError(t, json.Unmarshal(text, &v))
	return v.Values
}

func TestTables(t *testing.T) {
	r := record(t)
	fig, rows := sample(t)
	result := &lab.Result{Figure: fig}
	for _, key := range []string{"a", "b"} {
		s, err := figures.Table(rows, key, "accuracy", "everything")
		demand.NoError(t, err)
		result.Figure.Tables = append(result.Figure.Tables, s)
	}
	Tables(result)
	if want := "[" + ValuesMIME + " text/html text/plain]"; !slices.Equal(r.types(), []string{want, want}) {
		t.Fatalf("outputs %v, want two of %s", r.types(), want)
	}
	got := values(t, r.messages[0])
	want := map[string]float64{
		"fig99/a/everything/accuracy":   .5,
		"fig99/a/ours/accuracy":         .8,
		"fig99/a/ours/minus-everything": .3,
	}
	if !maps.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }) {
		t.Errorf("values %v, want %v", got, want)
	}
	demand.Words(t, r.content(t, 1, htmlMIME), "<b>Panel b, accuracy</b>", ">Ours<", ">0.8000<", ">+0.3000<",
		">[-0.9706, +1.5706]<", ">100% of 3<", ">minus Everything<")
	if text := r.content(t, 0, plainMIME); !strings.HasPrefix(text, "Panel a, accuracy\n") {
		t.Errorf("text %q", text)
	}
}

func TestValues(t *testing.T) {
	r := record(t)
	Values(map[string]float64{"b <": 1. / 3, "a": 2, "a, t = 100": 4, "A, t = 20": 3})
	if got := values(t, r.messages[0]); got["b <"] != 1./3 || got["a"] != 2 {
		t.Errorf("values %v: the numbers must keep all digits", got)
	}
	if text := r.content(t, 0, plainMIME); text != "a = 2\nA, t = 20 = 3\na, t = 100 = 4\nb < = 0.3333" {
		t.Errorf("text %q", text)
	}
	demand.Words(t, r.content(t, 0, htmlMIME), ">b &lt;<")
}

func TestClaims(t *testing.T) {
	r := record(t)
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
	Claims(&lab.Result{Figure: judged.Shown(paper.Fig1(), "go run ./replicate fig1")})
	demand.Words(t, r.content(t, 0, htmlMIME), "<b>holds: Ours beats Everything on the Gaussian (+0.10).",
		"2 claims: 1 holds, 1 is not run.")
	demand.Words(t, r.content(t, 1, htmlMIME), ">holds<", ">A &amp; B<", ">Section 3<",
		">Ours minus Everything: a +0.10 [+0.05, +0.15]<", ">not run<", ">go run ./replicate fig1 --panel b<")
	Claims(&lab.Result{Figure: figures.Figure{Tally: lab.TinyNote}})
	if text := r.content(t, 2, plainMIME); text != lab.TinyNote {
		t.Errorf("at the tiny scale: %q", text)
	}
}

// What differs between machines or days is not shown.
func TestProvenance(t *testing.T) {
	r := record(t)
	made := runs.NewProvenance("xla:cpu", map[string]string{"plugin": "0.0.1", "tvps": "/home/somebody/tvps"})
	made.Commit, made.Seconds = "abcdef", 12.5
	Provenance(&lab.Result{Record: claims.Record{MadeBy: made, Scale: "tiny", Seeds: []int64{0, 7},
		Settings: map[string]map[string]string{"a": {"epochs": "25", "batch": "128"}}, Runs: make([]claims.RunRecord, 8)}})
	text := r.content(t, 0, plainMIME)
	demand.Words(t, text, "scale: tiny", "seeds: 0 7", "backend: xla:cpu 0.0.1", "runs: 8",
		"settings of panel a: batch=128, epochs=25")
	for _, bad := range []string{"somebody", "abcdef", "12.5", made.Start.Format("2006"), made.Command[0]} {
		if bad != "" && (strings.Contains(text, bad) || strings.Contains(r.content(t, 0, htmlMIME), bad)) {
			t.Errorf("%q is shown", bad)
		}
	}
}
