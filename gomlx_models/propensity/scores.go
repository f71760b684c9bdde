package propensity

import (
	"math"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/stat/distuv"
)

// Scores is a function from the values of a column to their normal scores: linear between knots, constant beyond them.
// g sees scores in place of values, so that a few very large values do not hide the others, and since a ratio of
// densities is the same for every increasing function of a column.
type Scores struct {
	Value, Score []float64 // the knots, ascending
}

// knotsPerScore bounds the number of knots: they are values whose scores are next to multiples of its inverse.
const knotsPerScore = 16

// Rounding is how far apart neighbouring float32 numbers are at most, relative to their size. Numbers that vary by no
// more are a constant, whatever their unit is.
const Rounding = 0x1p-23

// NormalScores returns the scores of a column. The score of the value with mean rank r of n, from 0, is the quantile
// (r + 1/2) / n of the standard normal distribution. Those of two values are standardised by half their distance, so
// that a rare level of a category is no large number. A constant, up to a relative rounding, has 0, and so has
// everything if there are no values. values are sorted in place.
func NormalScores(values []float64, rounding float64) Scores {
	if len(values) == 0 {
		values = []float64{0}
	}
	slices.Sort(values)
	n, low, high := len(values), values[0], values[len(values)-1]
	if high-low <= rounding*max(math.Abs(low), math.Abs(high)) {
		return Scores{[]float64{low}, []float64{0}}
	}
	if at, _ := slices.BinarySearch(values, high); values[at-1] == low {
		share := float64(at) / float64(n) // of low
		return Scores{[]float64{low, high}, []float64{-2 * (1 - share), 2 * share}}
	}
	var k Scores
	nearest := math.Inf(1) // distance of the last knot from its multiple
	for from := 0; from < n; {
		to := from + 1
		for to < n && values[to] == values[from] {
			to++
		}
		score := distuv.UnitNormal.Quantile(float64(from+to) / 2 / float64(n))
		multiple, last := math.Round(score*knotsPerScore), len(k.Score)-1
		distance := math.Abs(score*knotsPerScore - multiple)
		switch {
		case last < 1 || to == n || multiple != math.Round(k.Score[last]*knotsPerScore):
			k.Value, k.Score, nearest = append(k.Value, values[from]), append(k.Score, score), distance
		case distance < nearest:
			k.Value[last], k.Score[last], nearest = values[from], score, distance
		}
		from = to
	}
	return k
}

// Of is the score of a value.
func (k Scores) Of(v float64) float64 {
	i, end := 0, len(k.Value) // slices.BinarySearch takes three times as long
	for i < end {
		if m := (i + end) / 2; k.Value[m] < v {
			i = m + 1
		} else {
			end = m
		}
	}
	switch {
	case i == len(k.Value):
		return k.Score[i-1]
	case i == 0 || k.Value[i] == v:
		return k.Score[i]
	}
	share := (v/2 - k.Value[i-1]/2) / (k.Value[i]/2 - k.Value[i-1]/2) // halves do not overflow
	return k.Score[i-1] + share*(k.Score[i]-k.Score[i-1])
}

// ColumnScores are the normal scores of the columns of x: rows of dim values, all finite.
func ColumnScores(x []float32, dim int) []Scores {
	out, n := make([]Scores, dim), len(x)/dim
	Parallel(dim, func(j int) {
		values := make([]float64, n)
		for i := range values {
			values[i] = float64(x[i*dim+j])
		}
		out[j] = NormalScores(values, Rounding)
	})
	return out
}

// Scored are the normal scores of rows of len(columns) values. Value k of a result is that of column columns[k] of x,
// by scores[k].
func Scored(x []float32, scores []Scores, columns []int) []float32 {
	const block = 4096 // rows
	dim := len(columns)
	n := len(x) / dim
	out := make([]float32, len(x))
	Parallel((n+block-1)/block, func(b int) {
		for i := b * block; i < min((b+1)*block, n); i++ {
			for k, j := range columns {
				out[i*dim+k] = float32(scores[k].Of(float64(x[i*dim+j])))
			}
		}
	})
	return out
}

// Parallel calls f for 0..n-1 on all processors.
func Parallel(n int, f func(i int)) {
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		group.Go(func() error { f(i); return nil })
	}
	_ = group.Wait() // f returns no error
}
