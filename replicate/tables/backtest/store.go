package backtest

import (
	"encoding/json"
	"io"

	"tvps/replicate/runs"
)

// Host is what a back test runs on.
type Host struct {
	Store   *runs.Store
	Workers int       // models that train at the same time
	Log     io.Writer // progress
}

const (
	// experiment is the folder of back tests in the store.
	experiment = "backtest"
	// inputs is how g sees columns and T, and computes. Answers of another g are not taken from the store.
	inputs = "normal scores, products of vectors, phase of the test block, chosen anew for each"
	// frequencies is how the labels of rows predict without a model, see Task.labelDistribution; likewise.
	frequencies = "one more row of each class beside the effective number of rows"
)

// canonical is a value as JSON. All its callers' types can be marshalled.
func canonical(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(text)
}
