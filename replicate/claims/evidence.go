package claims

import (
	"tvps/data/statistics"
	"tvps/figures"
)

// evidence is what claims are judged by: the rows of panels, and those of narrow samples before those of the same
// panels as they are drawn.
type evidence []samplePart

// samplePart is a sample of a panel, of all its series or of some.
type samplePart struct {
	panel  string // its key
	series []string
	rows   []figures.Row
	level  float64 // of the intervals
}

// newEvidence returns the rows of panels by which claims are judged.
func newEvidence(panels []Collected) evidence {
	var e evidence
	for _, narrow := range []bool{true, false} {
		for _, c := range panels {
			if c.Narrow == narrow {
				e = append(e, samplePart{c.Key, c.Series, c.Judging(), c.Level()})
			}
		}
	}
	return e
}

// of returns the rows by which series of a panel are judged together, and the level of their intervals.
func (e evidence) of(key string, series []string) (rows []figures.Row, level float64) {
	for _, s := range e {
		if s.panel == key && len(without(series, s.series)) == 0 {
			return s.rows, s.level
		}
	}
	return nil, statistics.Level
}

// Level is that of the panel's intervals. The n-th look at its runs was taken because those before had left something
// undecided. Its intervals have an n-th of the errors of the first look's, which have [statistics.Level]. Two looks
// together err in at most 7.5%, three in 9.2%, four in 10.4% (TestLooks).
func (p Panel) Level() float64 {
	if p.Looks < 2 {
		return statistics.Level // without rounding
	}
	return 1 - (1-statistics.Level)/float64(p.Looks)
}
