package export

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tvps/ci/demand"
	"tvps/replicate/runs"

	"github.com/parquet-go/parquet-go"
)

// sample is a folder with values, names and settings that are difficult to write and read.
func sample(t *testing.T) folder {
	f := newFolder(t)
	f.run(spec("ours", 10, "name", "a,\"b\"\n<é>"), map[int][]runs.Row{
		3: {{T: 3, Metric: "accuracy", Value: 1.0 / 3}, {T: 3, Metric: "loss, \"é\"", Value: math.SmallestNonzeroFloat64}},
		1: {{T: 1, Metric: "accuracy", Value: math.Copysign(0, -1)}, {T: 1, Metric: "loss, \"é\"", Value: math.MaxFloat64}},
		2: nil,
	})
	f.run(spec("ours", 1, "plugin", "0.81"), values(.5))
	f.run(spec("everything", 2), values(-1e-7, 12345678901234567))
	return f
}

func export(t *testing.T, f folder, format string) ([]byte, Exported) {
	t.Helper()
	var out bytes.Buffer
	done, err := Export(t.Context(), f.store, &out, format)
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), done
}

// origin is the text of the columns that differ from call to call.
func origin(t *testing.T, f folder, s runs.Spec) string {
	t.Helper()
	result, err := f.store.Read(s)
	if err != nil {
		t.Fatal(err)
	}
	start := result.Provenance.Start.UTC()
	return fmt.Sprintf("%s.%06dZ,%s", start.Format("2006-01-02T15:04:05"), start.Nanosecond()/1000,
		strconv.FormatFloat(result.Provenance.Seconds, 'g', -1, 64))
}

func TestCSV(t *testing.T) {
	f := sample(t)
	got, done := export(t, f, CSV)
	everything, ours1, ours10 := spec("everything", 2), spec("ours", 1, "plugin", "0.81"),
		spec("ours", 10, "name", "a,\"b\"\n<é>")
	settings := `"{""backend"":""go"",""epochs"":""20"",""plugin"":"""",""protocol"":""1""}"`
	settings1 := strings.Replace(settings, `""plugin"":""""`, `""plugin"":""0.81""`, 1)
	settings10 := strings.Replace(settings, `""plugin""`, `""name"":""a,\""b\""\n\u003cé\u003e"",""plugin""`, 1)
	line := func(s runs.Spec, measured, settings, origins string) string {
		return measured + "," + s.ID() + "," + settings + ",go," + origins + "," + origin(t, f, s) + "\n"
	}
	want := "experiment,learner,seed,t,metric,value,run,settings,backend,plugin,commit,dirty,started,seconds\n" +
		line(everything, "toy,everything,2,1,accuracy,-1e-07", settings, ",,false") +
		line(everything, "toy,everything,2,2,accuracy,1.2345678901234568e+16", settings, ",,false") +
		line(ours1, "toy,ours,1,1,accuracy,0.5", settings1, "0.81,c0ffee,true") +
		line(ours10, "toy,ours,10,1,accuracy,-0", settings10, ",c0ffee,false") +
		line(ours10, `toy,ours,10,1,"loss, ""é""",1.7976931348623157e+308`, settings10, ",c0ffee,false") +
		line(ours10, "toy,ours,10,3,accuracy,0.3333333333333333", settings10, ",c0ffee,false") +
		line(ours10, `toy,ours,10,3,"loss, ""é""",5e-324`, settings10, ",c0ffee,false")
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if done.Runs != 3 || done.Rows != 7 || done.Unfinished != 0 || done.Problems != nil {
		t.Errorf("exported %+v", done)
	}
}

