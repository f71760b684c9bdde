package figures

import (
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// InterquartileMean is the mean of the middle half of all values, with the percentile
// interval of the stratified bootstrap (Agarwal et al. 2021, "Deep Reinforcement Learning at
// the Edge of the Statistical Precipice"): values are resampled with replacement within each
// stratum. strata holds, for each task, one value for each seed; N is the number of seeds of
// the first task. The same values give the same interval. With few seeds it is too narrow, as
// every bootstrap interval is: see [MeanInterval].
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
	const times = 2000
	rng := rand.New(rand.NewPCG(1, 1))
	means := make([]float64, times)
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

// middleHalf is the mean without the lowest and the highest quarter of the values, each
// rounded down.
func middleHalf(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	cut := len(sorted) / 4
	return stat.Mean(sorted[cut:len(sorted)-cut], nil)
}
