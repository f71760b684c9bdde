package natural

import (
	"math"

	"tvps/data/statistics"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// rankCorrelation is Spearman's: Pearson's correlation of the mean ranks.
func rankCorrelation(a, b []float64) float64 {
	x, _ := statistics.MeanRanks(a)
	y, _ := statistics.MeanRanks(b)
	return stat.Correlation(x, y, nil)
}

// ofRankCorrelation are the intervals of a rank correlation r of n pairs,
//
//	tanh(artanh r ± z √((1 + r²/2) / (n - 3))),
//
// Fisher's with the variance of Bonett and Wright (2000); z is the (1+level)/2 quantile of the normal distribution.
func ofRankCorrelation(r float64, n int) statistics.Intervals {
	return func(level float64) statistics.Estimate {
		half := distuv.UnitNormal.Quantile((1+level)/2) * math.Sqrt((1+r*r/2)/float64(n-3))
		return statistics.Estimate{Mean: r, Low: math.Tanh(math.Atanh(r) - half), High: math.Tanh(math.Atanh(r) + half), N: n}
	}
}
