package figures

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/color"
	"image/png"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/figures/looks"

	"gonum.org/v1/plot/plotter"
)

func TestSVGIsWellFormedAndSaysEverything(t *testing.T) {
	fig := sampleFigure(t)
	svg, err := newSheet(fig, fig.Panels[0]).svg()
	demand.NoError(t, err)
	var text strings.Builder
	in := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := in.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
		if chars, ok := token.(xml.CharData); ok {
			text.Write(chars)
		}
	}
	demand.Words(t, text.String(),
		"(a) Gaussian <script> & co", "Everything", "Recent (mean)", "Ours", "Time step t", "Accuracy minus Everything",
		"n = 3 seeds", "Data: made up for a test.", "Scale: tiny.")
	if !bytes.Contains(svg, []byte("sans-serif")) {
		t.Error("no fallback for viewers without the font")
	}
}

func TestPNGHasSizeAndColours(t *testing.T) {
	fig := sampleFigure(t)
	data, err := PNG(fig, fig.Panels[0])
	demand.NoError(t, err)
	picture, err := png.Decode(bytes.NewReader(data))
	demand.NoError(t, err)
	if size := picture.Bounds().Size(); size.X != 1600 || size.Y != 1000 {
		t.Errorf("size %v, want 1600 by 1000", size)
	}
	count := map[string]int{}
	for y := range 1000 {
		for x := range 1600 {
			r, g, b, _ := picture.At(x, y).RGBA()
			count[fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)]++
		}
	}
	for _, name := range []string{"everything", "recent", "ours"} {
		if color := looks.Of(name).Color; count[color] < 500 {
			t.Errorf("only %d pixels in the colour of %s", count[color], name)
		}
	}
	if white := count["#ffffff"]; white < 800_000 {
		t.Errorf("only %d white pixels", white)
	}
}

func TestManyNotesMakeThePictureTaller(t *testing.T) {
	fig := sampleFigure(t)
	short := newSheet(fig, fig.Panels[0])
	for range 20 {
		fig.Source = append(fig.Source, strings.Repeat("a long sentence about the data ", 8))
	}
	tall := newSheet(fig, fig.Panels[0])
	if short.height != pictureHeight {
		t.Fatalf("height %v", short.height)
	}
	if room := tall.height - tall.headHeight() - tall.footHeight(); room < chartHeight-1e-9 {
		t.Errorf("only %v points are left for the chart", room)
	}
	for _, line := range tall.notes {
		if noteText.Width(line) > room {
			t.Errorf("cut off: %q", line)
		}
	}
}

func TestBandCoversLowAndHigh(t *testing.T) {
	s := Series{Points: []Point{
		{X: 1, Low: -3, Mean: -2, High: -1, N: 3}, {X: 2, Low: -1, High: 4, N: 3},
		{X: 3, N: 1}, {X: 4, Low: 0, High: 1, N: 2},
	}}
	runs := Chart{}.bands(s)
	if len(runs) != 2 || len(runs[0]) != 2 || len(runs[1]) != 1 {
		t.Fatalf("runs %v, want points 1 and 2, then point 4: one seed has no interval", runs)
	}
	want := plotter.XYs{{X: 1, Y: -3}, {X: 2, Y: -1}, {X: 2, Y: 4}, {X: 1, Y: -1}}
	if got := outline(runs[0]); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("outline %v, want %v", got, want)
	}
	low, high := Chart{Series: []Series{s}}.yRange()
	if low >= -3 || high <= 4 {
		t.Errorf("the axis from %v to %v cuts the band", low, high)
	}
	s.Mean = true
	if (Chart{}).bands(s) != nil {
		t.Error("a constant mean line has a band")
	}
}

// A band of shares ends at 0 and 1, and so does the axis; the points keep their interval.
func TestBandOfShares(t *testing.T) {
	s := Series{Points: []Point{{X: 1, Low: -.4, Mean: .1, High: .6, N: 3}, {X: 2, Low: .8, Mean: .9, High: 1.3, N: 3}}}
	for _, share := range []bool{false, true} {
		p := Chart{Series: []Series{s}, Share: share}
		low, high := p.bands(s)[0][0].Low, p.bands(s)[0][1].High
		from, to := p.yRange()
		if share != (low == 0 && high == 1) || share != (from > -.1 && to < 1.1) || s.Points[0].Low != -.4 {
			t.Errorf("share %v: the band lies from %v to %v, the axis from %v to %v, point %v", share, low, high, from, to,
				s.Points[0])
		}
	}
}

