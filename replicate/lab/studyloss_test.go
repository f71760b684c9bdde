package lab

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"tvps/figures"
	"tvps/replicate/paper"
)

// TestStudyOfG: a row's loss, and its difference to the default, are means over the stored losses; each run has its
// own row, no classifier is trained, and the seeds are those of no figure.
func TestStudyOfG(t *testing.T) {
	w, o := newStudy(t)
	w.tables = paper.StudyOfG()
	o.Panels, o.Rows, o.Seeds = []string{"g-gaussian"}, []string{"constant-high"}, nil
	for i := range w.tables {
		w.tables[i].Alternatives = []paper.Alternative{{Name: "constant-high", About: "I1", Set: []string{"g-rate=1e-1"}}}
	}
	r, err := w.study(o)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := figures.ReadCSV(bytes.NewReader(w.read(t, "study.csv")))
	if err != nil {
		t.Fatal(err)
	}
	mean, count := map[string]float64{}, map[string]float64{}
	for _, row := range rows {
		if row.Metric != "g-loss" || row.Seed < 100 {
			t.Errorf("row %+v", row)
		}
		mean[row.Panel], count[row.Panel] = mean[row.Panel]+row.Value, count[row.Panel]+1
	}
	a := mean["g-gaussian/default"] / count["g-gaussian/default"]
	b := mean["g-gaussian/constant-high"] / count["g-gaussian/constant-high"]
	if r.Report.Computed != 8 || len(rows) != 24 || a == b {
		t.Errorf("%d runs, %d rows, losses %v and %v", r.Report.Computed, len(rows), a, b)
	}
	cells := r.Tables[0].cells()
	if cells[1][2] != fmt.Sprintf("%.4f", a) || cells[2][2] != fmt.Sprintf("%.4f", b) ||
		!strings.HasPrefix(cells[2][3], fmt.Sprintf("%+.4f [", b-a)) {
		t.Errorf("cells %q; want %.4f and %.4f", cells, a, b)
	}
	if !strings.Contains(r.Tables[0].Command, "study --loss --scale") {
		t.Errorf("command %s", r.Tables[0].Command)
	}
}
