package statistics

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// OverShare is the interval of a share of steps: grid is [seeds][steps] of 0, 1/2 and 1. Its ends are those of
// [OverSeedsAndSteps] or of Wilson's score interval, whichever lies further out, within 0 and 1. So equal shares of all
// seeds are no certainty. Wilson's interval is for as many independent trials as grid has values, or, if its steps are
// a sample, as it has steps: the seeds may all have the same hits.
func OverShare(grid [][]float64, unmeasured float64) Intervals {
	over := OverSeedsAndSteps(grid, unmeasured)
	return func(level float64) Estimate {
		e := over(level)
		if e.N < 2 {
			return e
		}
		n := float64(len(grid[0]))
		if unmeasured <= 0 {
			n *= float64(len(grid))
		}
		z := distuv.UnitNormal.Quantile((1 + level) / 2)
		middle := (e.Mean + z*z/(2*n)) / (1 + z*z/n)
		half := z / (1 + z*z/n) * math.Sqrt(e.Mean*(1-e.Mean)/n+z*z/(4*n*n))
		e.Low, e.High = max(0, min(e.Low, middle-half)), min(1, max(e.High, middle+half))
		return e
	}
}
