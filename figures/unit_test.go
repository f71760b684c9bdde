package figures

import (
	"strings"
	"testing"

	"tvps/ci/demand"
)

// unitChart is a chart of shares of three seeds, around mean.
func unitChart(unit Unit, mean float64) *Chart {
	p := Point{X: 1, Mean: mean, Low: mean - .01, High: mean + .01, N: 2, Seeds: []SeedValue{{0, mean - .001}, {1, mean + .001}}}
	next := p
	next.X = 2
	return &Chart{Key: "a", XLabel: "t", YLabel: "accuracy", Unit: unit, Reference: NewReference("everything", .1),
		Series: []Series{NewSeries("ours", []Point{p, next})}}
}

// TestUnit: a chart has one unit, on its axis, in its tooltip and in its table. Differences have a sign, shares none.
func TestUnit(t *testing.T) {
	for _, c := range []struct {
		unit                  Unit
		label, text, tip, top string
		low, high, reference  float64
	}{
		{Points, "accuracy, points", "+28.4 [+27.4, +29.4]", "+28.3", "the line at +10.0", 8, 32, 10},
		{Percent, "accuracy, %", "28.4 [27.4, 29.4]", "28.3", "the line at 10.0", 8, 32, 10},
		{"", "accuracy", "0.284 [0.274, 0.294]", "0.283", "the line at 0.100", .08, .32, .1},
	} {
		p := unitChart(c.unit, .284).shown()
		s, l := p.Series[0], p.lines()[1]
		tip := p.tooltip(l, l.marks[0])
		if p.YLabel != c.label || p.text(s.Points[0]) != c.text || !strings.Contains(tip, "seed 0: "+c.tip) ||
			p.low > c.low || p.high < c.high-1e-9 || p.high > 2*c.high || p.Reference.Value != c.reference {
			t.Errorf("%q: %s, %s, %s, axis %g to %g, reference %g", c.unit, p.YLabel, p.text(s.Points[0]),
				tip, p.low, p.high, p.Reference.Value)
		}
		if table := pointsOf(*unitChart(c.unit, .284)); table.Rows[0][1] != c.text || !strings.HasSuffix(table.Caption, c.top) {
			t.Errorf("%q: the table has %q, caption %q", c.unit, table.Rows[0][1], table.Caption)
		}
		if again := p.shown(); again.low != p.low || again.Series[0].Points[0].Mean != s.Points[0].Mean {
			t.Errorf("%q: shown twice, the chart is another", c.unit)
		}
	}
}

// TestSameScale: panels that are compared have the same axis, which shows all of them.
func TestSameScale(t *testing.T) {
	low, high := unitChart(Points, .1), unitChart(Points, .5)
	SameScale([]*Chart{low, high})
	a, b := low.shown(), high.shown()
	if a.low != b.low || a.high != b.high || a.low > 9 || a.high < 51 || a.hidden()+b.hidden() > 0 {
		t.Errorf("axes %g to %g and %g to %g, want one from at most 9 to at least 51", a.low, a.high, b.low, b.high)
	}
}

// TestBeside: the page puts what the paper says of a panel next to what was measured, and has no such table if it says
// nothing.
func TestBeside(t *testing.T) {
	fig := sampleFigure(t)
	without, err := Page(fig)
	demand.NoError(t, err)
	fig.Panels[0].Paper, fig.Panels[0].Here = "Ours rises & stays.", "Ours +28.4 points."
	page, err := Page(fig)
	demand.NoError(t, err)
	row := "<th scope=\"row\">a</th><td>Ours rises &amp; stays.</td><td>Ours &#43;28.4 points.</td>"
	if !strings.Contains(string(page), row) {
		t.Errorf("the page lacks %q", row)
	}
	if strings.Contains(string(without), "What the paper says") {
		t.Error("a page without words of the paper has the table")
	}
}