// TestConstantRange: values that differ by rounding alone, or not at all, have an axis with ticks around them.
func TestConstantRange(t *testing.T) {
	tenths := []float64{.1, .2}
	for _, c := range [][2]float64{{.3, tenths[0] + tenths[1]}, {0, 0}, {1e20, 1e20}} {
		low, high := Chart{Series: []Series{{Points: []Point{Exactly(0, c[0]), Exactly(1, c[1])}}}}.yRange()
		if !(low < c[0] && c[1] < high) {
			t.Errorf("%v: the axis is from %v to %v", c, low, high)
		} else if n := len(ticks(low, high, false)); n < 4 || n > 12 {
			t.Errorf("%v: %d ticks", c, n)
		}
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		whole     bool
		want      string
	}{
		{-0.17, 0.15, false, "−0.15 −0.10 −0.05 0.00 0.05 0.10 0.15"},
		{1, 160, true, "20 40 60 80 100 120 140 160"},
		{1, 3, true, "1 2 3"},
		{0, 3000, false, "0 500 1000 1500 2000 2500 3000"},
	} {
		var labels []string
		for _, tick := range ticks(c.low, c.high, c.whole) {
			labels = append(labels, tick.Label)
		}
		demand.Equal(t, strings.Join(labels, " "), c.want, "ticks(%v, %v)", c.low, c.high)
	}
}

func TestBadFiguresAreNamed(t *testing.T) {
	for want, spoil := range map[string]func(*Figure){
		"ours: the point at x = 1 is not finite (mean NaN": func(f *Figure) { f.Panels[0].Series[1].Points[0].Mean = math.NaN() },
		"+Inf)":                                  func(f *Figure) { f.Panels[0].Series[1].Points[0].High = math.Inf(1) },
		"panel a: series recent: there are no":   func(f *Figure) { f.Panels[0].Series[0].Points = nil },
		"panel a: there is no series":            func(f *Figure) { f.Panels[0].Series = nil },
		"no panels":                              func(f *Figure) { f.Panels = nil },
		`panel a: series ours: the colour "red"`: func(f *Figure) { f.Panels[0].Series[1].Color = "red" },
		"panel /../x: each panel needs a key":    func(f *Figure) { f.Panels[0].Key = "/../x" },
		"panel a: each panel needs a key":        func(f *Figure) { f.Panels = append(f.Panels, f.Panels[0]) },
		"panel a: the range of y, 1 to 0":        func(f *Figure) { f.Panels[0].YRange = &[2]float64{1, 0} },
		"panel a: the range of y, NaN to 0":      func(f *Figure) { f.Panels[0].YRange = &[2]float64{math.NaN(), 0} },
		"panel a: the reference is at NaN":       func(f *Figure) { f.Panels[0].Reference = &Reference{Value: math.NaN()} },
		"series ours: the interval at x":         func(f *Figure) { f.Panels[0].Series[1].Points[1].Low = 9 },
		"panel a: series ours: x must increase":  func(f *Figure) { f.Panels[0].Series[1].Points[1].X = 1 },
		"panel a: each series needs a name":      func(f *Figure) { f.Panels[0].Series[0].Name = "ours" },
	} {
		fig := sampleFigure(t)
		spoil(&fig)
		_, page := Page(fig)
		_, snippet := Snippet(fig, Chart{})
		demand.Error(t, page, want)
		demand.Error(t, snippet, want)
	}
}

func TestHiddenPointsAreCounted(t *testing.T) {
	fig := sampleFigure(t)
	fig.Panels[0].YRange = &[2]float64{0, 0.5}
	// Ours at t = 2 lies at -0.1, below the axis.
	demand.Words(t, strings.Join(fig.Panels[0].footnotes(), " "), "outside the drawn range of the y axis: 1.")
}

// A band in red at 18% must reach the PDF as red; a pure colour keeps its channels.
func TestPDFColoursAreNotDarkened(t *testing.T) {
	r, g, b, a := straight(color.NRGBA{R: 0xd6, G: 0x27, B: 0x28, A: 0x2e}).RGBA()
	if r>>8 != 0xd6 || g>>8 != 0x27 || b>>8 != 0x28 || a>>8 != 0x2e {
		t.Errorf("got %x %x %x %x", r>>8, g>>8, b>>8, a>>8)
	}
}

// Every line can be seen on a dark page, and one that already can keeps its colour.
func TestDark(t *testing.T) {
	if len(looks.All()) < 16 {
		t.Errorf("%d looks are declared", len(looks.All()))
	}
	for _, look := range slices.Concat(looks.All(), others) {
		if c := contrast(Dark(look.Color), darkPaper); c < 3 {
			t.Errorf("%s in %s: contrast %.1f, want at least 3", look.Name, look.Color, c)
		}
	}
	for _, look := range others {
		if look.Dash == Zero("").Dash {
			t.Errorf("%s has the dashes of the line at 0", look.Color)
		}
	}
	for color, want := range map[string]string{"#000000": "#ffffff", "#595959": "#a6a6a6", "#D62728": "#d62728"} {
		demand.Equal(t, Dark(color), want, "Dark(%s)", color)
	}
	if c := contrast("#000000", "#ffffff"); math.Abs(c-21) > 1e-9 {
		t.Errorf("the contrast of black and white is %v, want 21", c)
	}
	demand.Words(t, string(CSS(Figure{})), "--paper: "+darkPaper)
}

func TestUnknownSeriesKeepTheirName(t *testing.T) {
	if s := NewSeries("t=40", nil); s.Label != "t=40" || !hexColor.MatchString(s.Color) {
		t.Errorf("%+v", s)
	}
}

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
	demand.Words(t, string(page), row)
	if strings.Contains(string(without), "What the paper says") {
		t.Error("a page without words of the paper has the table")
	}
}
