package collected

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/ci/research/study"
	"tvps/figures"
	"tvps/replicate/experiment"
	"tvps/replicate/lab"
	"tvps/replicate/supervised"
)

// writeSteps writes a data set of two classes: the label is whether the first value is above the step's number.
func writeSteps(t *testing.T, steps, rows int) (dir string) {
	dir = t.TempDir()
	rng := rand.New(rand.NewPCG(1, 2))
	for step := range steps {
		var text strings.Builder
		for range rows {
			x, label := float64(step)+rng.NormFloat64(), 1
			if x > float64(step) {
				label = 2
			}
			fmt.Fprintf(&text, "%d 1:%g 2:%g\n", label, x, rng.NormFloat64())
		}
		demand.Write(t, filepath.Join(dir, fmt.Sprintf("batch%d.dat", step+1)), text.String())
	}
	return dir
}

// TestSource: training, validation and test of a step are parts of its own rows; errors say what is missing.
func TestSource(t *testing.T) {
	src := source{supervised.Settings{Scenario: "gas", Steps: 6, N: 100}, "TVPS_GAS"}
	t.Setenv("TVPS_GAS", "")
	_, err := src.Identity(0)
	demand.Error(t, err, "TVPS_GAS", "ci/research/README.md")
	t.Setenv("TVPS_GAS", writeSteps(t, 6, 300))
	_, err = src.Identity(0)
	demand.Error(t, err, "6 steps", "steps=5")
	src.settings.Steps = 5
	if id, err := src.Identity(0); err != nil || !strings.HasPrefix(id["data"], "gas:") {
		t.Errorf("the runs have the data %v, %v", id, err)
	}
	if note := src.About().Note; note != "1800 rows of 2 values in 6 steps, batch1.dat to batch6.dat" {
		t.Errorf("the data are %q", note)
	}
	stream, err := src.Stream(t.Context(), nil, 0)
	demand.NoError(t, err)
	known := map[int32]string{}
	for name, part := range map[string]supervised.Samples{"train": stream.Train(3), "validation": stream.Validation(3),
		"test": stream.Test(3)} {
		for i, row := range part.Row {
			if row < 900 || row >= 1200 || known[row] != "" || stream.X[2*row] > 3 != (part.Label[i] == 1) {
				t.Fatalf("row %d of class %d is in %s and %q of step 3, which has the rows from 900", row, part.Label[i], name,
					known[row])
			}
			known[row] = name
		}
	}
	if len(known) != 300 || len(stream.Train(3).Row) != 100 || len(stream.Validation(3).Row) != 30 {
		t.Errorf("%d of 300 rows of a step are used", len(known))
	}
}

// TestGolden: the accuracies of all learners on such a data set are those in testdata, which were computed when the
// scenario was one of the figures' program.
func TestGolden(t *testing.T) {
	t.Setenv("TVPS_GAS", writeSteps(t, 6, 300))
	out := t.TempDir()
	l, err := lab.Open(t.Context(), lab.PaperCatalog(&supervised.Protocol), lab.OpenOptions{Results: t.TempDir(),
		Stdout: io.Discard, Stderr: io.Discard})
	demand.NoError(t, err)
	_, _, err = study.Make(t.Context(), l, Tables(), study.Options{Options: lab.Options{Scale: experiment.Tiny,
		Panels: []string{"gas"}, Seeds: []int64{0, 1}, Workers: 2, Out: out}})
	demand.NoError(t, err)
	rows := func(text []byte) []figures.Row {
		rows, err := figures.ReadCSV(bytes.NewReader(text))
		demand.NoError(t, err)
		return rows
	}
	folder, err := figures.OpenFolder(out)
	demand.NoError(t, err)
	made, err := folder.Read("study.csv")
	demand.NoError(t, err)
	want := rows(demand.Read(t, filepath.Join("testdata", "study.csv")))
	for i, got := range rows(made) {
		value := got.Value
		got.Value = want[i].Value
		if got != want[i] || math.Abs(value-got.Value) > .03 { // of 220 test samples, by rounding
			t.Errorf("%+v with the value %v, want %+v", got, value, want[i])
		}
	}
}
