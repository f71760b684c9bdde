// Package figures draws measurements as pages and pictures. A [Figure] describes charts in plain
// data: panels, series with their interval over seeds, a reference line; and what a reader
// wants to know about them: claims with verdicts, tables of means, data, command. The same
// description becomes an interactive page (ECharts) and static SVG, PNG and PDF (gonum/plot,
// no browser), stored with its measurements as CSV. Other pages use the same pieces of HTML:
// see [Parts].
//
// Figures never train and never read results: they get [Row]s and nothing else.
// [Means] and [Table] condense rows into means and intervals, where
// the seed is the unit of observation, never the step.
//
// Equal input gives equal bytes: no clock, no random identifier.
package figures

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"tvps/data/statistics"
)

// Figure describes one figure of the paper, independent of the output format.
type Figure struct {
	Name   string   // stem of all file names, for example "fig01"
	Title  string   // one line, for the page
	Panels []Chart  // at least one
	Source []string // data, scale, caveats: one sentence each, printed on every picture

	// For the page only; each may be empty.
	Answer  []Answer  // what the verdicts say, in a sentence
	Tally   string    // the verdicts counted, in words, or why there are none; empty for a draft that will have some
	Caption string    // a paragraph
	Claims  []Claim   // that the figure tests
	Tables  []Summary // the means of panels
	Data    []string  // what the data were, one sentence each
	Command string    // makes the figure again
	Links   []Link    // to files next to the page, besides those that [Write] writes
	Compact bool      // write one picture a panel and compressed tables, no page
	Draft   *Draft    // nil for a figure that is finished
}

// Answer is a part of the sentence that answers the figure's question: what has one verdict.
type Answer struct {
	Verdict Verdict
	Text    string // such as "Ours beats Everything (+28.4 points)", without a full stop
}

// Draft is what a figure lacks that is drawn while its runs are computed.
type Draft struct {
	Missing []string // keys of the panels that are not drawn yet
	Growing []string // keys of the panels that lack seeds; both are empty if only verdicts are missing
}

// Link leads from the page to a file, or names a place that cannot be linked to.
type Link struct {
	Label string // what it is, for example "Claims"
	Text  string // name of the file or place
	Href  string // relative to the page; empty for none
}

// Chart is what one panel shows, with its axes.
type Chart struct {
	Key       string // the paper's letter, for example "a"; part of file names
	Title     string
	Sample    string // what is drawn, as "8 seeds, every 2nd step"
	XLabel    string
	YLabel    string      // without its unit
	Unit      Unit        // in which values are shown: Points and Percent are hundredths of those in Series
	Paper     string      // what the paper's figure and text say of it; empty for nothing
	Here      string      // what was measured, next to it
	XNames    []string    // of x = 0, 1, ..., such as dates; nil: x is a number
	Series    []Series    // drawn in this order, so the last one lies on top
	Reference *Reference  // nil for none
	YRange    *[2]float64 // what the y axis shows, rounded to its marks; nil for all data
	Share     bool        // values are shares: bands are drawn from 0 to 1 at most
	Bands     string      // what bands are; empty for intervals of means over seeds
	Notes     []string    // sentences that concern this panel alone
	Judged    []Row       // what claims are judged by if it is more than is drawn; a file of its own
	Metrics   []Row       // what the drawn runs measured besides; a file of its own
	Others    []Row       // further steps of the runs, which another drawing had; a file of its own

	low, high, step float64 // of the y axis, set by shown
	decimals        int     // of numbers
}

// Reference is a horizontal line, such as "Everything" at 0 in a relative chart.
type Reference struct {
	Value float64 // in units of the y axis
	Label string
	Color string // "#rrggbb"
	Dash  string // as of a Look
}

// Series is one curve. [NewSeries] fills in the look that its name has in every figure, and [Series.Styled] another.
type Series struct {
	Name   string  // as in the CSV, for example "ours"
	Label  string  // for people, for example "Ours"
	Color  string  // "#rrggbb"
	Dash   string  // as of a Look
	Mean   bool    // a constant line at the mean over all steps, without a band
	Points []Point // X strictly increasing
}

// Point is the mean over seeds at one x, with its interval.
type Point struct {
	X         float64
	Mean      float64
	Low, High float64     // 95% interval of the mean; both equal Mean when N < 2: there is none
	N         int         // number of seeds
	Seeds     []SeedValue // what Mean is the mean of, by ascending seed
}

// Exactly is a point without an interval.
func Exactly(x, y float64) Point { return Point{X: x, Mean: y, Low: y, High: y} }

// Course are points without an interval at x = 0, 1, ...
func Course(values []float64) []Point {
	points := make([]Point, len(values))
	for i, y := range values {
		points[i] = Exactly(float64(i), y)
	}
	return points
}

// SeedValue is the value of one seed at one point.
type SeedValue struct {
	Seed  int64
	Value float64
}

// Stem begins the names of a panel's files, such as "fig01-a".
func Stem(figure, panel string) string { return figure + "-" + panel }

// What follows it in the names of a panel's tables: of the rows that it draws, and of [Chart]'s others.
const (
	DrawnTable   = ".csv"
	JudgedTable  = "-judged.csv"
	MetricsTable = "-metrics.csv"
	OthersTable  = "-others.csv"
)

// panelTable is a table of a panel.
type panelTable struct {
	ending string
	rows   []Row
}

