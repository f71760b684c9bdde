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

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
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
	demand.NoError(t, err)
	return out.Bytes(), done
}

// origin is the text of the columns that differ from call to call.
func origin(t *testing.T, f folder, s runs.Spec) string {
	t.Helper()
	result, err := f.store.Read(s)
	demand.NoError(t, err)
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

// TestFormula: a spreadsheet shows a name from a stranger's folder, and does not run it.
func TestFormula(t *testing.T) {
	f := newFolder(t)
	f.run(spec(`=HYPERLINK("http://a")`, 0), map[int][]runs.Row{1: {{T: 1, Metric: "@SUM(A1)", Value: -1}}})
	got, _ := export(t, f, CSV)
	if want := `"'=HYPERLINK(""http://a"")",0,1,'@SUM(A1),-1,`; !strings.Contains(string(got), want) {
		t.Errorf("got\n%s\nwant %s", got, want)
	}
}

// parquetRows reads a Parquet file: the columns with their types, the rows of each row group, and the values of each
// column, nil for a null.
func parquetRows(t *testing.T, data []byte) (columns []string, groups []int64, values [][]any) {
	t.Helper()
	r, err := file.NewParquetReader(bytes.NewReader(data))
	demand.NoError(t, err)
	for g := range r.NumRowGroups() {
		groups = append(groups, r.RowGroup(g).NumRows())
	}
	for i, column := range r.MetaData().Schema.Columns() {
		columns = append(columns, fmt.Sprintf("%s %s %s", column.Name(), column.PhysicalType(), column.LogicalType()))
		var list []any
		for g, n := range groups {
			c, err := r.RowGroup(g).Column(i)
			demand.NoError(t, err)
			var more []any
			switch c := c.(type) {
			case *file.Int64ColumnChunkReader:
				more = cells(t, n, c.ReadBatch)
			case *file.Float64ColumnChunkReader:
				more = cells(t, n, c.ReadBatch)
			case *file.BooleanColumnChunkReader:
				more = cells(t, n, c.ReadBatch)
			case *file.ByteArrayColumnChunkReader:
				more = cells(t, n, c.ReadBatch)
			}
			list = append(list, more...)
		}
		values = append(values, list)
	}
	return columns, groups, values
}

// cells reads n rows of a column.
func cells[T any](t *testing.T, n int64, read func(int64, []T, []int16, []int16) (int64, int, error)) []any {
	present, levels := make([]T, n), make([]int16, n)
	for i := range levels {
		levels[i] = 1 // stays where a column has no nulls
	}
	if rows, _, err := read(n, present, levels, nil); rows != n || err != nil {
		t.Fatalf("%d rows of %d, %v", rows, n, err)
	}
	list := make([]any, n)
	for i := range list {
		if levels[i] == 1 {
			list[i], present = present[0], present[1:]
		}
	}
	return list
}

// The Parquet file has the columns, types and values of the CSV; unknown texts are null.
func TestParquetEqualsCSV(t *testing.T) {
	f := sample(t)
	data, _ := export(t, f, Parquet)
	text, _ := export(t, f, CSV)
	lines, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	demand.NoError(t, err)
	columns, groups, values := parquetRows(t, data)
	want := "experiment BYTE_ARRAY String|learner BYTE_ARRAY String|seed INT64 None|t INT64 None|metric BYTE_ARRAY String|" +
		"value DOUBLE None|run BYTE_ARRAY String|settings BYTE_ARRAY String|backend BYTE_ARRAY String|" +
		"plugin BYTE_ARRAY String|commit BYTE_ARRAY String|dirty BOOLEAN None|started INT64 Timestamp(isAdjustedToUTC=true, " +
		"timeUnit=microseconds, is_from_converted_type=false, force_set_converted_type=false)|seconds DOUBLE None"
	if got := strings.Join(columns, "|"); got != want {
		t.Errorf("columns\n%s\nwant\n%s", got, want)
	}
	if !slices.Equal(groups, []int64{int64(len(lines) - 1)}) {
		t.Fatalf("row groups of %d rows, want one of %d", groups, len(lines)-1)
	}
	for j, column := range values {
		for i, value := range column {
			got := ""
			switch v := value.(type) {
			case nil:
			case float64:
				got = strconv.FormatFloat(v, 'g', -1, 64)
			case int64:
				if got = strconv.FormatInt(v, 10); lines[0][j] == "started" {
					got = time.UnixMicro(v).UTC().Format("2006-01-02T15:04:05.000000Z07:00")
				}
			case parquet.ByteArray:
				got = string(v)
			default:
				got = fmt.Sprint(v)
			}
			if got != lines[i+1][j] || got == "" && value != nil {
				t.Errorf("row %d, %s: %v in Parquet, %q in CSV", i, lines[0][j], value, lines[i+1][j])
			}
		}
	}
	if again, _ := export(t, f, Parquet); !bytes.Equal(again, data) {
		t.Error("a second file has other bytes")
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
	for len(rows) > 0 { // in parts that do not divide a row group
		n := min(len(rows), 7777)
		demand.NoError(t, table.Write(rows[:n]))
		rows = rows[n:]
	}
	demand.NoError(t, table.Close())
	_, groups, values := parquetRows(t, out.Bytes())
	if !slices.Equal(groups, []int64{rowGroup, 1000}) {
		t.Fatalf("row groups of %d rows", groups)
	}
	for i := range rowGroup + 1000 {
		if values[3][i] != int64(i) || values[5][i] != math.Sqrt(float64(i)) || values[8][i] != nil || values[12][i] != int64(i) {
			t.Fatalf("row %d is not that which was written", i)
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
	demand.NoError(t, err)
	demand.Write(t, filepath.Join(f.store.Dir(), "toy", unfinished.ID()+".partial.jsonl"), fmt.Sprintf("{\"spec\":%s}\n", text))
	before := demand.Files(t, f.store.Dir())
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
	if !maps.Equal(before, demand.Files(t, f.store.Dir())) {
		t.Error("the folder was changed")
	}
}

// failing is a writer that takes some bytes and then fails. It must not be closed.
type failing struct{ left int }

func (b *failing) Close() error { panic("closed") }

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
		if _, err := Export(demand.Cancelled(), f.store, io.Discard, format); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", format, err)
		}
	}
}
