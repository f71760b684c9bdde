package claims

import (
	"fmt"
	"slices"
	"strings"

	"tvps/data/statistics"
	"tvps/figures"
	"tvps/replicate/experiment"
	"tvps/replicate/paper"
	"tvps/replicate/runs"
)

// Evidence is what claims are judged by: the rows of panels, and those of narrow samples before those of the same
// panels as they are drawn.
type Evidence []samplePart

// samplePart is a sample of a panel, of all its series or of some.
type samplePart struct {
	panel  string // its key
	series []string
	rows   []figures.Row
	level  float64 // of the intervals
}

// newEvidence returns the rows of panels by which claims are judged.
func newEvidence(panels []Collected) Evidence {
	var e Evidence
	for _, narrow := range []bool{true, false} {
		for _, c := range panels {
			if c.Narrow == narrow {
				e = append(e, samplePart{c.Key, c.Series, c.Judging(), c.Level()})
			}
		}
	}
	return e
}

// of returns the rows by which a part is judged, and the level of its intervals.
func (e Evidence) of(p paper.Part) (rows []figures.Row, level float64) {
	return e.ofAll(p.Panel, needs(p))
}

// ofAll returns the rows by which series of a panel are judged together, and the level of their intervals.
func (e Evidence) ofAll(key string, series []string) (rows []figures.Row, level float64) {
	for _, s := range e {
		if s.panel == key && subset(series, s.series) {
			return s.rows, s.level
		}
	}
	return nil, statistics.Level
}

// lookLevel is the level of intervals at the n-th look at runs of a panel, each of which was taken because those before
// had left something undecided: an n-th of the errors of the first look, which has [statistics.Level]. Two looks
// together err in at most 7.5%, three in at most 9.2% (TestLooks).
func lookLevel(n int) float64 {
	if n < 2 {
		return statistics.Level // without rounding
	}
	return 1 - (1-statistics.Level)/float64(n)
}

// Level is that of the panel's intervals.
func (p Panel) Level() float64 { return lookLevel(p.Looks) }

// NarrowOf returns the narrow samples of a panel.
func NarrowOf(panels []Collected, key string) []Collected {
	return slices.DeleteFunc(slices.Clone(panels), func(c Collected) bool { return c.Key != key || !c.Narrow })
}

// Note says which claims are judged by a narrow sample.
func (p Panel) Note() string {
	return fmt.Sprintf("The claims about %s are judged by %s, which are more than are drawn.",
		strings.Join(SeriesLabels(p.Series...), " and "), p.Sample())
}

// Sample is how much of a panel is run: seeds, and the distance of the steps.
type Sample struct {
	Seeds  []int64 `json:"seeds"`
	Stride int     `json:"stride,omitempty"` // 0 where steps stand for no others
}

// Sample is what is run of the panel.
func (p Panel) Sample() Sample {
	s := Sample{Seeds: p.Seeds}
	if p.Sampled() {
		s.Stride = stride(p.Settings.PlannedSteps())
	}
	return s
}

// String is the sample for people, as "8 seeds, every 2nd step".
func (s Sample) String() string {
	text := runs.Plural(len(s.Seeds), "seed")
	switch s.Stride {
	case 0:
	case 1:
		text += ", every step"
	default:
		text += fmt.Sprintf(", every %s step", experiment.Ordinal(s.Stride))
	}
	return text
}

func subset[T comparable](some, of []T) bool {
	return !slices.ContainsFunc(some, func(one T) bool { return !slices.Contains(of, one) })
}
