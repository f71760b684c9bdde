// Package tablestest has tables and settings for the tests of the packages below tables.
package tablestest

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gomlx/compute"

	"tvps/ci/demand"
	"tvps/data/random"
	"tvps/gomlx_models/backend"
	"tvps/gomlx_models/propensity/crossfit"
)

// Write writes a table of so many blocks of rows, with columns block, those named, and y.
func Write(t testing.TB, columns string, blocks, rows int,
	draw func(rng *rand.Rand, block int) (x []float64, y string)) string {
	t.Helper()
	rng := random.New(1, "drift table", columns)
	var b strings.Builder
	fmt.Fprintf(&b, "block,%s,y\n", columns)
	for i := range blocks * rows {
		x, y := draw(rng, i/rows)
		fmt.Fprint(&b, i/rows)
		for _, v := range x {
			fmt.Fprintf(&b, ",%.5f", v)
		}
		fmt.Fprintf(&b, ",%s\n", y)
	}
	return CSV(t, b.String())
}

// Quick is a fit of a second, by one candidate with so many updates.
func Quick(updates int) crossfit.Config {
	c := crossfit.DefaultConfig()
	c.Candidates, c.Folds, c.Ensemble, c.Permutations = c.Candidates[:1], 2, 1, 0
	c.Candidates[0].Updates = updates
	return c
}

// XLA is the backend of all tests.
func XLA(t testing.TB) compute.Backend {
	t.Helper()
	return backend.ForTest(t, "").Backend
}

// CSV writes a text to a file.
func CSV(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "table.csv")
	demand.Write(t, path, text)
	return path
}
