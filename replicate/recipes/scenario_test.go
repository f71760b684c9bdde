package recipes

import (
	"context"
	"fmt"

	"tvps/data/random"
	"tvps/gomlx_models/propensity"
	"tvps/replicate/continual"
	"tvps/replicate/protocol"
)

// threshold is a scenario in which x does not drift, but the rule from x to y does: y = 1 where x is above t / steps.
var threshold = continual.DeclareScenario(continual.Scenario{
	Name:     "threshold",
	Networks: []string{"linear", "mlp"},
	Scales:   continual.ScalesOf("gaussian", "steps=40", "g-network=threshold-mlp"),
	Open: func(_ *protocol.Host, _ continual.Scenario, s continual.Settings) continual.Source {
		return thresholds{s}
	},
})

// thresholds draws the samples.
type thresholds struct{ continual.Settings }

// About is empty: the samples are simulated.
func (thresholds) About() protocol.Source { return protocol.Source{} }

// Identity is empty: the settings say everything.
func (thresholds) Identity(int64) (map[string]string, error) { return nil, nil }

// Stream draws N training samples of each step 0 to Steps - 1 and TestN test samples of each step 1 to Steps.
func (s thresholds) Stream(_ context.Context, e *continual.Engine, seed int64) (*continual.Stream, error) {
	return e.Stream(fmt.Sprint("threshold", seed, s.Settings), func() (*continual.Stream, error) {
		stream, err := continual.Simulate(s.Settings, 1, func(part string, t int) (x []float32, y int32) {
			u := random.New(seed, "threshold", part, t).Float32()
			return []float32{u}, 0
		})
		return stream, err
	})
}

var _ propensity.Data
