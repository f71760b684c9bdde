package figures

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// scatter draws what one seed measures, around the true mean 0.
type scatter func(r *rand.Rand) float64

func normal(r *rand.Rand) float64      { return r.NormFloat64() }
func uniform(r *rand.Rand) float64     { return r.Float64() - .5 }
func exponential(r *rand.Rand) float64 { return r.ExpFloat64() - 1 }
func chiSquare4(r *rand.Rand) float64  { return 2 * (r.ExpFloat64() + r.ExpFloat64() - 2) }

// twoGroups are seeds that end in one of two places.
func twoGroups(r *rand.Rand) float64 {
	return float64(2*r.IntN(2)-1) + .04*r.NormFloat64()
}

// covered is the share of times at which an interval holds the truth.
func covered(times int, once func() (e Estimate, truth float64)) float64 {
	n := 0
	for range times {
		if e, truth := once(); e.Low <= truth && truth <= e.High {
			n++
		}
	}
	return float64(n) / float64(times)
}

// coverage is the share of times at which the interval of n values holds the true mean 0.
func coverage(times, n int, of scatter, interval func([]float64) Estimate) float64 {
	r := rand.New(rand.NewPCG(2024, uint64(n)))
	values := make([]float64, n)
	return covered(times, func() (Estimate, float64) {
		for i := range values {
			values[i] = of(r)
		}
		return interval(values), 0
	})
}

// spread is how far a share of that many times may lie from p by chance: four standard
// deviations, which chance exceeds once in 16,000.
func spread(p float64, times int) float64 { return 4 * math.Sqrt(p*(1-p)/float64(times)) }

// TestCoverage: what the comment of MeanInterval says of it.
func TestCoverage(t *testing.T) {
	seeds := []int{2, 3, 5, 8, 10}
	for _, n := range seeds {
		const times = 5000
		got := coverage(times, n, normal, MeanInterval)
		t.Logf("normal, n = %d: %.3f", n, got)
		if math.Abs(got-Level) > spread(Level, times) {
			t.Errorf("%d normal values: the interval covers %.3f of the time, want %.2f", n, got, Level)
		}
	}
	for _, c := range []struct {
		name  string
		of    scatter
		least []float64 // by number of seeds
	}{
		{"uniform", uniform, []float64{.91, .91, .92, .93, .93}},
		{"chi-square 4", chiSquare4, []float64{.91, .905, .90, .91, .91}},
		{"exponential", exponential, []float64{.89, .87, .87, .87, .88}},
		{"two groups", twoGroups, []float64{.48, .73, .92, .91, .93}},
	} {
		for i, n := range seeds {
			got := coverage(2000, n, c.of, MeanInterval)
			t.Logf("%s, n = %d: %.3f", c.name, n, got)
			if got < c.least[i] || got > Level+spread(Level, 2000) {
				t.Errorf("%s, %d values: the coverage is %.3f, want %.3f to %.2f", c.name, n, got, c.least[i], Level)
			}
		}
	}
	// All three are in one group with probability 2/2³.
	if got := coverage(2000, 3, twoGroups, MeanInterval); math.Abs(got-.75) > spread(.75, 2000) {
		t.Errorf("two groups, 3 values: %.3f", got)
	}
}

// normalInterval uses the normal quantile instead of Student's.
func normalInterval(values []float64) Estimate {
	e := MeanInterval(values)
	const z = 1.959964
	q := map[int]float64{3: 4.302653, 10: 2.262157}[len(values)] // from printed tables
	half := (e.High - e.Mean) * z / q
	return Estimate{Low: e.Mean - half, High: e.Mean + half}
}

// bootstrap is the percentile interval of the means of resamples.
func bootstrap(r *rand.Rand, resamples int) func(values []float64) Estimate {
	means := make([]float64, resamples)
	return func(values []float64) Estimate {
		for i := range means {
			means[i] = 0
			for range values {
				means[i] += values[r.IntN(len(values))] / float64(len(values))
			}
		}
		slices.Sort(means)
		tail := int((1 - Level) / 2 * float64(resamples))
		return Estimate{Low: means[tail], High: means[resamples-1-tail]}
	}
}

