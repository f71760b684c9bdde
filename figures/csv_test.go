package figures

import (
	"bytes"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
)

// FuzzReadCSV: what is refused is an error of one sentence that names the line; rows that are read are finite, and the
// same after they were written and read again. Memory is bounded by the size of the text.
func FuzzReadCSV(f *testing.F) {
	header := strings.Join(csvHeader, ",") + "\n"
	for _, rows := range []string{"a,ours,0,5,accuracy,0.5\n", "a,\"x,\"\"y\",-1,0,m,1e-320\n", "a,b,0,0,m,NaN\n",
		"a,b,x,0,m,1\n", "b,ours,9223372036854775807,160,m,0.3333333333333333\n", "a,b,0,9223372036854775808,m,1\n", "a,b,0\n", "\"a\nb\",c,0,1,m,-0\n", "\"a", "a\"b,c,0,1,m,2\n",
		"a\r\nb,c\r\n", "a,b,0,0,m,0x1p-3\r\n", "\"a\r\r\nb\",c,0,1,m,2\n", "\n\n"} {
		f.Add([]byte(header + rows))
	}
	f.Add([]byte("panel,series\n"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, text []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		rows, err := ReadCSV(bytes.NewReader(text))
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > uint64(100*len(text)+1<<20) {
			t.Errorf("%d bytes took %d bytes of memory", len(text), took)
		}
		if err != nil {
			if !strings.Contains(err.Error(), "line ") || strings.Contains(err.Error(), "\n") {
				t.Errorf("the error %q names no line, or has several", err)
			}
			return
		}
		if bytes.Contains(text, []byte("\r")) {
			return // CSV does not keep it
		}
		var written bytes.Buffer
		if err := WriteCSV(&written, rows); err != nil {
			t.Fatalf("%v cannot be written: %v", rows, err)
		}
		if again, err := ReadCSV(&written); err != nil || !slices.Equal(again, rows) {
			t.Errorf("%+v was read as %+v, %v", rows, again, err)
		}
	})
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
