package claims

import (
	"math"
	"testing"

	"tvps/ci/demand"
	"tvps/data/random"
	"tvps/data/statistics"
	"tvps/replicate/paper"
)

// TestLooks: seeds of a normal distribution are looked at when there are three or eight, and where these decide
// nothing, up to three times more. The interval that is reported in the end covers the true difference in all but 7.5%
// of cases after two looks, 9.2% after three and 10.4% after four. That of second looks alone does in 95%.
func TestLooks(t *testing.T) {
	if !demand.Nightly {
		t.Skip("a simulation of seconds: TVPS_NIGHTLY=1 runs it")
	}
	const reps = 1500
	for _, c := range []struct {
		looks         []int   // numbers of seeds
		truth, margin float64 // in standard deviations
	}{{[]int{3, 8}, 0, 0}, {[]int{3, 8}, 0, 1}, {[]int{8, 20}, 0, .5}, {[]int{3, 8, 20}, 0, 0}, {[]int{3, 8, 20}, 0, .5},
		{[]int{3, 8, 20}, .5, 0}, {[]int{3, 6, 12, 24}, 0, 0}, {[]int{3, 6, 12, 24}, 0, .5}} {
		rng := random.New(1, "looks", len(c.looks), c.looks[0], c.truth, c.margin)
		part := paper.Part{Test: paper.Above, Margin: c.margin}
		covered, least := 0, 1.
		for look := range c.looks {
			least -= .05 / float64(look+1)
		}
		again, coveredAgain := make([]int, len(c.looks)), make([]int, len(c.looks)) // by look
		for range reps {
			var grid [][]float64
			covers := false
			for look, n := range c.looks {
				for len(grid) < n {
					grid = append(grid, []float64{c.truth + rng.NormFloat64()})
				}
				e := statistics.OverSeedsAndSteps(grid, 0)((Panel{Looks: look + 1}).Level())
				covers = e.Low <= c.truth && e.High >= c.truth
				if again[look]++; covers {
					coveredAgain[look]++
				}
				if verdictOf(part, e) != Undecided {
					break
				}
			}
			if covers {
				covered++
			}
		}
		if float64(covered) < least*reps-2*math.Sqrt(.08*reps) || again[len(c.looks)-1] < reps/50 || float64(coveredAgain[1]) < .93*float64(again[1]) {
			t.Errorf("%+v: %d of %d covered; looks %v, of them covered %v", c, covered, reps, again, coveredAgain)
		}
	}
}
