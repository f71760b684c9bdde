package figures

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
)

func TestCSVRoundTrip(t *testing.T) {
	rows := []Row{
		{"a", "ours", 0, 1, "accuracy", 0.1},
		{"a", "ours", -7, 160, "accuracy", 1.0 / 3},
		{"b", `odd, "name"`, math.MaxInt64, 0, "loss", -1e-300},
	}
	var out bytes.Buffer
	demand.NoError(t, WriteCSV(&out, rows))
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
	for text, want := range map[string]string{
		"":                                   "line 1",
		"panel,series,t,seed,metric,value\n": "line 1",
		head + "a,ours,0,1,accuracy\n":       "line 3: 5 fields",
		head + "a,ours,x,1,accuracy,0\n":     `line 3: the seed "x"`,
		head + "a,ours,0,1.5,accuracy,0\n":   `line 3: the step t "1.5"`,
		head + "a,ours,0,1,accuracy,NaN\n":   `line 3: the value "NaN" is not a finite number`,
		head + "a,\"ours,0,1,accuracy,0\n":   "line 3",
	} {
		_, err := ReadCSV(strings.NewReader(text))
		demand.Error(t, err, want)
	}
	err := WriteCSV(&bytes.Buffer{}, []Row{{"b", "ours", 3, 4, "accuracy", math.Inf(1)}})
	demand.Error(t, err, "panel b, series ours, seed 3, t 4")
}
