package continual_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"tvps/data/random"
	"tvps/figures"
	"tvps/gomlx_models/backend/backendtest"
	"tvps/replicate/continual"
	"tvps/replicate/protocol"
	"tvps/replicate/runs"
	"tvps/replicate/settings"

	"github.com/gomlx/gomlx/core/tensors"
)

// A learner is one declaration.
var _ = continual.Declare(continual.Learner{
	Look: figures.Look{Name: "last-three", Label: "Last three steps", Color: "#0072b2"},
	Phases: []continual.Phase{{
		Steps:  func(t int) (first, last int) { return max(0, t-2), t },
		Epochs: func(s continual.Settings) int { return s.Epochs },
	}},
})

// A scenario is one declaration and a source.
var _ = continual.DeclareScenario(continual.Scenario{
	Name:     "rotation",
	Networks: []string{"linear"},
	Scales:   settings.ByScale{settings.Tiny: rotationTiny, settings.Small: rotationTiny, settings.Paper: rotationTiny},
	Open: func(_ *protocol.Host, _ continual.Scenario, s continual.Settings) continual.Source {
		return rotation{s}
	},
})

// rotationTiny is the Gaussian's tiny scale with other steps and a linear model.
var rotationTiny = func() []string {
	gaussian, err := continual.At("gaussian", settings.Tiny)
	if err != nil {
		panic(err)
	}
	var list []string
	for _, f := range gaussian.Fields() {
		if f.Name != "scenario" {
			list = append(list, f.Name+"="+f.Value)
		}
	}
	return append(list, "network=linear", "steps=12", "first=8", "stride=3", "n=60", "test-n=200", "rate=5e-2")
}()

// rotation is two classes on both sides of a line that rotates by 10 degrees at each step.
type rotation struct{ settings continual.Settings }

func (rotation) About() protocol.Source                    { return protocol.Source{} }
func (rotation) Identity(int64) (map[string]string, error) { return nil, nil }

func (r rotation) Stream(_ context.Context, e *continual.Engine, seed int64) (*continual.Stream, error) {
	return e.Stream(fmt.Sprint("rotation", seed, r.settings), func() (*continual.Stream, error) {
		var x []float32
		draw := func(part string, t, n int) continual.Samples {
			var out continual.Samples
			rng := random.New(seed, "rotation", part, t)
			for range n {
				a, b := rng.NormFloat64(), rng.NormFloat64()
				angle, label := float64(t)*math.Pi/18, int32(0)
				if a*math.Cos(angle)+b*math.Sin(angle) > 0 {
					label = 1
				}
				out.Row, out.Label = append(out.Row, int32(len(x)/2)), append(out.Label, label)
				x = append(x, float32(a), float32(b))
			}
			return out
		}
		var train, test []continual.Samples
		for t := range r.settings.Steps + 1 {
			train, test = append(train, draw("train", t, r.settings.N)), append(test, draw("test", t, r.settings.TestN))
		}
		return &continual.Stream{
			Classes: 2, Pool: tensors.FromFlatDataAndDimensions(x, len(x)/2, 2), X: x,
			Train: func(t int) continual.Samples { return train[t] },
			Test:  func(t int) continual.Samples { return test[t] },
		}, nil
	})
}

// TestRecipes: a declared learner and a declared scenario run without any other change, and the learner that trains on
// the last steps only is the better one on a stream that rotates.
func TestRecipes(t *testing.T) {
	s, err := continual.At("rotation", settings.Tiny)
	if err != nil {
		t.Fatal(err)
	}
	h := &protocol.Host{Backend: backendtest.Open(t, "go"), CacheDir: t.TempDir()}
	wanted, err := s.Jobs(h, []string{"everything", "last-three"}, []int64{0}, "")
	if err != nil {
		t.Fatal(err)
	}
	store, err := runs.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	report, err := runs.Execute(t.Context(), store, []runs.Job{wanted[0].Job, wanted[1].Job}, runs.Options{})
	if err != nil || report.Err() != nil {
		t.Fatal(err, report.Err())
	}
	accuracy := map[string]float64{}
	for _, result := range report.Results {
		for _, row := range result.Rows {
			accuracy[result.Spec.Learner] += row.Value / float64(len(result.Rows))
		}
	}
	if accuracy["last-three"] < accuracy["everything"]+.1 || accuracy["last-three"] < .8 {
		t.Errorf("mean accuracies %v", accuracy)
	}
	if look, known := figures.LookUp("last-three"); !known || look.Label != "Last three steps" {
		t.Errorf("the declared look is %+v", look)
	}
}
