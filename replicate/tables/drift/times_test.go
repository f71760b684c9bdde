package drift

import (
	"context"
	"math"
	"os"
	"testing"

	"tvps/ci/demand"
	"tvps/data/random"
	"tvps/data/table"
	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/tables"
)

// series draws n rows of dim values in blocks: each value is an autoregressive process of coefficient phi and
// variance 1 plus shift(row).
func series(seed int64, n, dim, blocks int, phi float64, shift func(row int) float64) *measurement {
	rng := random.New(seed, "drift test")
	m := &measurement{Sample: &tables.Sample{}, ctx: context.Background()}
	m.finding = &tables.Finding{Dependence: (1 + phi) / (1 - phi)}
	m.Data.Dim = dim
	last := make([]float64, dim)
	for j := range last {
		last[j] = rng.NormFloat64()
	}
	for i := range n {
		for j := range last {
			last[j] = phi*last[j] + math.Sqrt(1-phi*phi)*rng.NormFloat64()
			m.Data.X = append(m.Data.X, float32(last[j]+shift(i)))
		}
		m.Of = append(m.Of, i*blocks/n)
	}
	for i := range blocks {
		m.Blocks = append(m.Blocks, tables.Block{Name: string(rune('A' + i)), Value: float64(i), Rows: n / blocks})
	}
	m.Data.Time = make([]float64, n)
	return m
}

func test(t *testing.T, m *measurement) *Tests {
	t.Helper()
	found, err := m.overTime()
	demand.NoError(t, err)
	return found
}

func still(int) float64 { return 0 }

// TestFalsePositives: of tables without drift, of independent and of autoregressive rows, no more than a few have a
// test that finds drift. DRIFT_TABLES=200 takes more tables.
func TestFalsePositives(t *testing.T) {
	count, allowed := 5, 1 // P(more than 1 of 5) is 2.3% if each has 5%, and the draws do not change
	if os.Getenv("DRIFT_TABLES") == "200" {
		count, allowed = 200, 20
	}
	for _, phi := range []float64{0, .9} {
		called, single, all := 0, 0, 0
		for seed := range int64(count) {
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
		t.Logf("coefficient %.1f: drift in %d of %d count, p <= .05 in %.3f of the tests", phi, called, count,
			float64(single)/float64(all))
		if called > allowed {
			t.Errorf("coefficient %.1f: drift found in %d of %d count that do not drift", phi, called, count)
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
	if at := found.when(tables.InX); at == nil || at.Against != Before || found.Stretches[at.Stretch].from != 5 {
		t.Errorf("the strongest change: %+v", at)
	}
}

// TestCorrections against p.adjust of R: c(.01, .04, .03, .005).
func TestCorrections(t *testing.T) {
	tests := []Test{{P: .01}, {P: .04}, {P: .03}, {P: .005}}
	correct(tests)
	for i, want := range []float64{.02, .04, .04, .02} {
		if math.Abs(tests[i].Adjusted-want) > 1e-12 || !tests[i].Drift {
			t.Errorf("p = %v: %v, want %v", tests[i].P, tests[i].Adjusted, want)
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

// TestFewRows: a stretch of one row is not tested.
func TestFewRows(t *testing.T) {
	m := series(1, 100, 1, 2, 0, still)
	for i := range m.Of {
		m.Of[i] = i / 99
	}
	if made := test(t, m).List; len(made) != 0 {
		t.Errorf("%d tests of one row", len(made))
	}
}

// TestFalseDrift counts the tables without drift in which any question is answered with yes.
func TestFalseDrift(t *testing.T) {
	if !demand.Nightly {
		t.Skip("a simulation of minutes: TVPS_NIGHTLY=1 runs it")
	}
	const count = 40
	for _, phi := range []float64{0, .5, .9} {
		called, by := 0, map[string]int{}
		for seed := range int64(count) {
			m := series(seed, 3000, 3, 30, phi, still)
			rng := random.New(seed, "label")
			m.Data.Classes = 2
			for i := range m.Of {
				m.Data.Time[i], m.Data.Order = float64(m.Of[i]), append(m.Data.Order, float64(i))
				y := int32(0)
				if float64(m.Data.X[3*i])+rng.NormFloat64() > 0 {
					y = 1
				}
				m.Data.Label = append(m.Data.Label, y)
			}
			m.Encoder = &table.Encoder{}
			f, err := m.Find(t.Context(), crossfit.DefaultConfig(), seed)
			demand.NoError(t, err)
			if len(f.Drifting()) > 0 {
				called++
			}
			for _, q := range f.Questions {
				for _, test := range q.Tests {
					if test.P <= tables.Level {
						by[q.Name+" by "+test.By]++
					}
				}
			}
		}
		t.Logf("coefficient %.1f: drift called in %d of %d tables without drift: %v", phi, called, count, by)
		if float64(called) > count*tables.Level+3*math.Sqrt(count*tables.Level*(1-tables.Level)) {
			t.Errorf("coefficient %.1f: drift is called in %d of %d tables without drift", phi, called, count)
		}
	}
}

// TestEntities: rows of entities that depend on their own past are dealt by whole entities. Of panels that do not drift
// few have a test that finds drift, and one that moves is found.
func TestEntities(t *testing.T) {
	called := 0
	for seed := range int64(6) {
		m := series(seed, 300, 20, 30, .9, func(row int) float64 { return float64(seed / 5 * int64(row/150)) })
		m.Of = nil
		for i := range 300 * 20 { // value j of a row is the one of entity j
			m.Of, m.Data.Group = append(m.Of, i/200), append(m.Data.Group, int32(i%20))
		}
		m.Data.Dim, m.Data.Time = 1, make([]float64, 300*20)
		found := test(t, m)
		if len(found.Stretches) != 30 || found.Stretches[0].Chunks != mostChunks {
			t.Fatalf("%d stretches of %d chunks", len(found.Stretches), found.Stretches[0].Chunks)
		}
		if at := found.when(tables.InX); seed == 5 && (at == nil || at.Against != Before || found.Stretches[at.Stretch].from != 15) {
			t.Errorf("the step is found at %+v", at)
		} else if seed < 5 && at != nil {
			called++
		}
	}
	if called > 1 {
		t.Errorf("drift is called in %d of 5 panels without", called)
	}
	m := series(0, 300, 20, 30, .9, func(int) float64 { return 0 })
	for _, block := range m.Of {
		m.Data.Group = append(m.Data.Group, int32(block/10)) // others every ten blocks
	}
	if found := test(t, m); len(found.Stretches) != 0 {
		t.Errorf("%d stretches with different entities are compared", len(found.Stretches))
	}
}
