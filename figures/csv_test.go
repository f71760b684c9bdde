package figures

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestCSVRoundTrip(t *testing.T) {
	rows := []Row{
		{"a", "ours", 0, 1, "accuracy", 0.1},
		{"a", "ours", -7, 160, "accuracy", 1.0 / 3},
		{"b", `odd, "name"`, math.MaxInt64, 0, "loss", -1e-300},
	}
	var out bytes.Buffer
	if err := WriteCSV(&out, rows); err != nil {
		t.Fatal(err)
	}
	golden := "panel,series,seed,t,metric,value\na,ours,0,1,accuracy,0.1\n"
	if !strings.HasPrefix(out.String(), golden) {
		t.Errorf("got\n%s\nwant it to begin with\n%s", out.String(), golden)
	}
	back, err := ReadCSV(&out)
	if err != nil || !slices.Equal(back, rows) {
		t.Errorf("read back %v, %v, want %v", back, err, rows)
	}
}

func TestCSVErrorsNameTheLine(t *testing.T) {
	head := "panel,series,seed,t,metric,value\na,ours,0,1,accuracy,0.1\n"
	for name, c := range map[string]struct{ text, want string }{
		"empty":  {"", "line 1"},
		"header": {"panel,series,t,seed,metric,value\n", "line 1"},
		"fields": {head + "a,ours,0,1,accuracy\n", "line 3: 5 fields"},
		"seed":   {head + "a,ours,x,1,accuracy,0\n", `line 3: the seed "x"`},
		"step":   {head + "a,ours,0,1.5,accuracy,0\n", `line 3: the step t "1.5"`},
		"value":  {head + "a,ours,0,1,accuracy,NaN\n", `line 3: the value "NaN"`},
		"quote":  {head + "a,\"ours,0,1,accuracy,0\n", "line 3"},
	} {
		if _, err := ReadCSV(strings.NewReader(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v does not say %q", name, err, c.want)
		}
	}
	err := WriteCSV(&bytes.Buffer{}, []Row{{"b", "ours", 3, 4, "accuracy", math.Inf(1)}})
	if err == nil || !strings.Contains(err.Error(), "panel b, series ours, seed 3, t 4") {
		t.Errorf("an infinite value was written: %v", err)
	}
}
