package claims

import (
	"reflect"
	"testing"

	"tvps/replicate/runs"
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