// notDrawn lists the tables of the panel besides what it draws, if they have rows.
func (p Chart) notDrawn() []panelTable {
	all := []panelTable{{JudgedTable, p.Judged}, {MetricsTable, p.Metrics}, {OthersTable, p.Others}}
	return slices.DeleteFunc(all, func(t panelTable) bool { return len(t.rows) == 0 })
}

// Validate returns the first reason why the figure cannot be drawn, in one sentence that names the panel and series.
// Measurements always can; a notebook may draw anything.
func (f Figure) Validate() error {
	if len(f.Panels) == 0 {
		return fmt.Errorf("figures: %s has no panels", f.Name)
	}
	keys := map[string]bool{}
	for _, p := range f.Panels {
		if strings.ContainsAny(Stem(f.Name, p.Key), `/\`) || keys[p.Key] {
			return fmt.Errorf("figures: %s panel %s: each panel needs a key of its own, without slashes", f.Name, p.Key)
		}
		keys[p.Key] = true
		if err := p.validate(); err != nil {
			return fmt.Errorf("figures: %s panel %s: %w", f.Name, p.Key, err)
		}
	}
	return nil
}

var hexColor = regexp.MustCompile(`^#[0-9a-fA-F]{6}$`)

func (p Chart) validate() error {
	if len(p.Series) == 0 {
		return fmt.Errorf("there is no series to draw")
	}
	if r := p.YRange; r != nil && (!statistics.Finite(r[:]...) || r[0] >= r[1]) {
		return fmt.Errorf("the range of y, %v to %v, is none", r[0], r[1])
	}
	if r := p.Reference; r != nil && !statistics.Finite(r.Value) {
		return fmt.Errorf("the reference is at %v", r.Value)
	}
	seen := map[string]bool{}
	for _, s := range p.Series {
		if s.Name == "" || seen[s.Name] {
			return fmt.Errorf("each series needs a name of its own, got %q", s.Name)
		}
		seen[s.Name] = true
		if err := s.validate(len(p.XNames)); err != nil {
			return fmt.Errorf("series %s: %w", s.Name, err)
		}
	}
	return nil
}

// validate checks a series of a panel with so many names of x.
func (s Series) validate(names int) error {
	if len(s.Points) == 0 {
		return fmt.Errorf("there are no points to draw")
	}
	if !hexColor.MatchString(s.Color) {
		return fmt.Errorf("the colour %q must look like #1f77b4", s.Color)
	}
	for i, p := range s.Points {
		if !statistics.Finite(p.X, p.Mean, p.Low, p.High) {
			return fmt.Errorf("the point at x = %v is not finite (mean %v, interval %v to %v)",
				p.X, p.Mean, p.Low, p.High)
		}
		if p.Low > p.High {
			return fmt.Errorf("the interval at x = %v goes from %v down to %v", p.X, p.Low, p.High)
		}
		if names > 0 && (p.X != math.Trunc(p.X) || p.X < 0 || p.X >= float64(names)) {
			return fmt.Errorf("x = %v is not one of the %d names of x", p.X, names)
		}
		if i > 0 && p.X <= s.Points[i-1].X {
			return fmt.Errorf("x must increase from point to point, but %v follows %v", p.X, s.Points[i-1].X)
		}
	}
	return nil
}

// text is the series's name on the chart; that of a constant line says that it is a mean.
func (s Series) text() string {
	label := cmp.Or(s.Label, s.Name)
	if s.Mean {
		label += ofMean
	}
	return label
}

// ofMean ends the name of a constant line.
const ofMean = " (mean)"

// mean is the mean of the points' means, the height of a constant line.
func (s Series) mean() float64 {
	sum := 0.0
	for _, p := range s.Points {
		sum += p.Mean
	}
	return sum / float64(len(s.Points))
}

// line is what everything that draws a panel shows of a series, or of the reference.
type line struct {
	label, color, dash string
	level              bool // at one height, from one end of the panel to the other
	marks              []mark
	bands              [][]Point // runs of points with the ends of their intervals, as they are drawn
}

// mark is a point of a line.
type mark struct {
	x, y float64
	of   *Point // what was measured there; nil where the line is only continued to the panel's end
}

// lines lists what the panel draws: the reference line, then the series.
func (p Chart) lines() []line {
	var out []line
	low, high := p.xRange()
	if r := p.Reference; r != nil {
		ends := []mark{{x: low, y: r.Value}, {x: high, y: r.Value}}
		out = append(out, line{label: r.Label, color: r.Color, dash: r.Dash, level: true, marks: ends})
	}
	for _, s := range p.Series {
		l := line{label: s.text(), color: s.Color, dash: s.Dash, level: s.Mean, bands: p.bands(s)}
		for i, at := range s.Points {
			l.marks = append(l.marks, mark{at.X, at.Mean, &s.Points[i]})
		}
		if s.Mean {
			l.continueTo(low, high, s.mean())
		}
		out = append(out, l)
	}
	return out
}

// continueTo lays the line at the height y, up to both ends of the panel.
func (l *line) continueTo(low, high, y float64) {
	if low < l.marks[0].x {
		l.marks = slices.Insert(l.marks, 0, mark{x: low})
	}
	if l.marks[len(l.marks)-1].x < high {
		l.marks = append(l.marks, mark{x: high})
	}
	for i := range l.marks {
		l.marks[i].y = y
	}
}

// dotted reports whether the line has a dot at each mark.
func (l line) dotted() bool { return !l.level && len(l.marks) <= fewPoints }
