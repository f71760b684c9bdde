package claims

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"

	"tvps/ci/demand"
	"tvps/figures"
	"tvps/replicate/paper"
	"tvps/replicate/runs"
)

// A figure is judged by its own copy of a step; another figure's stands in where it has none.
func TestOwnTableFirst(t *testing.T) {
	spec := runs.Spec{Experiment: "gaussian", Learner: "ours"}
	run := &tableRun{spec: spec, values: map[metricStep]map[string]float64{}}
	tables := &Tables{byID: map[string]*tableRun{spec.ID(): run}}
	known := map[seriesSeed]*tableRun{{"a", "ours", 0}: run}
	head := "panel,series,seed,t,metric,value\n"
	for figure, text := range map[string]string{
		"fig01": head + "a,ours,0,1,accuracy,.1\na,ours,0,2,accuracy,.2\n",
		"fig03": head + "a,ours,0,2,accuracy,.3\n",
	} {
		demand.NoError(t, addRows(known, []byte(text), figure))
	}
	for figure, want := range map[string]float64{"fig01": .2, "fig03": .3, "fig12": .3} {
		r, ok := tables.read(spec, "accuracy", figure)
		if !ok || len(r.Rows) != 2 || r.Rows[0].Value != .1 || r.Rows[1].Value != want {
			t.Errorf("%s: rows %v, want .1 and %v", figure, r.Rows, want)
		}
	}
}

// Judged rows of another backend than the drawn ones are those of its run.
func TestJudgedElsewhere(t *testing.T) {
	record := func(backend string) (runs.Spec, RunRecord) {
		spec := runs.Spec{Experiment: "cifar10b", Learner: "ours", Settings: map[string]string{"backend": backend}}
		return spec, RunRecord{ID: spec.ID(), Panel: "c", Series: "ours", Run: "cifar10b/ours seed 0",
			Provenance: runs.Provenance{Config: spec.Settings}}
	}
	cpu, drawn := record("xla:cpu")
	cuda, judged := record("xla:cuda")
	provenance, err := json.Marshal(Record{Runs: []RunRecord{drawn},
		Judged: map[string]JudgedSample{"c": {Runs: []RunRecord{judged}}}})
	demand.NoError(t, err)
	dir, sums := t.TempDir(), ""
	head := "panel,series,seed,t,metric,value\n"
	for name, text := range map[string]string{
		figures.ProvenanceFile: string(provenance),
		"fig01-c.csv":          head + "c,ours,0,1,accuracy,.1\n",
		"fig01-c-judged.csv":   head + "c,ours,0,1,accuracy,.2\nc,ours,0,2,accuracy,.3\n",
	} {
		sums += fmt.Sprintf("%x  %s\n", sha256.Sum256([]byte(text)), name)
		demand.Write(t, filepath.Join(dir, name), text)
	}
	demand.Write(t, filepath.Join(dir, figures.SumsFile), sums)
	tables := &Tables{byID: map[string]*tableRun{}}
	demand.NoError(t, tables.AddFigure(paper.Fig1(), dir))
	for _, c := range []struct {
		spec  runs.Spec
		first float64
		steps int
	}{{cpu, .1, 1}, {cuda, .2, 2}} {
		r, ok := tables.read(c.spec, "accuracy", "fig01")
		if !ok || len(r.Rows) != c.steps || r.Rows[0].Value != c.first {
			t.Errorf("%v: %+v", c.spec.Settings, r)
		}
	}
}
