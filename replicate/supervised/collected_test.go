package supervised

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/data/random"
	"tvps/data/steps"
)

// madeSteps is a data set of two classes: the label is whether the first value is above the step's number, and the
// other values are noise.
func madeSteps(number, rows, dim int) *steps.Set {
	rng := random.New(0, "steps test")
	set := &steps.Set{Dim: dim, Values: []float64{1, 2}, First: []int{0}}
	for t := range number {
		for range rows {
			x := float64(t) + rng.NormFloat64()
			label := int32(0)
			if x > float64(t) {
				label = 1
			}
			set.X, set.Label = append(set.X, float32(x)), append(set.Label, label)
			for range dim - 1 {
				set.X = append(set.X, float32(rng.NormFloat64()))
			}
		}
		set.First, set.Names = append(set.First, len(set.Label)), append(set.Names, fmt.Sprintf("batch%d.dat", t+1))
	}
	return set
}

// TestCollected: a folder of files is a scenario, whose runs have the data's hash. Training, validation and test of a
// step are parts of its own rows; where the rule moves, Recent is better than Everything at the last step.
func TestCollected(t *testing.T) {
	dir, set := t.TempDir(), madeSteps(6, 300, 2)
	for step, name := range set.Names {
		var text strings.Builder
		for row := set.First[step]; row < set.First[step+1]; row++ {
			fmt.Fprintf(&text, "%g 1:%g 2:%g\n", set.Values[set.Label[row]], set.X[2*row], set.X[2*row+1])
		}
		demand.Write(t, filepath.Join(dir, name), text.String())
	}
	s := gaussianSettings()
	s.Scenario, s.Steps, s.N, s.TestN, s.MaxUpdates = "gas", 5, 100, 0, 300
	h := newHost(t, "go")
	t.Setenv("TVPS_GAS", "")
	_, err := s.Jobs(h, []string{"everything"}, []int64{0}, "")
	demand.Error(t, err, "TVPS_GAS", "data/README.md")
	t.Setenv("TVPS_GAS", dir)
	s.Steps = 6
	_, err = s.Jobs(h, []string{"everything"}, []int64{0}, "")
	demand.Error(t, err, "6 steps", "steps=5")
	s.Steps = 5
	if data := jobs(t, h, s, []int64{0}, "everything")[0].Spec.Settings["data"]; !strings.HasPrefix(data, "gas:") {
		t.Errorf("the runs have the data %s", data)
	}
	accuracy := map[string]float64{}
	for _, series := range []string{"everything", "recent"} {
		run := newRun(t, h, s, series, 0, "")
		rows, err := run.step(t.Context(), 4)
		demand.NoError(t, err)
		accuracy[series] = metric(t, rows, MeasureAccuracy)
		known := map[int32]string{}
		for name, part := range map[string]Samples{"train": run.Stream.Train(3), "validation": run.Stream.Validation(3),
			"test": run.Stream.Test(3)} {
			for _, row := range part.Row {
				if int(row) < set.First[3] || int(row) >= set.First[4] || known[row] != "" {
					t.Fatalf("row %d is in %s and %q of step 3, which has the rows from %d", row, name, known[row], set.First[3])
				}
				known[row] = name
			}
		}
		if len(known) != 300 {
			t.Errorf("%d of 300 rows of a step are used", len(known))
		}
	}
	// The rule of the last step errs where the first value is between the two steps' numbers: .34 of the rows.
	if accuracy["recent"] < accuracy["everything"]+.05 || accuracy["recent"] > .75 {
		t.Errorf("accuracies %v", accuracy)
	}
}
