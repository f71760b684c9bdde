package lab_test

import (
	"tvps/data/random"
	"tvps/replicate/experiment"
	"tvps/replicate/supervised"
)

// threshold is a scenario in which x does not drift, but the rule from x to y does: y is 1 where x is above t / steps.
var threshold = supervised.DeclareScenario(supervised.Scenario{
	Name:     "threshold",
	Networks: []string{"linear", "mlp"},
	Scales:   supervised.ScalesOf("gaussian", func(s *supervised.Settings) { s.Steps = 40 }),
	Open: func(_ *experiment.Host, s supervised.Settings) supervised.Source {
		return supervised.Simulated{Settings: s, Dim: 1, Classes: 2,
			Draw: func(seed int64, part string, t, n int) (x []float32, labels []int32) {
				rng := random.New(seed, "threshold", part, t)
				for range n {
					u, y := rng.Float64(), int32(0)
					if u > float64(t)/float64(s.Steps) {
						y = 1
					}
					x, labels = append(x, float32(u)), append(labels, y)
				}
				return x, labels
			}}
	},
})
