package claims

import (
	"slices"

	"tvps/data/statistics"
	"tvps/figures"
	_ "tvps/replicate/robots" // its learners have looks
)

// noCommand is for claims of which no test reads a command.
func noCommand(string) string { return "" }

// rowsOf is the evidence of panels with these rows, all of one sample.
func rowsOf(rows []figures.Row) evidence {
	var e evidence
	for _, r := range rows {
		i := slices.IndexFunc(e, func(s samplePart) bool { return s.panel == r.Panel })
		if i < 0 {
			i, e = len(e), append(e, samplePart{panel: r.Panel, rows: rows, level: statistics.Level})
		}
		if !slices.Contains(e[i].series, r.Series) {
			e[i].series = append(e[i].series, r.Series)
		}
	}
	return e
}
