package rules

import (
	"encoding/json"
	"math"
	"testing"

	"tvps/ci/demand"
	"tvps/data/table"
	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/runs"
	"tvps/replicate/tables"
	"tvps/replicate/tables/backtest"
)

// TestGolden: the losses of all rules on the example table are those in testdata, which were computed when the rules
// were built in. Those that train networks may differ by rounding.
func TestGolden(t *testing.T) {
	q := backtest.Request{Model: "logistic", Last: 6, More: Extend,
		Rules: []string{"last", "window", "committee", "bagged", "power-law", "tournament", "rider", "omega-age", "omega-x",
			"omega-y-given-x"},
		Request: tables.Request{Fit: crossfit.DefaultConfig(), Source: tables.Source{
			File: "../../../data/table/examples/drifting.csv", Time: "date", Label: "returned", Bin: table.Bin{Unit: "week"}}}}
	q.Fit.Permutations = 0
	for i := range q.Fit.Candidates {
		q.Fit.Candidates[i].Updates = min(q.Fit.Candidates[i].Updates, 50)
	}
	job, err := backtest.Prepare(q)
	demand.NoError(t, err)
	store, err := runs.Open(t.TempDir())
	demand.NoError(t, err)
	r, err := job.Run(t.Context(), backtest.Host{Store: store, Workers: 1})
	demand.NoError(t, err)
	var want struct{ Blocks []backtest.BlockResult }
	demand.NoError(t, json.Unmarshal(demand.Read(t, "testdata/losses.json"), &want))
	for i, b := range want.Blocks {
		if len(r.Blocks[i].Scores) != len(b.Scores) {
			t.Errorf("%s: %d rules, want %d", b.Time, len(r.Blocks[i].Scores), len(b.Scores))
		}
		for rule, loss := range b.Scores {
			if got := r.Blocks[i].Scores[rule]; math.Abs(got-loss) > 1e-3*loss {
				t.Errorf("%s: %s loses %v, want %v", b.Time, rule, got, loss)
			}
		}
	}
}
