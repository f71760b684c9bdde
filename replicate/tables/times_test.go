package tables

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/data/random"
)

// series draws n rows of dim values in blocks: each value is an autoregressive process of coefficient phi and
// variance 1 plus shift(row).
func series(seed int64, n, dim, blocks int, phi float64, shift func(row int) float64) *measurement {
	rng := random.New(seed, "drift test")
	m := &measurement{Drift: &Drift{}, sample: &sample{}, ctx: context.Background()}
	m.Finding = &Finding{Dependence: (1 + phi) / (1 - phi)}
	m.data.Dim = dim
	last := make([]float64, dim)
	for j := range last {
		last[j] = rng.NormFloat64()
	}
	for i := range n {
		for j := range last {
			last[j] = phi*last[j] + math.Sqrt(1-phi*phi)*rng.NormFloat64()
			m.data.X = append(m.data.X, float32(last[j]+shift(i)))
		}
		m.of = append(m.of, i*blocks/n)
	}
	for i := range blocks {
		m.Blocks = append(m.Blocks, Block{Name: string(rune('A' + i)), Value: float64(i), Rows: n / blocks})
	}
	m.data.Time = make([]float64, n)
	return m
}

func test(t *testing.T, m *measurement) *Tests {
	t.Helper()
	m.backend = xla(t)
	demand.NoError(t, m.overTime(func(float64) {}))
	return m.Tests
}

func still(int) float64 { return 0 }

// TestFalsePositives: of tables without drift, of independent and of autoregressive rows, no more than a few have a
// test that finds drift. DRIFT_TABLES=200 gives the numbers of the README.
func TestFalsePositives(t *testing.T) {
	tables, allowed := 5, 1 // P(more than 1 of 5) is 2.3% if each has 5%, and the draws do not change
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
				t.Logf("coefficient %.1f: %d stretches", phi, len(found.Stretches))
			}
		}
		t.Logf("coefficient %.1f: drift in %d of %d tables, p <= .05 in %.3f of the tests", phi, called, tables,
			float64(single)/float64(all))
		if called > allowed {
			t.Errorf("coefficient %.1f: drift found in %d of %d tables that do not drift", phi, called, tables)
		}
	}
}

// TestStep: x moves in the middle and nowhere else; the test there finds it, and those of the first half against the
// present.
func TestStep(t *testing.T) {
	found := test(t, series(1, 3000, 3, 10, .5, func(row int) float64 { return float64(row / 1500) }))
	for _, c := range found.List {
		want := c.Against == Present && found.Stretches[c.Stretch].from < 5 ||
			c.Against == Before && found.Stretches[c.Stretch].from == 5
		if c.Drift != want {
			t.Errorf("stretch %d against %s: MMD² %.3f, p %.4f, corrected %.4f", c.Stretch, c.Against, c.MMD2, c.P, c.Adjusted)
		}
	}
	if at := found.when(InX); at == nil || at.Against != Before || found.Stretches[at.Stretch].from != 5 {
		t.Errorf("the strongest change: %+v", at)
	}
}

// TestCorrections against p.adjust of R: c(.01, .04, .03, .005).
func TestCorrections(t *testing.T) {
	p := []float64{.01, .04, .03, .005}
	var tests []Test
	var f Finding
	for _, v := range p {
		tests = append(tests, Test{P: v})
		f.Questions = append(f.Questions, Question{Tests: []QuestionTest{{P: v}}})
	}
	correct(tests)
	f.correct()
	for i, want := range []struct{ bh, holm float64 }{{.02, .03}, {.04, .06}, {.04, .06}, {.02, .02}} {
		if math.Abs(tests[i].Adjusted-want.bh) > 1e-12 || !tests[i].Drift || math.Abs(f.Questions[i].P-want.holm) > 1e-12 ||
			f.Questions[i].Drift != (want.holm <= .05) {
			t.Errorf("p = %v: %v and %v, want %v and %v", p[i], tests[i].Adjusted, f.Questions[i].P, want.bh, want.holm)
		}
	}
}

// TestSplit: the statistic agrees with its definition over pairs of rows, and its p-value with all divisions.
func TestSplit(t *testing.T) {
	rng := random.New(1, "split")
	x := make([]float64, 12)
	for i := range x {
		x[i] = rng.NormFloat64() + float64(i/6)
	}
	at := func(a, b int) float64 { return math.Exp(-(x[a] - x[b]) * (x[a] - x[b])) }
	chunk := make([]int, 12)
	for i := range chunk {
		chunk[i] = i / 2 // three chunks of two rows each side
	}
	s := newSplit(at, chunk, 3, 3)
	direct := func(side func(row int) bool) float64 {
		var sum, count [3]float64 // within the first, within the second, between
		for a := range x {
			for b := range a {
				if chunk[a] == chunk[b] {
					continue
				}
				k := 2
				if side(a) == side(b) {
					k = map[bool]int{true: 0, false: 1}[side(a)]
				}
				sum[k] += at(a, b)
				count[k]++
			}
		}
		return sum[0]/count[0] + sum[1]/count[1] - 2*sum[2]/count[2]
	}
	real := direct(func(row int) bool { return row < 6 })
	if math.Abs(s.mmd2()-real) > 1e-12 {
		t.Errorf("MMD² %v, want %v", s.mmd2(), real)
	}
	large, all := 0., 0.
	for a := range 6 {
		for b := range a {
			for c := range b {
				all++
				if direct(func(row int) bool { return chunk[row] == a || chunk[row] == b || chunk[row] == c }) >= real-1e-12 {
					large++
				}
			}
		}
	}
	if p := s.p(rng); math.Abs(p-large/all) > 6*math.Sqrt(large/all/100)*large/all {
		t.Errorf("p = %.3f, of all divisions %.3f", p, large/all)
	}
}

// TestFewRows: a stretch of one row is not tested, and the page does without its chart.
func TestFewRows(t *testing.T) {
	m := series(1, 100, 1, 2, 0, still)
	for i := range m.of {
		m.of[i] = i / 99
	}
	m.Tests = test(t, m)
	if len(m.Tests.List) != 0 {
		t.Errorf("%d tests of one row", len(m.Tests.List))
	}
	m.Columns, m.Maps = &Columns{}, []Map{{In: InX, Worth: [][]float64{{1, 1}, {1, 1}}}}
	dir := t.TempDir()
	err := m.WritePage(dir)
	if page, _ := os.ReadFile(filepath.Join(dir, "index.html")); err != nil || !strings.Contains(string(page), "0 of 0 tests") {
		t.Error(err)
	}
}
