package ci

import (
	"cmp"
	"path/filepath"
	"slices"
	"testing"

	"tvps/ci/demand"
	"tvps/figures"
	"tvps/replicate/paper"
)

// exception is a series whose golden would not notice that its learner was replaced by Everything, and why. Empty
// fields mean all.
type exception struct{ figure, panel, series, why string }

var exceptions = []exception{
	{"fig02", "", "", "robots have no Everything"},
	{"fig10", "", "", "robots have no Everything"},
	{"fig11", "", "", "robots have no Everything"},
	{"fig05", "a", "data", "the mean of the data: no learner"},
	{"fig14", "a", "ours", "without a shift the exact weights are 1, so Ours is Everything but for the error of g: " +
		"their accuracies differ by at most 6 of 1000 samples, and those of Ours by 2 between machines"},
}

// sameSettings is, for a figure without Everything, one that has it in the same panels under the same settings.
var sameSettings = map[string]string{"fig08": "fig07"}

// TestGoldensNoticeEverything: in each panel, the golden of each learner with Everything's numbers under its name is
// found to differ. On weights Everything is the constant 1, among discrepancies it is that of the unweighted samples.
func TestGoldensNoticeEverything(t *testing.T) {
	rules, err := ParseTolerances(tolerances)
	demand.NoError(t, err)
	golden := map[string][]figures.Row{}
	for _, f := range paper.Figures() {
		golden[f.Name()] = readGolden(t, filepath.Join("golden", f.Name()+"-tiny.csv"))
	}
	compared := 0
	for _, f := range paper.Figures() {
		for _, p := range f.Panels {
			for _, series := range seriesOf(golden[f.Name()], p.Key) {
				if series == "everything" || series == "raw" {
					continue
				}
				own := ofSeries(golden[f.Name()], p.Key, series)
				replaced := replace(own, golden[cmp.Or(sameSettings[f.Name()], f.Name())])
				noticed := replaced != nil && len(Compare(f.Name(), own, replaced, rules)) > 0
				excused := slices.ContainsFunc(exceptions, func(e exception) bool {
					return e.figure == f.Name() && cmp.Or(e.panel, p.Key) == p.Key && cmp.Or(e.series, series) == series
				})
				switch {
				case !noticed && !excused:
					t.Errorf("%s panel %s: the golden of %s is that of Everything within its tolerances: tighten them",
						f.Name(), p.Key, series)
				case noticed && excused:
					t.Errorf("%s panel %s: the golden of %s notices Everything: it needs no exception", f.Name(), p.Key, series)
				case noticed:
					compared++
				}
			}
		}
	}
	if compared < 80 {
		t.Errorf("only %d series were compared", compared)
	}
}

// seriesOf lists the series of a panel.
func seriesOf(rows []figures.Row, panel string) []string {
	var out []string
	for _, r := range rows {
		if r.Panel == panel && !slices.Contains(out, r.Series) {
			out = append(out, r.Series)
		}
	}
	return out
}

// ofSeries are the rows of a series.
func ofSeries(rows []figures.Row, panel, series string) []figures.Row {
	return slices.DeleteFunc(slices.Clone(rows), func(r figures.Row) bool {
		return r.Panel != panel || r.Series != series
	})
}

// replace returns the rows of a learner with the values that Everything has at the same seeds and steps among the
// others; nil if it has none.
func replace(own, others []figures.Row) []figures.Row {
	value := map[place]float64{}
	for _, r := range others {
		if r.Series == "everything" || r.Series == "raw" {
			value[placeOf(r)] = r.Value
		}
	}
	out := slices.Clone(own)
	for i, r := range out {
		at := placeOf(r)
		at.series.series = "everything"
		everything, ok := value[at]
		if at.series.series = "raw"; !ok {
			everything, ok = value[at]
		}
		switch {
		case ok:
			out[i].Value = everything
		case r.Metric == "score": // of one sample: its weight
			out[i].Value = 1
		default:
			return nil
		}
	}
	return out
}
