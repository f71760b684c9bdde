package figures

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/color"
	"image/png"
	"io"
	"math"
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
		if look, _ := looks.Of(name); count[look.Color] < 500 {
			t.Errorf("only %d pixels in the colour of %s", count[look.Color], name)
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
		if got := strings.Join(labels, " "); got != c.want {
			t.Errorf("ticks(%v, %v) = %s, want %s", c.low, c.high, got, c.want)
		}
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
	demand.Words(t, strings.Join(fig.footnotes(fig.Panels[0]), " "), "outside the drawn range of the y axis: 1.")
}

// A band in red at 18% must reach the PDF as red; a pure colour keeps its channels.
func TestPDFColoursAreNotDarkened(t *testing.T) {
	r, g, b, a := straight(color.NRGBA{R: 0xd6, G: 0x27, B: 0x28, A: 0x2e}).RGBA()
	if r>>8 != 0xd6 || g>>8 != 0x27 || b>>8 != 0x28 || a>>8 != 0x2e {
		t.Errorf("got %x %x %x %x", r>>8, g>>8, b>>8, a>>8)
	}
}
