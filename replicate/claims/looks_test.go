package claims

import (
	"fmt"
	"math"
	"testing"

	"tvps/ci/demand"
	"tvps/data/random"
	"tvps/data/statistics"
	"tvps/replicate/paper"
)

// TestLooks: of seeds of a normal distribution, three or eight are looked at first, and those that decide nothing are
// extended by the size of the plan, once or twice. Up to the second look 7.5% of cases may err, up to the third 9%. The
// interval that is reported in the end covers the true difference in about 93% at worst, also after three looks, and
// that of second looks alone in 95%.
func TestLooks(t *testing.T) {
	if !demand.Nightly {
		t.Skip("a simulation of seconds: TVPS_NIGHTLY=1 runs it")
	}
	const reps = 1500
	for _, c := range []struct {
		first, most   int
		truth, margin float64 // in standard deviations
	}{{3, 2, 0, 0}, {3, 2, 0, 1}, {8, 2, 0, 1}, {3, 3, 0, 0}, {3, 3, 0, 1}, {3, 3, .5, 0}} {
		rng := random.New(1, "looks", c.first, c.most, c.truth, c.margin)
		p := fig14(t)
		part := JudgedPart{Part: paper.Part{Test: paper.Above, Margin: c.margin}}
		covered := 0
		again, coveredAgain := make([]int, c.most+1), make([]int, c.most+1) // by look
		for range reps {
			grid := make([][]float64, mostSeeds)
			for i := range grid {
				grid[i] = []float64{c.truth + rng.NormFloat64()}
			}
			covers := false
			for look, n := 1, c.first; ; look++ {
				e := statistics.OverSeedsAndSteps(grid[:n], 0)(lookLevel(look))
				covers = e.Low <= c.truth && e.High >= c.truth
				if again[look]++; covers {
					coveredAgain[look]++
				}
				part.Effect = e
				if look == c.most || verdictOf(part.Part, e) != Undecided {
					break
				}
				wanted := safety * aim(part)
				p.Seeds = firstSeeds(n)
				s, half := cheapest(p, statistics.VariancesOf(grid[:n]), false, wanted)
				if half > wanted || len(s.Seeds) <= n {
					break
				}
				n = len(s.Seeds)
			}
			if covers {
				covered++
			}
		}
		if float64(covered) < .918*reps || again[c.most] < reps/50 || float64(coveredAgain[2]) < .93*float64(again[2]) {
			t.Errorf("%+v: %d of %d covered; looks %v, of them covered %v", c, covered, reps, again[1:], coveredAgain[1:])
		}
	}
}

// TestAim: by the sign where the mean is far from the bound, by the margin where it is near.
func TestAim(t *testing.T) {
	for _, c := range []struct {
		test          paper.Test
		bound, margin float64
		mean, want    float64
	}{
		{paper.Above, 0, .003, .01, .01}, {paper.Above, 0, .003, -.01, .01}, {paper.Above, 0, .003, .001, .002},
		{paper.Below, .5, 0, .3, .2}, {paper.Within, .05, 0, -.048, .002}, {paper.Within, .05, 0, .01, .04},
	} {
		p := JudgedPart{Part: paper.Part{Test: c.test, Bound: c.bound, Margin: c.margin},
			Effect: statistics.Estimate{Mean: c.mean}}
		if got := aim(p); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %v", fmt.Sprint(c), got)
		}
	}
}
