package statistics

import (
	"math"

	"github.com/gomlx/gomlx/support/xslices"
	"gonum.org/v1/gonum/stat"
)

// OverSeedsAndSteps is the mean over all steps of a stream of which only a part was measured: every step in so many.
// grid is [seeds][steps], the same steps for each seed; unmeasured is the share of the stream's steps that grid lacks.
// With n seeds and k steps the interval is
//
//	mean ± √(q(n)² · S² / n + q(k)² · unmeasured · B² / k)
//
// where S² is the variance of the seeds' means and B² that of the steps' effects, from differences of neighbours
// (Wolter 1984), without the part that seeds leave in the means m of the steps:
//
//	B² = max(0, Σ (m[j+1] - m[j])² / (2(k-1)) - R² / n),
//
// R² the mean square of what neither seed nor step explains, and q as in [MeanInterval]. The squares of the two half
// widths add (method of variance estimates recovery, Zou and Donner 2008). So the interval is never narrower than that
// over seeds, and equals it if every step was measured, or a single one.
//
// There are no blocks of steps: what is estimated is the mean over the steps of this one stream, about which a regular
// choice of steps tells the more, the more alike neighbours are. The coverage was simulated (TestCoverage) for 11
// of 180 steps and 3 or 8 seeds: 94% or more for effects of steps that are independent, autoregressive (.9), a wave
// of 45 steps, or a trend. The interval over seeds alone covers 29 to 95%. No interval sees a period of the stream that
// divides the distance of the measured steps; see the setting stride.
func OverSeedsAndSteps(grid [][]float64, unmeasured float64) Intervals {
	means := xslices.Map(grid, func(row []float64) float64 { return stat.Mean(row, nil) })
	seeds := OverSeeds(means)
	if len(grid) < 2 || len(grid[0]) < 2 || unmeasured <= 0 {
		return seeds
	}
	k := len(grid[0])
	steps := stepVariance(grid, means)
	perMean := unmeasured * steps / float64(k)
	return func(level float64) Estimate {
		e := seeds(level)
		q := studentQuantile(level, float64(k-1))
		half := math.Sqrt(math.Pow(e.High-e.Mean, 2) + q*q*perMean)
		e.Low, e.High = e.Mean-half, e.Mean+half
		return e
	}
}

// stepVariance returns B² of [OverSeedsAndSteps].
func stepVariance(grid [][]float64, seedMeans []float64) float64 {
	residual := 0.0
	n, k := len(grid), len(grid[0])
	stepMeans := make([]float64, k)
	for _, row := range grid {
		for j, v := range row {
			stepMeans[j] += v / float64(n)
		}
	}
	mean := stat.Mean(seedMeans, nil)
	for i, row := range grid {
		for j, v := range row {
			residual += math.Pow(v-seedMeans[i]-stepMeans[j]+mean, 2)
		}
	}
	residual /= float64((n - 1) * (k - 1))
	successive := 0.0
	for j := range k - 1 {
		successive += math.Pow(stepMeans[j+1]-stepMeans[j], 2) / float64(2*(k-1))
	}
	return max(0, successive-residual/float64(n))
}
