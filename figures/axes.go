package figures

import (
	"math"
	"slices"
)

// bands returns the runs of adjacent points of a series that have an interval, as they are drawn: a point with fewer
// than two seeds interrupts the band, and a [MeanLine] has none. An interval of Student's t may reach beyond the range
// of a share; numbers and tooltips keep it whole.
func (p Chart) bands(s Series) [][]Point {
	if s.Style == MeanLine {
		return nil
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
			pt.Low, pt.High = max(pt.Low, min(0, pt.Mean)), min(pt.High, max(1, pt.Mean))
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

// yRange returns YRange, or limits 5% wider than everything that is drawn.
func (p Chart) yRange() (low, high float64) {
	if p.YRange != nil {
		return p.YRange[0], p.YRange[1]
	}
	low, high = math.Inf(1), math.Inf(-1)
	include := func(ys ...float64) {
		low, high = min(low, slices.Min(ys)), max(high, slices.Max(ys))
	}
	if p.Reference != nil {
		include(p.Reference.Value)
	}
	for _, s := range p.Series {
		if s.Style == MeanLine {
			include(s.mean())
			continue
		}
		for _, pt := range s.Points {
			include(pt.Mean)
		}
		for _, run := range p.bands(s) {
			for _, pt := range run {
				include(pt.Low, pt.High)
			}
		}
	}
	if low == high {
		return low - 0.5, high + 0.5
	}
	pad := (high - low) / 20
	return low - pad, high + pad
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

// niceStep returns 1, 2 or 5 times a power of ten such that about count steps span the range;
// with whole, at least 1.
func niceStep(low, high float64, count int, whole bool) float64 {
	raw := (high - low) / float64(count)
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	step := 10 * power
	for _, m := range []float64{1, 2, 5} {
		if m*power >= raw*(1-1e-9) {
			step = m * power
			break
		}
	}
	if whole {
		return max(step, 1)
	}
	return step
}

// roundRange widens the limits to multiples of a round step, so that the axis ends at its
// ticks if these are no further apart.
func roundRange(low, high float64) (from, to, step float64) {
	step = niceStep(low, high, 8, false)
	round := func(units float64) float64 { // by division where step < 1: 3/100, not 3*0.01
		if step < 1 {
			return units / math.Round(1/step)
		}
		return units * step
	}
	return round(math.Floor(low / step)), round(math.Ceil(high / step)), step
}
