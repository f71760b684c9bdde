package table_test

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/data/table"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// folder writes files, by their paths, to a new folder.
func folder(t *testing.T, files map[string]string) string {
	dir := t.TempDir()
	for name, content := range files {
		demand.Write(t, filepath.Join(dir, name), content)
	}
	return dir
}

// TestParts: a table in several files is that in one file, in features and in all that is known of its columns. What a
// column is depends on all files: a number in all but the last one, days that are clear in the last one alone.
func TestParts(t *testing.T) {
	header := "day,x,city,code\n"
	var rows []string
	for i := range 90 {
		city := []string{"Bern", "Genf", "Zürich"}[i%3]
		if i < 60 {
			city = strings.Replace(city, "ü", "ue", 1) // the last file alone is not ASCII
		}
		rows = append(rows, fmt.Sprintf("%02d/%02d/2024,%d,%s,%d\n", 1+i/4, 1+i%6, i, city, i%7))
	}
	rows[7], rows[85] = "01/02/2024,,Bern,\n", "25/02/2024,1.5,\"Zürich\",N0\n"
	rows[86], rows[87] = "26/02/2024,1.5,Genf,N0\n", "26/02/2024,,Genf,N0\n"
	part := func(from, to int) string { return header + strings.Join(rows[from:to], "") }
	latin := strings.ReplaceAll(part(60, 90), "ü", "\xFC")
	whole := read(t, part(0, 90), table.Options{})
	want, features := whole.Schema(), encoded(t, whole)
	if kinds := []table.Kind{want.Columns[0].Kind, want.Columns[1].Kind}; !slices.Equal(kinds, []table.Kind{table.Time, table.Number}) {
		t.Fatalf("the columns are %v", kinds)
	}
	dir := folder(t, map[string]string{"b.csv.gz": zipped(part(25, 60)), "a.csv": "A title\n\n" + part(0, 25), "c/d.csv": latin,
		"_SUCCESS": "", ".a.csv.crc": "crc", "_old/a.csv": "other\n1\n"})
	for _, path := range []string{dir, dir + "/", folder(t, map[string]string{"1.csv": zstded(part(0, 60)), "2.csv": latin}) + "/?.c*v"} {
		tab, err := table.Open(path, table.Options{})
		demand.NoError(t, err)
		got := tab.Schema()
		if !reflect.DeepEqual(got.Columns, want.Columns) || got.Rows != want.Rows {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
		if !slices.Equal(encoded(t, tab), features) {
			t.Errorf("%s: other features", path)
		}
		notes := strings.Join(got.Notes, "\n")
		if !strings.Contains(notes, "csv: the file is not UTF-8") || strings.Count(notes, "Windows-1252") != 1 {
			t.Errorf("notes: %s", notes)
		}
	}
}

// TestFolders: the names of folders are columns, of integers, dates or texts as PyArrow and DuckDB have them, for CSV
// and for Parquet. The types of a column in the files may differ.
func TestFolders(t *testing.T) {
	ints, floats := cells{name: "x", values: []int64{1, 2}}, cells{name: "x", values: []float64{2.5, 4}}
	texts := cells{name: "x", logical: schema.StringLogicalType{}, values: byteArrays[parquet.ByteArray]("2.5", "4")}
	for name, part := range map[string][]string{
		"x.csv":     {"x\n1\n2\n", "x\n2.5\n4\n"},
		"x.parquet": {parquetOf(t, []cells{ints}), parquetOf(t, []cells{floats})},
		"y.parquet": {parquetOf(t, []cells{ints}), parquetOf(t, []cells{texts})},
	} {
		dir := folder(t, map[string]string{"year=2024/month=03/day=2024-03-01/city=St.%20Gallen/" + name: part[0],
			"year=2024/month=11/day=2024-11-01/city=NA/" + name:                         part[1],
			"year=2024/month=12/day=2024-12-01/city=__HIVE_DEFAULT_PARTITION__/" + name: part[0]})
		for _, path := range []string{dir, dir + "/year=*/mon*", dir + "/./year=*/*/*/*/*.*"} {
			tab, err := table.Open(path, table.Options{})
			demand.NoError(t, err)
			columns, err := tab.Columns([]string{"x", "year", "month", "day", "city"}, nil)
			demand.NoError(t, err)
			got := ""
			for _, c := range columns {
				for i := range tab.Rows() {
					got += word(c, i) + " "
				}
			}
			want := "1 2 2.5 4 1 2 2024 2024 2024 2024 2024 2024 3 3 11 11 12 12 2024-03-01 2024-03-01 2024-11-01 2024-11-01 " +
				"2024-12-01 2024-12-01 St. Gallen St. Gallen missing missing missing missing "
			demand.Equal(t, got, want, "%s", path)
		}
	}
}

// TestMistakesInParts: an error names the file, and the row and line in it.
func TestMistakesInParts(t *testing.T) {
	day := func(values string) string { return "day,x\n" + values }
	moments := func(zoned bool) string {
		return parquetOf(t, []cells{{name: "t", logical: schema.NewTimestampLogicalType(zoned, schema.TimeUnitMicros),
			values: []int64{0, 1}}})
	}
	zonedTexts := parquetOf(t, []cells{{name: "t", logical: schema.StringLogicalType{},
		values: byteArrays[parquet.ByteArray]("2024-01-01T10:00:00Z", "2024-01-01T10:00:00Z")}})
	for _, test := range []struct {
		want  string
		files map[string]string
	}{
		{`b.csv: there is no column "x", which a.csv has`, map[string]string{"a.csv": day("1,1\n"), "b.csv": "day,y\n1,1\n"}},
		{`b.csv: column "y" is not in a.csv`, map[string]string{"a.csv": day("1,1\n"), "b.csv": "day,x,y\n1,1,1\n"}},
		{`b.csv: column 1 is "x", but in a.csv it is "day"`, map[string]string{"a.csv": day("1,1\n"), "b.csv": "x,day\n1,1\n"}},
		{`b.csv: there is no column "k", which k=1/a.csv has`, map[string]string{"k=1/a.csv": day("1,1\n"), "l/b.csv": day("1,1\n")}},
		{`b.csv, row 2 (line 3), column "x": "7w" is not a number`,
			map[string]string{"a.csv": day("1,1\n1,2\n1,3\n"), "b.csv": day("2,4\n2,7w\n"), "c.csv": day("3,5\n3,6\n")}},
		{`b.csv, row 1 (line 2): 3 fields, but the header has 2`, map[string]string{"a.csv": day("1,1\n"), "b.csv": day("1,2,3\n")}},
		{`b.csv: the file has no text`, map[string]string{"a.csv": day("1,1\n"), "b.csv": ""}},
		{`b.parquet: is Parquet, but a.csv is CSV`, map[string]string{"a.csv": day("1,1\n"), "b.parquet": numbers(t, nil, nil)}},
		{`_delta_log says which files belong to the table`, map[string]string{"a.csv": day("1,1\n2,3\n"), "_delta_log/0.json": "{}"}},
		{`b.parquet, row 1, column "t": "1970-01-01T00:00:00Z" is a time with a zone, unlike those before`,
			map[string]string{"a.parquet": moments(false), "b.parquet": moments(true)}},
		{`b.parquet, row 1, column "t": "1970-01-01T00:00:00" is a time without a zone, unlike those before`,
			map[string]string{"a.parquet": zonedTexts, "b.parquet": moments(false)}},
		{`the table has 1 row`, map[string]string{"a.csv": day("1,1\n"), "b.csv": day("")}},
	} {
		dir := folder(t, test.files)
		_, err := table.Open(dir, table.Options{})
		if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), dir+"/", ""), test.want) {
			t.Errorf("%v, want %s", err, test.want)
		}
	}
	for path, want := range map[string]string{"no*.csv": "no file matches the pattern", "**/x.csv": "** is no pattern"} {
		_, err := table.Open(filepath.Join(t.TempDir(), path), table.Options{})
		checkSentence(t, err, want)
	}
	dir := folder(t, map[string]string{"a.csv": day("2024-01-01,1\n2024-01-02,1\n"), "b.csv": day("2024-01-03,2\n,3\n")})
	tab, err := table.Open(dir, table.Options{})
	demand.NoError(t, err)
	_, err = tab.Times("day", table.Bin{})
	checkSentence(t, err, `b.csv, row 2 (line 3), column "day"`)
}
