package claims

import (
	"fmt"
	"math"
	"testing"

	"tvps/data/random"
	"tvps/figures"
	"tvps/replicate/paper"
)

// TestTwoLooks: of seeds of a normal distribution, three or eight are looked at first, and those that decide nothing
// are extended by the size of the plan. The two looks together may err in 7.5% of cases. The interval that is reported
// in the end covers the true difference in about 93% at worst, and that of a second look alone in 95%.
func TestTwoLooks(t *testing.T) {
	nightly(t)
	const reps = 1500
	for _, c := range []struct {
		first         int
		truth, margin float64 // in standard deviations
	}{{3, 0, 0}, {3, 0, 1}, {8, 0, 1}} {
		rng := random.New(1, "two looks", c.first, c.truth, c.margin)
		p := fig14(t)
		p.Seeds = firstSeeds(c.first)
		part := JudgedPart{Part: paper.Part{Test: paper.Above, Margin: c.margin}}
		covered, again, coveredAgain := 0, 0, 0
		for range reps {
			grid := make([][]float64, mostSeeds)
			for i := range grid {
				grid[i] = []float64{c.truth + rng.NormFloat64()}
			}
			look := func(n int, level float64) (figures.Estimate, bool) {
				e := figures.OverSeedsAndSteps(grid[:n], 0)(level)
				return e, e.Low <= c.truth && e.High >= c.truth
			}
			e, covers := look(c.first, figures.Level)
			if part.Effect = e; verdictOf(part.Part, e) == Undecided {
				wanted := safety * aim(part)
				if s, half := cheapest(p, figures.VariancesOf(grid[:c.first]), false, wanted); half <= wanted {
					again++
					if _, covers = look(len(s.Seeds), secondLook); covers {
						coveredAgain++
					}
				}
			}
			if covers {
				covered++
			}
		}
		if float64(covered) < .918*reps || again < reps/20 || float64(coveredAgain) < .93*float64(again) {
			t.Errorf("%+v: %d of %d covered; %d looked at again, %d of them covered", c, covered, reps, again, coveredAgain)
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
			Effect: figures.Estimate{Mean: c.mean}}
		if got := aim(p); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %v", fmt.Sprint(c), got)
		}
	}
}
