package backtest

import (
	"context"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"tvps/ci/demand"
	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/tables"
	"tvps/replicate/tables/drift"
)

// TestRecord: a back test says whether the table drifts, from the rows that drift and weights test, and stores that
// with its verdict, which is found by the table's content or its name, and by the columns.
func TestRecord(t *testing.T) {
	dir := t.TempDir()
	q := Request{Request: tables.Request{Source: turning(t, 16), Fit: crossfit.ForTest(60)}, Model: "logistic",
		Kinds: []crossfit.Kind{}, Rules: []string{}, Last: 4}
	q.Fit.Permutations = tables.LeastPermutations
	r := run(t, dir, q)
	if lines := strings.Split(r.String(), "\n"); lines[0] != r.Verdict.Sentence || lines[1] != r.Finding.Sentence+"." ||
		strings.Join(r.Finding.Drifting(), ", ") != tables.InRule {
		t.Errorf("the summary begins with %q", lines[:2])
	}
	p, err := Prepare(q)
	demand.NoError(t, err)
	d, err := drift.Prepare(q.Request)
	if err != nil || !reflect.DeepEqual(p.Tested, d.Tested) || !reflect.DeepEqual(p.Request.Request, d.Request) {
		t.Errorf("drift tests other rows: %v", err)
	}
	h := host(t, dir)
	if again, err := runOn(context.Background(), h, q); err != nil || !reflect.DeepEqual(r, again) {
		t.Errorf("the second run differs: %v, %v", again, err)
	}
	today := time.Now().UTC().Format("2006-01-02")
	want := "the last back test of this table (" + today + ", model logistic) says: " + r.Verdict.Sentence
	text := demand.Read(t, q.File)
	copied, other := q.Source, q.Source
	copied.File, other.Label = demand.CSV(t, string(text)), "x"
	if got := []string{LastVerdict(dir, q.Source), LastVerdict(dir, copied), LastVerdict(dir, other)}; got[0] != want ||
		got[1] != want || got[2] != "" {
		t.Errorf("the last verdicts are %q, want %q", got, want)
	}
	for _, file := range []string{q.File, copied.File} {
		demand.NoError(t, os.WriteFile(file, append(text, "15,0,red,true,0,1\n"...), 0o644))
	}
	if got := LastVerdict(dir, q.Source); got != strings.Replace(want, ")", ", before the table changed)", 1) {
		t.Errorf("of a longer table: %q", got)
	}
	if got := LastVerdict(dir, copied); got != "" {
		t.Errorf("of another table: %q", got)
	}
}
