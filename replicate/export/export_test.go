package export

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
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

// A table of more rows than a writer holds in memory has several row groups.
func TestParquetRowGroups(t *testing.T) {
	var out bytes.Buffer
	table := newTable(&out, Parquet)
	rows := make([]measurement, rowGroup+1000)
	for i := range rows {
		rows[i] = measurement{T: int64(i), Value: math.Sqrt(float64(i)), Started: time.UnixMicro(int64(i)).UTC()}
	}
	if _, err := table.Write(rows); err != nil || table.Close() != nil {
		t.Fatal(err)
	}
	data := bytes.NewReader(out.Bytes())
	file, err := parquet.OpenFile(data, data.Size())
	if err != nil || len(file.RowGroups()) != 2 {
		t.Fatalf("%d row groups, %v", len(file.RowGroups()), err)
	}
	if got, err := parquet.Read[measurement](data, data.Size()); err != nil || !slices.Equal(got, rows) {
		t.Fatalf("%d rows are not those that were written, %v", len(got), err)
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
	demand.Write(t, filepath.Join(f.store.Dir(), "toy", unfinished.ID()+".partial.jsonl"), fmt.Sprintf("{\"spec\":%s}\n", text))
	before := f.files()
	table, done := export(t, f, CSV)
	if again, _ := export(t, f, CSV); !bytes.Equal(again, table) {
		t.Error("it differs from call to call")
	}
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
	if !maps.Equal(before, f.files()) {
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
