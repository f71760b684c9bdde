package statistics

import (
	"math"
	"slices"

	"tvps/data/random"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// runResamples is the number of bootstrap samples of runs of blocks.
const runResamples = 4000

// BlockBootstrap gives means of differences and their 95% intervals. diff: of each series, the difference of each
// test block, in their order; rows: of each test block. A mean is over rows.
//
// Neighbouring blocks depend on each other, so runs of consecutive blocks are resampled (circular block bootstrap,
// Politis and Romano 1992). A run is as long as is best for an autoregressive series with the estimated coefficient
// (runLength), and the standard error is corrected for what such runs miss of its dependence (missed). An interval is
// the mean +- c standard errors, with c the 97.5% quantile of Student's distribution with one degree of freedom less
// than there are runs.
//
// simultaneous has intervals that all hold together with 95%: c is multiplied by the 95% quantile of the largest
// absolute deviation of all series in standard errors (Romano and Wolf 2005), relative to that of one series. One block
// has no interval: Low and High are the mean.
func BlockBootstrap(diff [][]float64, rows []int, seed int64) (pointwise, simultaneous []Estimate) {
	if len(diff) == 0 {
		return nil, nil
	}
	n := len(rows)
	weight := make([]float64, n)
	for t, r := range rows {
		weight[t] = float64(r)
	}
	if n == 1 {
		for _, d := range diff {
			pointwise = append(pointwise, Estimate{Mean: d[0], Low: d[0], High: d[0], N: 1})
		}
		return pointwise, slices.Clone(pointwise)
	}
	coefficients, lengths := make([]float64, len(diff)), make([]int, len(diff))
	for s, d := range diff {
		coefficients[s] = autoregression(d)
		lengths[s] = runLength(coefficients[s], n)
	}
	common := slices.Sorted(slices.Values(lengths))
	largest := make([]float64, runResamples)
	for _, d := range diff {
		samples := resampleRuns(d, weight, common[len(common)/2], seed)
		mean, err := stat.MeanStdDev(samples, nil)
		for i, v := range samples {
			if err > 0 {
				largest[i] = max(largest[i], math.Abs(v-mean)/err)
			}
		}
	}
	slices.Sort(largest)
	together := max(1, stat.Quantile(.95, stat.Empirical, largest, nil)/distuv.UnitNormal.Quantile(.975))
	for s, d := range diff {
		err := stat.StdDev(resampleRuns(d, weight, lengths[s], seed), nil) * math.Sqrt(missed(coefficients[s], lengths[s], n))
		err *= distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(n)/float64(lengths[s]) - 1}.Quantile(.975)
		mean := stat.Mean(d, weight)
		pointwise = append(pointwise, Estimate{Mean: mean, Low: mean - err, High: mean + err, N: n})
		simultaneous = append(simultaneous, Estimate{Mean: mean, Low: mean - err*together, High: mean + err*together, N: n})
	}
	return pointwise, simultaneous
}

// resampleRuns returns weighted means of resamples of runs of consecutive values.
func resampleRuns(d, weight []float64, length int, seed int64) []float64 {
	n := len(d)
	rng := random.New(seed, "block bootstrap")
	out := make([]float64, runResamples)
	for i := range out {
		sum, total := 0., 0.
		for at := 0; at < n; at += length {
			from := rng.IntN(n)
			for k := range min(length, n-at) {
				t := (from + k) % n
				sum, total = sum+d[t]*weight[t], total+weight[t]
			}
		}
		out[i] = sum / total
	}
	return out
}

// autoregression is the coefficient of the autoregressive series of order 1 that fits, from 0 to .9. It is corrected
// for the bias of its estimate, (1 + 3r)/n.
func autoregression(d []float64) float64 {
	mean := stat.Mean(d, nil)
	product, square := 0., 0.
	for t, v := range d {
		square += (v - mean) * (v - mean)
		if t > 0 {
			product += (v - mean) * (d[t-1] - mean)
		}
	}
	if square == 0 {
		return 0
	}
	r := product / square
	return min(.9, max(0, r+(1+3*r)/float64(len(d))))
}

// runLength is the length of runs with the least mean squared error of the variance of a mean of n values with
// coefficient r: (6^(1/2) r / (1 - r^2))^(2/3) n^(1/3) (Hall, Horowitz and Jing 1995), from 1 to n/4.
func runLength(r float64, n int) int {
	length := math.Pow(math.Sqrt(6)*r/(1-r*r), 2./3) * math.Cbrt(float64(n))
	return int(math.Round(min(max(1, length), max(1, float64(n)/4))))
}

// missed is the variance of the mean of n values with coefficient r, relative to that which runs of a length show:
// they lack the dependence of values in different runs, and know the mean of the sample only.
func missed(r float64, length, n int) float64 {
	inside := 1.
	for k := 1; k < length; k++ {
		inside += 2 * (1 - float64(k)/float64(length)) * math.Pow(r, float64(k))
	}
	all := (1 + r) / (1 - r)
	return all / inside * float64(n) / (float64(n) - min(all, float64(n)/4))
}
