package claims

import (
	"testing"

	"tvps/replicate/runs"
)

// A figure is judged by its own copy of a step; another figure's stands in where it has none.
func TestOwnTableFirst(t *testing.T) {
	spec := runs.Spec{Experiment: "gaussian", Learner: "ours"}
	run := &tableRun{spec: spec, values: map[string]map[int]map[string]float64{}}
	tables := &Tables{byID: map[string]*tableRun{spec.ID(): run}}
	known := map[seriesSeed]*tableRun{{"a", "ours", 0}: run}
	head := "panel,series,seed,t,metric,value\n"
	for figure, text := range map[string]string{
		"fig01": head + "a,ours,0,1,accuracy,.1\na,ours,0,2,accuracy,.2\n",
		"fig03": head + "a,ours,0,2,accuracy,.3\n",
	} {
		if err := addRows(known, []byte(text), figure); err != nil {
			t.Fatal(err)
		}
	}
	for figure, want := range map[string]float64{"fig01": .2, "fig03": .3, "fig12": .3} {
		r, ok := tables.read(spec, "accuracy", figure)
		if !ok || len(r.Rows) != 2 || r.Rows[0].Value != .1 || r.Rows[1].Value != want {
			t.Errorf("%s: rows %v, want .1 and %v", figure, r.Rows, want)
		}
	}
}
