package natural

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"tvps/data/artifact"
	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/tables"
	"tvps/replicate/tables/drift"

	"github.com/gomlx/gomlx/support/xslices"
)

// Drift is what the command drift says of a table.
type Drift struct {
	Sentence string
	// X and Rule are by how much x, and y in addition to x, lower the held-out loss of g.
	X, Rule float64
	// Periodicity is 1 minus the rank correlation of the blocks' times with their likeness to the last one, which is 0 if
	// they all are equally like it.
	Periodicity float64
}

func driftFile(folder string, t Dataset) string { return filepath.Join(folder, t.Name, "drift.json") }

// MeasureDrift writes the Drift of a table, with the default settings of the command, unless the folder has it.
func MeasureDrift(ctx context.Context, t Dataset, folder string) error {
	path := driftFile(folder, t)
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	q, err := Suites[0].Request(t, folder)
	if err != nil {
		return err
	}
	q.Fit = crossfit.DefaultConfig()
	job, err := drift.Prepare(q.Request)
	if err != nil {
		return err
	}
	found, err := job.Measure(ctx, nil)
	if err != nil {
		return err
	}
	d := Drift{Sentence: found.Finding.Sentence, X: math.Ln2 - found.Covariate.HeldOut, Periodicity: 1}
	if found.Joint != nil {
		d.Rule = found.Covariate.HeldOut - found.Joint.HeldOut
	}
	times := xslices.Map(found.Blocks, func(b tables.Block) float64 { return b.Value })
	last := len(times) - 1
	for _, m := range found.Maps {
		if m.In == tables.InBoth {
			if r := rankCorrelation(times[:last], m.Worth[last][:last]); !math.IsNaN(r) {
				d.Periodicity = 1 - r
			}
		}
	}
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	return artifact.Replace(path, append(text, '\n'), 0o644)
}

// readDrift reads what MeasureDrift wrote.
func readDrift(path string) (*Drift, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w: compute it again", err)
	}
	d := &Drift{}
	if err := json.Unmarshal(text, d); err != nil {
		return nil, fmt.Errorf("%s: %w: compute it again", path, err)
	}
	return d, nil
}
