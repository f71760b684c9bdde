package statistics

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// MeanInterval returns the mean of the values, one for each seed, and its interval
//
//	mean ± q · s / √n
//
// where s is the sample standard deviation (divisor n-1) and q the (1+Level)/2 quantile
// of Student's t with n-1 degrees of freedom. No values give the zero Estimate.
//
// The same method is used for every number of seeds. Its coverage of the true mean was
// simulated (TestCoverage) for n = 2, 3, 5, 8 and 10: between 94 and 96% if seeds are normally
// distributed, at least 91% if they are uniform or somewhat skewed (chi-square with 4 degrees
// of freedom), 88% if exponential. A mean over many steps is rarely that skewed. If seeds form
// two groups, as when some trainings fail, the coverage is 50% at n = 2, 75% at n = 3 and
// above 91% from n = 5: no interval can show a group in which there is no seed.
//
// The usual alternatives are worse. For three normal values the coverage is
// 81% with the normal quantile instead of Student's, and 75% with the percentile bootstrap,
// whose interval is the range of the values. For 20 values the bootstrap's coverage is 92%, or
// 90% if they are exponential, where this interval's is 95% and 92%; so more seeds are no
// reason to change the method.
func MeanInterval(values []float64) Estimate { return OverSeeds(values)(Level) }

// OverSeeds is [MeanInterval] at any level.
func OverSeeds(values []float64) Intervals {
	return func(level float64) Estimate {
		n := len(values)
		if n == 0 {
			return Estimate{}
		}
		if n == 1 {
			return Estimate{Mean: values[0], Low: values[0], High: values[0], N: 1}
		}
		mean, sd := stat.MeanStdDev(values, nil)
		half := studentQuantile(level, float64(n-1)) * sd / math.Sqrt(float64(n))
		return Estimate{Mean: mean, Low: mean - half, High: mean + half, N: n}
	}
}

// studentQuantile is the (1+level)/2 quantile of Student's t with these degrees of freedom.
func studentQuantile(level, freedom float64) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: freedom}.Quantile((1 + level) / 2)
}

// DifferenceOfMeans is the mean of a minus that of b, which are independent of each other and need not have the same
// variance: Welch's interval. N is the number of all values, 0 if one of the two has fewer than two.
func DifferenceOfMeans(a, b []float64) Intervals {
	if len(a) < 2 || len(b) < 2 {
		return func(float64) Estimate { return Estimate{} }
	}
	na, nb := float64(len(a)), float64(len(b))
	va, vb := stat.Variance(a, nil)/na, stat.Variance(b, nil)/nb
	mean := stat.Mean(a, nil) - stat.Mean(b, nil)
	freedom := math.Pow(va+vb, 2) / (va*va/(na-1) + vb*vb/(nb-1))
	if va+vb == 0 {
		freedom = na + nb - 2
	}
	return func(level float64) Estimate {
		half := studentQuantile(level, freedom) * math.Sqrt(va+vb)
		return Estimate{Mean: mean, Low: mean - half, High: mean + half, N: len(a) + len(b)}
	}
}