// TestAlternatives: with few seeds the intervals of the normal quantile and of the bootstrap
// are too narrow, and with 20 the bootstrap's is still no better.
func TestAlternatives(t *testing.T) {
	const times = 2000
	// P(|t| < z) for Student's t with 2 degrees of freedom is z / sqrt(2 + z²).
	z := 1.959964
	got, want := coverage(times, 3, normal, normalInterval), z/math.Sqrt(2+z*z)
	if math.Abs(got-want) > spread(want, times) || got > .9 {
		t.Errorf("normal quantile, 3 values: %.3f, want %.3f", got, want)
	}
	if got := coverage(times, 10, normal, normalInterval); got > .93 || got < .9 {
		t.Errorf("normal quantile, 10 values: %.3f", got)
	}
	few := bootstrap(rand.New(rand.NewPCG(1, 1)), 300)
	// All three are on one side with probability 2/2³.
	if got := coverage(1000, 3, normal, few); math.Abs(got-.75) > spread(.75, 1000) || got > .9 {
		t.Errorf("bootstrap, 3 values: %.3f", got)
	}
	many := bootstrap(rand.New(rand.NewPCG(1, 2)), 200)
	for i, of := range []scatter{normal, exponential} { // of the same values
		ours, theirs := coverage(1000, 20, of, MeanInterval), coverage(1000, 20, of, many)
		name := []string{"normal", "exponential"}[i]
		t.Logf("%s, n = 20: Student's t %.3f, bootstrap %.3f", name, ours, theirs)
		if ours <= theirs || ours < .9 {
			t.Errorf("%s, 20 values: Student's t %.3f, bootstrap %.3f", name, ours, theirs)
		}
	}
}

// correlated are rows of two series over steps whose difference is 0 in the mean over
// all seeds, but lies by a seed's own amount above or below it at all its steps, with a
// noise that fades slowly from step to step.
func correlated(r *rand.Rand, seeds, steps int) []Row {
	var rows []Row
	for seed := range int64(seeds) {
		own, noise := r.NormFloat64(), r.NormFloat64()
		for t := range steps {
			noise = .9*noise + math.Sqrt(1-.9*.9)*r.NormFloat64()
			base := r.NormFloat64() // common to both series: pairs cancel it
			rows = append(rows,
				Row{"a", "everything", seed, t, "accuracy", base},
				Row{"a", "ours", seed, t, "accuracy", base + .5*own + .5*noise})
		}
	}
	return rows
}

// TestStepsAreNotTheUnit: a paired difference over correlated steps keeps its coverage
// with the seed as unit, and loses it with the step.
func TestStepsAreNotTheUnit(t *testing.T) {
	const times, steps = 400, 12
	for _, seeds := range []int{3, 8} {
		r := rand.New(rand.NewPCG(7, uint64(seeds)))
		bySeed, byStep := 0, 0
		for range times {
			rows := correlated(r, seeds, steps)
			summary, err := Table(rows, "a", "accuracy", "everything")
			if err != nil {
				t.Fatal(err)
			}
			d := summary.Rows[1].Difference
			if d.N != seeds {
				t.Fatalf("n = %d, want %d seeds", d.N, seeds)
			}
			if d.Low <= 0 && 0 <= d.High {
				bySeed++
			}
			var all []float64
			for i := 0; i < len(rows); i += 2 {
				all = append(all, rows[i+1].Value-rows[i].Value)
			}
			if e := MeanInterval(all); e.Low <= 0 && 0 <= e.High {
				byStep++
			}
		}
		t.Logf("%d seeds: by seed %.3f, by step %.3f", seeds, float64(bySeed)/times, float64(byStep)/times)
		if got := float64(bySeed) / times; math.Abs(got-Level) > spread(Level, times) {
			t.Errorf("%d seeds: the seed as unit covers %.3f, want %.2f", seeds, got, Level)
		}
		if got := float64(byStep) / times; got > .6 {
			t.Errorf("%d seeds: the step as unit covers %.3f: the test does not show what it should", seeds, got)
		}
	}
}
