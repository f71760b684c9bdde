package ci

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/figures"
)

var rules = []Tolerance{{Figure: "fig01", Panel: "a", Metric: "accuracy", Mean: .02, Value: .1}}

// row returns a measurement of Ours in panel a.
func row(seed int64, t int, value float64) figures.Row {
	return figures.Row{Panel: "a", Series: "ours", Seed: seed, T: t, Metric: "accuracy", Value: value}
}

func TestCompare(t *testing.T) {
	golden := []figures.Row{row(0, 1, .3), row(0, 2, .5), row(1, 1, .7), row(1, 2, .9)}
	changed := func(change func([]figures.Row) []figures.Row) []figures.Row { return change(slices.Clone(golden)) }
	set := func(i int, value float64) func([]figures.Row) []figures.Row {
		return func(rows []figures.Row) []figures.Row { rows[i].Value = value; return rows }
	}
	other := golden[0]
	other.Panel = "b"
	for _, c := range []struct {
		name        string
		golden, got []figures.Row
		want        []string // of each violation what, and mean, or seed and t
	}{
		{"equal", golden, golden, nil},
		{"another order", golden, []figures.Row{golden[3], golden[1], golden[0], golden[2]}, nil},
		{"no rows", nil, nil, nil},
		{"within", golden, changed(set(0, .35)), nil},
		{"a value at its tolerance", golden[:1], []figures.Row{row(0, 1, .32)}, nil},
		{"a single value off, the mean not", golden, changed(func(rows []figures.Row) []figures.Row {
			rows[0].Value, rows[1].Value = .41, .4
			return rows
		}), []string{"off 0 1"}},
		{"a mean off, the values not", golden, changed(func(rows []figures.Row) []figures.Row {
			for i := range rows {
				rows[i].Value += .03
			}
			return rows
		}), []string{"off mean"}},
		{"a mean at its tolerance", golden, changed(func(rows []figures.Row) []figures.Row {
			for i := range rows {
				rows[i].Value -= .02
			}
			return rows
		}), nil},
		{"NaN", golden, changed(set(3, math.NaN())), []string{"off mean", "off 1 2"}},
		{"infinite", golden, changed(set(3, math.Inf(1))), []string{"off mean", "off 1 2"}},
		{"NaN in the golden", changed(set(3, math.NaN())), golden, []string{"off mean", "off 1 2"}},
		{"missing row", golden, golden[:3], []string{"missing 1 2"}},
		{"missing series", golden, nil, []string{"missing 0 1", "missing 0 2", "missing 1 1", "missing 1 2"}},
		{"extra row", golden[:3], golden, []string{"extra 1 2"}},
		{"a row twice", golden, append(slices.Clone(golden), golden[0]), []string{"twice 0 1"}},
		{"a panel without tolerance", []figures.Row{other}, []figures.Row{other}, []string{"no tolerance mean"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			violations := Compare("fig01", c.golden, c.got, rules)
			var got []string
			for _, v := range violations {
				of := v.Of
				if of == "value" {
					of = fmt.Sprint(v.At.seed, " ", v.At.t)
				}
				got = append(got, v.What+" "+of)
			}
			if !slices.Equal(got, c.want) {
				t.Fatalf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestParseTolerances(t *testing.T) {
	const same = `{"figure":"f","panel":"a","metric":"m","mean":1,"value":1}`
	for text, want := range map[string]string{
		`{}`: "not a list",
		`[{"figure":"fig01","panel":"a","metric":"accuracy","mean":0.1}]`:                  "all must be positive",
		`[{"figure":"fig01","panel":"a","metric":"accuracy","mean":1,"value":1,"rms":-1}]`: "1, 1 and -1",
		"[" + same + "," + strings.Replace(same, "1", "2", 1) + "]":                        "two tolerances",
	} {
		_, err := ParseTolerances([]byte(text))
		demand.Error(t, err, want)
	}
	if _, err := ParseTolerances(tolerances); err != nil {
		t.Error(err)
	}
}

// TestToleranceOfASeries: the entry of a series comes before that of all series, wherever it stands.
func TestToleranceOfASeries(t *testing.T) {
	all := Tolerance{Figure: "fig01", Panel: "a", Metric: "accuracy", Mean: .02, Value: .1}
	own := Tolerance{Figure: "fig01", Panel: "a", Metric: "accuracy", Series: "ours", Mean: .5, Value: .5}
	golden := []figures.Row{{Panel: "a", Series: "ours", Metric: "accuracy", Value: .5}, {Panel: "a", Series: "recent", Metric: "accuracy", Value: .5}}
	have := []figures.Row{{Panel: "a", Series: "ours", Metric: "accuracy", Value: .9}, {Panel: "a", Series: "recent", Metric: "accuracy", Value: .9}}
	for _, list := range [][]Tolerance{{all, own}, {own, all}} {
		found := Compare("fig01", golden, have, list)
		if len(found) != 2 || found[0].At.series.series != "recent" || found[1].At.series.series != "recent" {
			t.Errorf("%+v", found)
		}
	}
}

// TestRMS: differences that cancel in the mean, each within its tolerance, are found by their root mean square.
func TestRMS(t *testing.T) {
	golden := []figures.Row{row(0, 1, .3), row(0, 2, .5), row(1, 1, .7), row(1, 2, .9)}
	have := slices.Clone(golden)
	for i := range have {
		have[i].Value += []float64{.03, -.03, .05, -.05}[i]
	}
	rms := math.Sqrt((2*.03*.03 + 2*.05*.05) / 4)
	for tolerance, want := range map[float64]int{0: 0, rms - .001: 1, rms + .001: 0} {
		rule := rules[0]
		rule.RMS = tolerance
		found := Compare("fig01", golden, have, []Tolerance{rule})
		if len(found) != want || want == 1 && (found[0].Of != "rms" || math.Abs(found[0].Value-rms) > 1e-12) {
			t.Errorf("with a tolerance of %.4f: %+v", tolerance, found)
		}
	}
}
