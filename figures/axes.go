package figures

import (
	"math"
	"slices"
	"strings"

	"tvps/data/statistics"
)

// shown is the panel in its unit, with the limits of its y axis: everything draws and prints a panel as it is then.
func (p Chart) shown() Chart {
	if p.step > 0 {
		return p
	}
	p.low, p.high, p.step = roundRange(p.yRange())
	p.decimals = max(0, 1-int(math.Floor(math.Log10(p.step)+1e-9)))
	if p.Unit == "" {
		return p
	}
	p.YLabel += ", " + strings.TrimSpace(string(p.Unit))
	p.low, p.high, p.step, p.decimals = 100*p.low, 100*p.high, 100*p.step, max(1, p.decimals-2)
	if p.Reference != nil {
		r := *p.Reference
		r.Value *= 100
		p.Reference = &r
	}
	p.Series = slices.Clone(p.Series)
	for i, s := range p.Series {
		p.Series[i].Points = slices.Clone(s.Points)
		for j, at := range s.Points {
			seeds := slices.Clone(at.Seeds)
			for k := range seeds {
				seeds[k].Value *= 100
			}
			p.Series[i].Points[j] = Point{at.X, 100 * at.Mean, 100 * at.Low, 100 * at.High, at.N, seeds}
		}
	}
	return p
}

// number writes a value of the panel with one digit more than the marks of its y axis have.
func (p Chart) number(v float64) string {
	return properMinus(signed(p.decimals, v, p.Unit == Points))
}

// signed writes a number; one above zero has its sign if plus is set.
func signed(decimals int, v float64, plus bool) string {
	text := statistics.Signed(decimals, v)
	if plus && strings.ContainsAny(text, "123456789") {
		return text
	}
	return strings.TrimPrefix(text, "+")
}

// bands returns the runs of adjacent points of a series that have an interval, as they are drawn: a point with fewer
// than two seeds interrupts the band, and a constant line has none. An interval of Student's t may reach beyond the
// range of a share; numbers and tooltips keep it whole.
func (p Chart) bands(s Series) [][]Point {
	if s.Mean {
		return nil
	}
	whole := 1. // the largest share
	if p.step > 0 && p.Unit != "" {
		whole = 100
	}
	var runs [][]Point
	for i, pt := range s.Points {
		if pt.N < 2 {
			continue
		}
		if i == 0 || s.Points[i-1].N < 2 {
			runs = append(runs, nil)
		}
		if p.Share {
			pt.Low, pt.High = max(pt.Low, min(0, pt.Mean)), min(pt.High, max(whole, pt.Mean))
		}
		runs[len(runs)-1] = append(runs[len(runs)-1], pt)
	}
	return runs
}

// xRange returns the smallest and largest x; a single x gets half a unit each side.
func (p Chart) xRange() (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, s := range p.Series {
		low = min(low, s.Points[0].X)
		high = max(high, s.Points[len(s.Points)-1].X)
	}
	if low == high {
		return low - 0.5, high + 0.5
	}
	return low, high
}

// yRange returns YRange, or limits 5% wider than everything that is drawn, but of shares none beyond 0 and 1.
func (p Chart) yRange() (low, high float64) {
	if p.YRange != nil {
		return p.YRange[0], p.YRange[1]
	}
	low, high = math.Inf(1), math.Inf(-1)
	include := func(from, to float64) { low, high = min(low, from), max(high, to) }
	for _, l := range p.lines() {
		for _, m := range l.marks {
			include(m.y, m.y)
		}
		for _, pt := range slices.Concat(l.bands...) {
			include(pt.Low, pt.High)
		}
	}
	if size := max(math.Abs(low), math.Abs(high)); high-low <= 1e-12*size { // apart from rounding they are one value
		half := max(0.5, 1e-6*size)
		return low - half, high + half
	}
	pad := (high - low) / 20
	if p.Share {
		return max(0, low-pad), min(1, high+pad)
	}
	return low - pad, high + pad
}

// SameScale gives panels one range of y, so that they can be compared.
func SameScale(panels []*Chart) {
	limits := [2]float64{math.Inf(1), math.Inf(-1)}
	for _, p := range panels {
		low, high := p.yRange()
		limits = [2]float64{min(limits[0], low), max(limits[1], high)}
	}
	for _, p := range panels {
		p.YRange = &limits
	}
}

// xText is the name of an x, or number if it has none.
func (p Chart) xText(x float64, number string) string {
	if i := int(x); p.XNames != nil && float64(i) == x && i >= 0 && i < len(p.XNames) {
		return p.XNames[i]
	}
	return number
}

// wholeX reports whether every x is a whole number, such as a time step.
func (p Chart) wholeX() bool {
	for _, s := range p.Series {
		for _, pt := range s.Points {
			if pt.X != math.Trunc(pt.X) {
				return false
			}
		}
	}
	return true
}

// niceStep returns 1, 2 or 5 times a power of ten such that about eight steps span the range.
func niceStep(low, high float64) float64 {
	raw := (high - low) / 8
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= raw*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// roundRange widens the limits to multiples of a round step, so that the axis ends at its
// ticks if these are no further apart.
func roundRange(low, high float64) (from, to, step float64) {
	step = niceStep(low, high)
	round := func(units float64) float64 { // by division where step < 1: 3/100, not 3*0.01
		if step < 1 {
			return units / math.Round(1/step)
		}
		return units * step
	}
	return round(math.Floor(low / step)), round(math.Ceil(high / step)), step
}
