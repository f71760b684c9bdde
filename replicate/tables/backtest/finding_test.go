package backtest

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/tables"
	"tvps/replicate/tables/drift"
)

// TestFinding: a back test says whether the table drifts, from the rows that drift and weights test.
func TestFinding(t *testing.T) {
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
}
