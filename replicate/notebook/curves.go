package notebook

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
)

// Series is a line of a [Chart] through the points (X[i], Y[i]). X must increase.
type Series struct {
	Name    string
	X, Y    []float64
	Dashed  bool
	Color   string // such as "#1f77b4"; default: one for each line
	Learner bool   // Name is that of a series of the paper, whose label and colour it gets
}

// Curve returns a line for [Plot] through the points (x[i], y[i]).
func Curve(name string, x, y []float64) Series { return Series{Name: name, X: x, Y: y} }

// Dashed returns a dashed [Curve], for values that are known exactly.
func Dashed(name string, x, y []float64) Series { return Series{Name: name, X: x, Y: y, Dashed: true} }

// Learner returns a [Curve] that looks like the series of that name in the paper's figures, such as "ours".
func Learner(name string, x, y []float64) Series {
	return Series{Name: name, X: x, Y: y, Learner: true}
}

// Means returns a line for [Plot] through the mean of v in each group, such as a week; x is the group. NaN in v, a
// missing value, is left out.
func Means(name string, group []int32, v []float64) Series {
	sum, count := map[int32]float64{}, map[int32]float64{}
	for i, g := range group {
		if !math.IsNaN(v[i]) {
			sum[g], count[g] = sum[g]+v[i], count[g]+1
		}
	}
	var x, mean []float64
	for _, g := range slices.Sorted(maps.Keys(count)) {
		x, mean = append(x, float64(g)), append(mean, sum[g]/count[g])
	}
	return Curve(name, x, mean)
}

// Binned returns a line for [Plot] through a cloud of points (x[i], y[i]): sorted by x and cut into n bins of equal
// size, it shows the mean of both coordinates in each bin.
func Binned(name string, n int, x, y []float64) Series {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	n = min(n, len(x))
	meanX, meanY := make([]float64, n), make([]float64, n)
	for k := range n {
		bin := order[k*len(x)/n : (k+1)*len(x)/n]
		for _, i := range bin {
			meanX[k] += x[i] / float64(len(bin))
			meanY[k] += y[i] / float64(len(bin))
		}
	}
	return Curve(name, meanX, meanY)
}

// Chart is a chart of your own. The number identifies it, and the numbers of its points, in the notebook.
type Chart struct {
	Number         int
	Title          string
	XLabel, YLabel string
	XNames         []string    // of x = 0, 1, ..., such as dates; nil: x is a number
	YRange         *[2]float64 // limits of the y axis; nil fits them to the data
	Curves         []Series
}

// Show shows the chart as a picture and an interactive chart. It ends the cell if a curve is no line through points.
func (c Chart) Show() {
	for _, s := range c.Curves {
		Exit(s.wrong())
	}
	ask[any]("plot", c)
}

// wrong says why a curve cannot be drawn.
func (s Series) wrong() error {
	if len(s.X) != len(s.Y) {
		return fmt.Errorf("the curve %q has %d values of x and %d of y: a point needs both", s.Name, len(s.X), len(s.Y))
	}
	for i, x := range s.X {
		if sum := x + s.Y[i]; math.IsNaN(sum) || math.IsInf(sum, 0) {
			return fmt.Errorf("the curve %q has the point (%v, %v), which cannot be drawn: leave it out", s.Name, x, s.Y[i])
		}
	}
	return nil
}

// Plot shows a chart with the given curves.
func Plot(number int, title, xlabel, ylabel string, curves ...Series) {
	Chart{Number: number, Title: title, XLabel: xlabel, YLabel: ylabel, Curves: curves}.Show()
}
