package statistics

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// InterquartileMean is the mean of the middle half of all values, with the percentile
// interval of the stratified bootstrap (Agarwal et al. 2021, "Deep Reinforcement Learning at
// the Edge of the Statistical Precipice"): values are resampled with replacement within each
// stratum. strata holds, for each task, one value for each seed; N is the number of seeds of
// the first task. The same values give the same interval. With few seeds it is too narrow, as
// every bootstrap interval is: see [MeanInterval]. Of no values it is the zero Estimate.
func InterquartileMean(strata [][]float64) Estimate {
	all := slices.Concat(strata...)
	if len(all) == 0 {
		return Estimate{}
	}
	mean := middleHalf(all)
	e := Estimate{Mean: mean, Low: mean, High: mean, N: len(strata[0])}
	if e.N < 2 {
		return e
	}
	rng := rand.New(rand.NewPCG(1, 1))
	means := make([]float64, resamples)
	for i := range means {
		drawn := make([]float64, 0, len(all))
		for _, values := range strata {
			for range values {
				drawn = append(drawn, values[rng.IntN(len(values))])
			}
		}
		means[i] = middleHalf(drawn)
	}
	slices.Sort(means)
	e.Low = stat.Quantile((1-Level)/2, stat.LinInterp, means, nil)
	e.High = stat.Quantile((1+Level)/2, stat.LinInterp, means, nil)
	return e
}

const resamples = 2000 // of a bootstrap

// VarianceRatio compares how much two groups of seeds vary: log of the mean over steps of the
// variance over seeds of a, divided by that of b. Both are [seeds][steps]; N is the number of
// seeds of a. The interval is the value +- c standard errors of the bootstrap over seeds, each
// group resampled by itself, with c of Student's distribution with one degree of freedom less
// than there are seeds. One seed has no variance: the value is 0, without an interval. If a group
// of several does not vary, there is no value: the zero Estimate.
//
// For 10 normal values a group the coverage is about 95%, where the percentile bootstrap has 91%;
// for exponential ones 92%. For 3 and 5 values it is above 98%: the interval is wide
// (TestCoverage).
func VarianceRatio(a, b [][]float64) Intervals {
	fixed := func(e Estimate) Intervals { return func(float64) Estimate { return e } }
	least := min(len(a), len(b))
	if least < 2 {
		return fixed(Estimate{N: least})
	}
	ratio := logVariance(a) - logVariance(b)
	if !Finite(ratio) {
		return fixed(Estimate{})
	}
	rng := rand.New(rand.NewPCG(1, 1))
	var ratios []float64
	for range resamples {
		// A resample of one seed several times has no variance.
		if drawn := logVariance(resampled(a, rng)) - logVariance(resampled(b, rng)); Finite(drawn) {
			ratios = append(ratios, drawn)
		}
	}
	deviation := stat.StdDev(ratios, nil)
	return func(level float64) Estimate {
		half := studentQuantile(level, float64(least-1)) * deviation
		return Estimate{Mean: ratio, Low: ratio - half, High: ratio + half, N: len(a)}
	}
}

// logVariance is the log of the mean over columns of the variance over rows.
func logVariance(rows [][]float64) float64 {
	sum := 0.0
	column := make([]float64, len(rows))
	for t := range rows[0] {
		for i, row := range rows {
			column[i] = row[t]
		}
		sum += stat.Variance(column, nil)
	}
	return math.Log(sum / float64(len(rows[0])))
}

func resampled(rows [][]float64, rng *rand.Rand) [][]float64 {
	out := make([][]float64, len(rows))
	for i := range out {
		out[i] = rows[rng.IntN(len(rows))]
	}
	return out
}

// Improvement is the probability that a seed of a is above one of b, a tie counting half (the
// probability of improvement of Agarwal et al. 2021; Mann and Whitney's U divided by its largest
// value). The interval is Newcombe's (2006, method 5), which is not of width 0 where all of a are
// above all of b: it holds every probability p whose distance from the estimate is at most 1.96
// standard errors of Hanley and McNeil (1982) at p. N is the number of seeds of a.
func Improvement(a, b []float64) Estimate {
	above := 0.0
	for _, x := range a {
		for _, y := range b {
			switch {
			case x > y:
				above++
			case x == y:
				above += .5
			}
		}
	}
	m, n := float64(len(a)), float64(len(b))
	p := above / (m * n)
	extra := (m+n)/2 - 1
	z := distuv.UnitNormal.Quantile((1 + Level) / 2)
	inside := func(q float64) bool {
		variance := q * (1 - q) / (m * n) * (1 + extra*(1-q)/(2-q) + extra*q/(1+q))
		return (p-q)*(p-q) <= z*z*variance
	}
	return Estimate{Mean: p, Low: bisect(p, 0, inside), High: bisect(p, 1, inside), N: len(a)}
}

// middleHalf is the mean without the lowest and the highest quarter of the values, each
// rounded down.
func middleHalf(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	cut := len(sorted) / 4
	return stat.Mean(sorted[cut:len(sorted)-cut], nil)
}

// Finite tells whether no value is NaN or infinite.
func Finite(values ...float64) bool {
	return !slices.ContainsFunc(values, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
}
