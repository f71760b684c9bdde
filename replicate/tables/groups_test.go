package tables

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/data/random"
	"tvps/data/table"
	"tvps/gomlx_models/propensity/crossfit"
)

// panel is a table of 100 weeks of 20 shops, each a stationary series of autocorrelation .9 that moves by so many
// standard deviations over the weeks, and a column of five levels that says nothing.
func panel(t *testing.T, seed int64, moves float64) Source {
	t.Helper()
	rng := random.New(seed, "panel")
	var b strings.Builder
	b.WriteString("week,shop,x,size\n")
	state := make([]float64, 20)
	for week := range 100 {
		for e := range state {
			if state[e] = .9*state[e] + math.Sqrt(1-.81)*rng.NormFloat64(); week == 0 {
				state[e] = rng.NormFloat64()
			}
			fmt.Fprintf(&b, "%d,s%d,%.4f,%d\n", week, e, state[e]+moves*float64(week)/99, rng.IntN(5))
		}
	}
	return Source{File: demand.CSV(t, b.String()), Time: "week"}
}

// TestPanels: of panels without drift one in twenty is called, or more by chance; a fifth of those that move by half a
// standard deviation are found, and most of those that move by two.
func TestPanels(t *testing.T) {
	panels, sizes := 3, []float64{0, 2}
	if demand.Nightly {
		panels, sizes = 200, []float64{0, .5, 2}
	}
	for _, moves := range sizes {
		found := 0
		for seed := range int64(panels) {
			q := Request{Source: panel(t, 1000+seed, moves), Fit: crossfit.ForTest(1), Seed: seed}
			q.Group, q.Fit.Permutations = "shop", 199
			o, err := q.Open("")
			demand.NoError(t, err)
			f, err := o.Tested.Find(context.Background(), q.Fit, seed)
			demand.NoError(t, err)
			found += len(f.Drifting())
		}
		t.Logf("%v sd: drift in %d of %d", moves, found, panels)
		expected := .05 * float64(panels)
		if moves == 0 && float64(found) > expected+2*math.Sqrt(expected) || moves == .5 && 5*found < panels ||
			moves == 2 && 2*found < panels {
			t.Errorf("%v sd: drift in %d of %d", moves, found, panels)
		}
	}
}

// TestGroup: the column of the group is no feature unless its type is named. Without a group, the column that names
// entities is proposed, and no other.
func TestGroup(t *testing.T) {
	s := panel(t, 1, 0)
	for _, c := range []struct {
		group    string
		kinds    map[string]table.Kind
		features string
		note     bool
	}{
		{"", nil, "shop x size", true},
		{"shop", nil, "x size", false},
		{"size", nil, "shop x", false},
		{"shop", map[string]table.Kind{"shop": table.Category}, "shop x size", false},
	} {
		q := Request{Source: s, Fit: crossfit.ForTest(1)}
		q.Group, q.Read.Kinds, q.Fit.Permutations = c.group, c.kinds, LeastPermutations
		o, err := q.Open("")
		demand.NoError(t, err)
		if got := strings.Join(o.Stream.Features, " "); got != c.features {
			t.Errorf("group %q: features %q, want %q", c.group, got, c.features)
		}
		if notes := strings.Join(o.About.AllNotes(), "\n"); strings.Contains(notes, "each value of shop is in one row") != c.note {
			t.Errorf("group %q: notes %s", c.group, notes)
		}
		of := map[int32]int{}
		for _, g := range o.Tested.Data.Group {
			of[g]++
		}
		if want := map[string]int{"shop": 20, "size": 5}[c.group]; len(of) != want {
			t.Errorf("group %q: %d groups, want %d", c.group, len(of), want)
		}
	}
	for group, want := range map[string]string{"week": "the time or the label, and named as the group", "x1": `no column "x1"`} {
		q := Request{Source: s, Fit: crossfit.ForTest(1)}
		q.Group = group
		if _, err := q.Open(""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("group %q: %v", group, err)
		}
	}
}
