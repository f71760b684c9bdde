package propensity

import (
	"math"
	"slices"
	"testing"

	"tvps/ci/demand"
	"tvps/data/random"
	"tvps/data/statistics"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// movingColumn draws 6,000 rows of two columns at 20 times, and log omega for the last time. The first column is given
// by its quantile, its mean moves by 1.9; the second is N(0, 1).
func movingColumn(seed int64, of distuv.Quantiler, logProb func(float64) float64) (d Data, exact []float64) {
	rng := random.New(seed, "propensity test", "moving column")
	d = Data{Dim: 2}
	for i := range 6000 {
		t := float64(i % 20)
		e := of.Quantile(rng.Float64())
		d.X, d.Time = append(d.X, float32(e+.1*t), float32(rng.NormFloat64())), append(d.Time, t)
		exact = append(exact, logProb(e+.1*t-1.9)-logProb(e))
	}
	return d, exact
}

// rankCorrelation is Spearman's.
func rankCorrelation(a, b []float64) float64 {
	x, _ := statistics.MeanRanks(a)
	y, _ := statistics.MeanRanks(b)
	return stat.Correlation(x, y, nil)
}

// TestOrdinaryColumns: with the default settings log omega has the order of the exact log ratio whatever the unit and
// the tails of a column are, of fitted rows and of new ones. The exact one is the same for every increasing function.
func TestOrdinaryColumns(t *testing.T) {
	demand.Slow(t)
	normal := distuv.UnitNormal
	cauchy := distuv.StudentsT{Sigma: 1, Nu: 1}
	for _, c := range []struct {
		name   string
		of     distuv.Quantiler
		log    func(float64) float64
		change func(x []float32)
		least  float64
	}{
		{"one value of 1e9", normal, normal.LogProb, func(x []float32) { x[0] = 1e9 }, .95},
		{"exp(2z)", normal, normal.LogProb, func(x []float32) {
			for i := 0; i < len(x); i += 2 {
				x[i] = float32(math.Exp(2 * float64(x[i])))
			}
		}, .95},
		{"Cauchy", cauchy, cauchy.LogProb, func([]float32) {}, .92},
	} {
		d, exact := movingColumn(1, c.of, c.log)
		c.change(d.X)
		f, err := Fit(t.Context(), open(t, ""), d, DefaultConfig(), 0)
		demand.NoError(t, err)
		defer f.Close()
		logs, err := f.LogOmega(t.Context(), 19)
		demand.NoError(t, err)
		again, err := f.LogOmegaOf(t.Context(), d, 19)
		demand.NoError(t, err)
		if !slices.Equal(again, logs) {
			t.Errorf("%s: log omega of the fitted rows as new ones differs", c.name)
		}
		fresh, truth := movingColumn(2, c.of, c.log)
		c.change(fresh.X)
		others, err := f.LogOmegaOf(t.Context(), fresh, 19)
		demand.NoError(t, err)
		fitted, unseen := rankCorrelation(logs, exact), rankCorrelation(others, truth)
		t.Logf("%s: rank correlation %.3f, of new rows %.3f", c.name, fitted, unseen)
		if !(min(fitted, unseen) > c.least) {
			t.Errorf("%s: rank correlation %.3f, of new rows %.3f, want %v", c.name, fitted, unseen, c.least)
		}
	}
}
