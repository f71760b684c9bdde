package drift

import (
	"context"
	"math"
	"os"
	"testing"

	"tvps/data/random"
	"tvps/gomlx_models/backend/backendtest"
	"tvps/gomlx_models/propensity"
)

// series draws n rows of dim values in blocks: each value is an autoregressive process of coefficient phi and variance 1
// plus shift(row).
func series(seed int64, n, dim, blocks int, phi float64, shift func(row int) float64) *measurement {
	rng := random.New(seed, "drift test")
	m := &measurement{Result: &Result{}, ctx: context.Background()}
	m.d.Dim = dim
	last := make([]float64, dim)
	for j := range last {
		last[j] = rng.NormFloat64()
	}
	for i := range n {
		for j := range last {
			last[j] = phi*last[j] + math.Sqrt(1-phi*phi)*rng.NormFloat64()
			m.d.X = append(m.d.X, float32(last[j]+shift(i)))
		}
		m.of = append(m.of, i*blocks/n)
	}
	for i := range blocks {
		m.Blocks = append(m.Blocks, Block{Name: string(rune('A' + i)), Value: float64(i), Rows: n / blocks})
	}
	m.d.Time = make([]float64, n)
	return m
}

func test(t *testing.T, m *measurement) *Tests {
	t.Helper()
	m.backend = backendtest.Open(t, "").Backend
	found, err := m.overTime(func(float64) {})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func still(int) float64 { return 0 }

// TestFalsePositives: of tables without drift, of independent and of autoregressive rows, no more than a few have a test
// that finds drift. DRIFT_TABLES=200 gives the numbers of the README.
func TestFalsePositives(t *testing.T) {
	tables, allowed := 12, 3 // P(more than 3 of 12) is .2% if each has 5%
	if os.Getenv("DRIFT_TABLES") == "200" {
		tables, allowed = 200, 20
	}
	for _, phi := range []float64{0, .9} {
		called, single, all := 0, 0, 0
		for seed := range int64(tables) {
			found := test(t, series(seed, 3000, 3, 30, phi, still))
			any := false
			for _, c := range found.List {
				any = any || c.Drift
				all++
				if c.P <= .05 {
					single++
				}
			}
			if any {
				called++
			}
			if seed == 0 {
				t.Logf("coefficient %.1f: %d stretches, autocorrelation time %.1f", phi, len(found.Stretches), found.Dependence)
			}
		}
		t.Logf("coefficient %.1f: drift in %d of %d tables, p <= .05 in %.3f of the tests", phi, called, tables,
			float64(single)/float64(all))
		if called > allowed {
			t.Errorf("coefficient %.1f: drift found in %d of %d tables that do not drift", phi, called, tables)
		}
	}
}

var _ = propensity.Joint
