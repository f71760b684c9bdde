// Package tablestest has tables and settings for the tests of the packages below tables.
package tablestest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gomlx/compute"

	"tvps/ci/demand"
	"tvps/data/random"
	"tvps/data/table"
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

// BenchRows is the number of rows of the benchmarks: TVPS_TABLE_ROWS, for instance 1000000, or 20,000.
func BenchRows(b testing.TB) int {
	if text := os.Getenv("TVPS_TABLE_ROWS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 200 {
			b.Fatalf("TVPS_TABLE_ROWS is %q", text)
		}
		return n
	}
	return 20_000
}

// BenchFile writes a table of 50 columns and 100 days: the day, a class whose rule turns round, and 48 numbers, of
// which the first drifts. TVPS_TABLE_FILE names the file to use, if it exists, or to keep.
func BenchFile(b testing.TB, rows int) string {
	b.Helper()
	path := os.Getenv("TVPS_TABLE_FILE")
	if path == "" {
		path = filepath.Join(b.TempDir(), "table.parquet")
	} else if _, err := os.Stat(path); err == nil {
		return path
	}
	rng := random.New(1, "own-bench")
	day, label := make([]time.Time, rows), make([]bool, rows)
	numbers := make([][]float64, 48)
	for c := range numbers {
		numbers[c] = make([]float64, rows)
	}
	for i := range rows {
		day[i] = time.Unix(int64(i*100/rows)*86400, 0).UTC()
		for c := range numbers {
			numbers[c][i] = rng.NormFloat64()
		}
		u := float64(i) / float64(rows)
		numbers[0][i] += u
		label[i] = (numbers[1][i]*(1-2*u) + rng.NormFloat64()) > 0
	}
	columns := []table.Column{{Name: "day", Values: day}, {Name: "y", Values: label}}
	for c, v := range numbers {
		columns = append(columns, table.Column{Name: fmt.Sprint("n", c), Values: v})
	}
	demand.NoError(b, table.Write(path, columns...))
	return path
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
