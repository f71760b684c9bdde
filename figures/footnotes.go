package figures

import (
	"fmt"
	"math"
	"slices"
)

// footnotes returns the panel's own sentences: what the band is, the notes, and how many
// points the limits of the axis hide.
func (p Chart) footnotes() []string {
	var notes []string
	if band := p.bandNote(); band != "" {
		notes = append(notes, band)
	}
	notes = append(notes, p.Notes...)
	if hidden := p.hidden(); hidden > 0 {
		notes = append(notes, fmt.Sprintf("Points outside the drawn range of the y axis: %d.", hidden))
	}
	return notes
}

// seeds returns the least and the greatest number of seeds of any point that has an interval.
func (p Chart) seeds() (fewest, most int) {
	fewest = math.MaxInt
	for _, s := range p.Series {
		for _, pt := range s.Points {
			if pt.N > 0 {
				fewest, most = min(fewest, pt.N), max(most, pt.N)
			}
		}
	}
	return fewest, most
}

func (p Chart) bandNote() string {
	fewest, most := p.seeds()
	banded := slices.ContainsFunc(p.lines(), func(l line) bool { return len(l.bands) > 0 })
	seeds := fmt.Sprint(most)
	if fewest < most {
		seeds = fmt.Sprintf("%d to %d", fewest, most)
	}
	switch {
	case p.Bands != "":
		return p.Bands
	case banded:
		return fmt.Sprintf("Lines: mean over seeds; bands: 95%% interval of the mean (Student's t); n = %s seeds.", seeds)
	case most == 1:
		return "One seed only: no interval."
	}
	return ""
}

// hidden counts drawn means outside YRange.
func (p Chart) hidden() int {
	count := 0
	p = p.shown()
	for _, l := range p.lines() {
		for _, m := range l.marks {
			if !l.level && (m.y < p.low || m.y > p.high) {
				count++
			}
		}
	}
	return count
}
