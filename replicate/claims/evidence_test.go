package claims

import (
	"fmt"
	"path/filepath"
	"reflect"
	"testing"

	"tvps/ci/demand"
	"tvps/replicate/experiment"
	"tvps/replicate/runs"
	"tvps/replicate/supervised"
)

// TestJoined: a stored run with few steps does not hide those that the tables have of it, and its own rows stay.
func TestJoined(t *testing.T) {
	rows := func(value float64, steps ...int) *runs.Result {
		r := &runs.Result{Steps: steps}
		for _, step := range steps {
			r.Rows = append(r.Rows, runs.Row{T: step, Metric: "accuracy", Value: value})
		}
		return r
	}
	got := joined(rows(1, 3, 9), rows(2, 1, 3, 5))
	want := rows(2, 1, 3, 5, 9)
	want.Rows[1].Value, want.Rows[3].Value = 1, 1
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestSamples: more seeds serve a panel if their runs have its settings and all of its series.
func TestSamples(t *testing.T) {
	p := fig14(t)
	for name, change := range map[string]func(*Panel){
		"serve":           func(*Panel) {},
		"lack a series":   func(q *Panel) { q.Series = q.Series[:1] },
		"measure another": func(q *Panel) { q.Measure += "x" },
		"are fewer":       func(q *Panel) { q.Seeds = firstSeeds(2) },
	} {
		q := p
		q.Seeds = firstSeeds(15)
		change(&q)
		if got := samples(p, p.Series, []Panel{q}, nil); (len(got) == 1) != (name == "serve") {
			t.Errorf("seeds that %s: %v", name, got)
		}
	}
}

// TestUnevenSize: a stride that shares a factor with the interval of a label shift meets some of its steps alone, so a
// fixed size must not have it. CIFAR-10b has T = 6.
func TestUnevenSize(t *testing.T) {
	setup, err := supervised.At("cifar10b", experiment.Small)
	demand.NoError(t, err)
	panelOf := func(Size) (Panel, error) { return Panel{Settings: setup}, nil }
	file := filepath.Join(t.TempDir(), "sizes.json")
	for _, stride := range []int{0, 1, 5, 11} {
		demand.Write(t, file, fmt.Sprintf(`[{"figure": "fig01", "panel": "c", "seeds": [0], "stride": %d}]`, stride))
		if sizes, err := ReadSizes(file, panelOf); err != nil || len(sizes) != 1 {
			t.Errorf("stride %d: %v", stride, err)
		}
	}
	demand.Write(t, file, `[{"figure": "fig01", "panel": "c", "seeds": [0], "stride": 2}]`)
	_, err = ReadSizes(file, panelOf)
	demand.Error(t, err, "sizes.json: fig01, panel c: every 2nd step meets the stream unevenly", "[1 5 7 11]")
}
