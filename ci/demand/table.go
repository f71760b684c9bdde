package demand

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"tvps/data/random"
)

// Table writes a table of so many blocks of rows, with columns block, those named, and y.
func Table(t testing.TB, columns string, blocks, rows int,
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

// CSV writes a text to a file.
func CSV(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "table.csv")
	Write(t, path, text)
	return path
}