// The Parquet file has the columns, types and values of the CSV; unknown texts are null.
func TestParquetEqualsCSV(t *testing.T) {
	f := sample(t)
	data, _ := export(t, f, Parquet)
	text, _ := export(t, f, CSV)
	lines, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	file, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, column := range file.Root().Columns() {
		names = append(names, column.Name()+" "+column.Type().String())
	}
	want := "experiment STRING|learner STRING|seed INT(64,true)|t INT(64,true)|metric STRING|value DOUBLE|run STRING|settings STRING|" +
		"backend STRING|plugin STRING|commit STRING|dirty BOOLEAN|started TIMESTAMP(isAdjustedToUTC=true,unit=MICROS)|seconds DOUBLE"
	if got := strings.Join(names, "|"); got != want {
		t.Errorf("columns\n%s\nwant\n%s", got, want)
	}
	rows := make([]parquet.Row, len(lines))
	n, err := parquet.NewReader(file).ReadRows(rows)
	if n != len(lines)-1 || err != nil && err != io.EOF {
		t.Fatalf("%d rows of %d, %v", n, len(lines)-1, err)
	}
	for i, row := range rows[:n] {
		for j, value := range row {
			got := value.String()
			switch name := lines[0][j]; {
			case value.IsNull():
				got = ""
			case name == "value" || name == "seconds":
				got = strconv.FormatFloat(value.Double(), 'g', -1, 64)
			case name == "started":
				got = time.UnixMicro(value.Int64()).UTC().Format("2006-01-02T15:04:05.000000Z07:00")
			}
			if got != lines[i+1][j] {
				t.Errorf("row %d, %s: %q in Parquet, %q in CSV", i, lines[0][j], got, lines[i+1][j])
			}
			if got == "" && !value.IsNull() {
				t.Errorf("row %d: an unknown %s is not null", i, lines[0][j])
			}
		}
	}
}

func TestExportTwiceGivesTheSameBytes(t *testing.T) {
	f := sample(t)
	for _, format := range Formats {
		first, _ := export(t, f, format)
		if second, _ := export(t, f, format); !bytes.Equal(first, second) {
			t.Errorf("%s differs from call to call", format)
		}
	}
}

// A table of more rows than a writer holds in memory has several row groups.
func TestParquetRowGroups(t *testing.T) {
	var out bytes.Buffer
	table := newTable(&out, Parquet)
	row := func(i int) measurement {
		return measurement{Experiment: "toy", T: int64(i), Metric: []string{"a", "b"}[i/1000%2],
			Value: math.Sqrt(float64(i)), Run: fmt.Sprint(i / 50000), Started: time.UnixMicro(int64(i)).UTC()}
	}
	const n = rowGroup + 1000
	for i := 0; i < n; i += 100 {
		var rows []measurement
		for k := range min(100, n-i) {
			rows = append(rows, row(i+k))
		}
		if _, err := table.Write(rows); err != nil {
			t.Fatal(err)
		}
	}
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := parquet.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil || len(file.RowGroups()) != 2 {
		t.Fatalf("%d row groups, %v", len(file.RowGroups()), err)
	}
	rows, err := parquet.Read[measurement](bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil || len(rows) != n {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for i, got := range rows {
		if got != row(i) {
			t.Fatalf("row %d is %+v", i, got)
		}
	}
}

// Damaged files are named and left in place, all others are exported, and unfinished runs are counted.
func TestExportOfDamagedFolder(t *testing.T) {
	f := sample(t)
	head, tail := spec("recent", 0), spec("recent", 1)
	f.run(head, values(1, 2))
	f.run(tail, values(1, 2))
	whole, _ := export(t, f, CSV)
	f.damage(head, false)
	f.damage(tail, true)
	unfinished := spec("exact", 0)
	text, err := json.Marshal(unfinished)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(f.store.Dir(), "toy", unfinished.ID()+".partial.jsonl"),
		fmt.Appendf(nil, "{\"spec\":%s}\n", text), 0o644); err != nil {
		t.Fatal(err)
	}
	before := f.files()
	table, done := export(t, f, CSV)
	if want := strings.Join(slices.DeleteFunc(strings.SplitAfter(string(whole), "\n"),
		func(line string) bool { return strings.HasPrefix(line, "toy,recent,") }), ""); string(table) != want {
		t.Errorf("got\n%s\nwant\n%s", table, want)
	}
	if done.Runs != 3 || done.Unfinished != 1 || len(done.Problems) != 2 {
		t.Errorf("exported %+v", done)
	}
	named := fmt.Sprint(done.Problems)
	if !strings.Contains(named, f.path(head)+" is damaged") || !strings.Contains(named, f.path(tail)+" is damaged") {
		t.Errorf("problems %s", named)
	}
	if after := f.files(); fmt.Sprint(before) != fmt.Sprint(after) {
		t.Error("the folder was changed")
	}
}

// failing is a writer that takes some bytes and then fails.
type failing struct{ left int }

func (b *failing) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, errors.New("disk full")
	}
	return len(p), nil
}

func TestExportFails(t *testing.T) {
	f := sample(t)
	for _, format := range Formats {
		data, _ := export(t, f, format)
		for _, left := range []int{0, 3, len(data) - 1} {
			_, err := Export(t.Context(), f.store, &failing{left}, format)
			demand.Error(t, err, "disk full")
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := Export(ctx, f.store, io.Discard, format); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", format, err)
		}
	}
}
