package claims

import (
	"reflect"
	"testing"

	"tvps/replicate/paper"
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

// TestNarrow: a part is judged by the narrow sample that has all of its series, others by what is drawn, each at the
// level of its looks.
func TestNarrow(t *testing.T) {
	panel := func(narrow bool, looks int, series ...string) Collected {
		return Collected{Panel: Panel{Panel: paper.Panel{Key: "a", Series: series}, Protocol: &supervised.Protocol,
			Narrow: narrow, Looks: looks}}
	}
	e := newEvidence([]Collected{panel(false, 2, "everything", "ours", "recent"), panel(true, 3, "ours", "everything")})
	for _, c := range []struct {
		series, base string
		looks        int
	}{{"ours", "everything", 3}, {"everything", "", 3}, {"ours", "recent", 2}, {"exact", "ours", 1}} {
		if _, level := e.of(paper.Part{Panel: "a", Series: c.series, Base: c.base}); level != lookLevel(c.looks) {
			t.Errorf("%s and %s are judged at %v, want that of look %d", c.series, c.base, level, c.looks)
		}
	}
}
