package table_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tvps/data/table"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// hostile is a file that cannot be read as asked, and what its sentence must contain.
type hostile struct {
	name    string
	content string
	options table.Options
	ask     func(*table.Data) error // nil: Open must fail
	want    string
}

func zipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(text))
	w.Close()
	return b.String()
}

func zstded(text string) string {
	w, _ := zstd.NewWriter(nil)
	return string(w.EncodeAll([]byte(text), nil))
}

func utf16le(text string) string {
	b := []byte{0xFF, 0xFE}
	for _, r := range text {
		b = binary.LittleEndian.AppendUint16(b, uint16(r))
	}
	return string(b)
}

func times(column string, bin table.Bin) func(*table.Data) error {
	return func(t *table.Data) error {
		_, err := t.Times(column, bin)
		return err
	}
}

func label(column string, kind table.LabelKind) func(*table.Data) error {
	return func(t *table.Data) error {
		_, err := t.Label(column, kind)
		return err
	}
}

func features(columns ...string) func(*table.Data) error {
	return func(t *table.Data) error {
		_, err := t.Fit(columns, nil)
		return err
	}
}

func hostileFiles(t testing.TB) []hostile {
	week, month := table.Bin{Unit: "week"}, table.Bin{Unit: "month"}
	good := numbers(t, []float64{1, 3, 5}, []int64{2, 4, 6})
	footer := int(binary.LittleEndian.Uint32([]byte(good[len(good)-8:])))
	wide := strings.TrimSuffix(strings.Repeat("x,", 10_001), ",")
	var names []string
	for i := range 10_001 {
		names = append(names, fmt.Sprint("c", i))
	}
	limited := func(change func(l *table.Limits)) table.Options { return table.Limited(table.Options{}, change) }
	small := limited(func(l *table.Limits) { l.Free, l.Ratio = 1000, 2 })
	kinds := func(name string, kind table.Kind) table.Options {
		return table.Options{Kinds: map[string]table.Kind{name: kind}}
	}
	texts := func(values ...string) string {
		return parquetOf(t, []cells{{name: "a", logical: schema.StringLogicalType{},
			values: byteArrays[parquet.ByteArray](values...)}})
	}
	layout := func(name, text string) table.Options {
		return table.Options{Layouts: map[string]string{name: text}}
	}
	return []hostile{
		{"empty", "", table.Options{}, nil, "no text"},
		{"only a newline", "\n", table.Options{}, nil, "no text"},
		{"only a byte order mark", "\xEF\xBB\xBF", table.Options{}, nil, "no text"},
		{"only a header", "a,b\n", table.Options{}, nil, "the table has 0 rows"},
		{"one row", "a,b\n1,2\n", table.Options{}, nil, "the table has 1 row;"},
		{"too many fields", "a,b\n1,2\n1,2,3\n4,5\n", table.Options{}, nil,
			"row 2 (line 3): 3 fields, but the header has 2"},
		{"mixed types", "a,b\n1,2\n3,x\n5,6\n7,8\n", table.Options{}, nil,
			`row 2 (line 3), column "b": "x" is not a number, as 3 of 3 other values are`},
		{"mixed types after a long field", "n,a\n\"x\ny\",1\nz,2\nz,hello\nz,2\n", table.Options{}, nil,
			`row 3 (line 5), column "a"`},
		{"infinity", "a,b\n1,2\n3,-inf\n5,6\n", table.Options{}, nil, `column "b": "-inf" is not a finite`},
		{"overflow", "a,b\n1,2\n3,1e999\n5,6\n", table.Options{}, nil, `"1e999" is too large: numbers up to 1e+100 are read`},
		{"square overflows", "a,b\n1,2\n3,-1e300\n5,6\n", table.Options{}, nil,
			`"-1e300" is too large: numbers up to 1e+100 are read; leave it empty if the value is missing, or give --missing -1e300`},
		{"open quote", "a,b\n1,\"2\n3,4\n5,6\n", table.Options{}, nil,
			`row 1 (line 2), column "b": extraneous or missing " in quoted-field (byte 5 of line 4); a quote inside quotes is written ""`},
		{"text after a quote", "a,b\n1,2\n1,\"2\"x\n3,4\n", table.Options{}, nil,
			`row 2 (line 3), column "b": extraneous or missing " in quoted-field (byte 5 of line 3)`},
		{"a stray quote and a delimiter", "a,b,c\n1,2,3\n5,$78.07\"Throw Pillow, Plaid\",6\n", table.Options{}, nil,
			`row 2 (line 3): 4 fields, but the header has 3`},
		{"a stray quote, and one after quotes", "a,b\n1,3\"\n\"x\"y,2\n", table.Options{}, nil,
			`row 2 (line 3), column "a": extraneous or missing " in quoted-field`},
		{"raw quotes", "a\tb\n1\t\"x\" y\n3\tz\n", table.Options{}, nil, "give --quote none if quotes are part of the text"},
		{"units below the header", "day,x,y\nd,kg,m\n2024-01-01,2,1\n2024-01-02,4,2\n2024-01-03,4,2\n",
			table.Options{}, nil, "row 1 (line 2), column \"day\": \"d\" is not a date"},
		{"numbers that may be names", "place,2019,2020\nx,1,2\ny,3,4\n", table.Options{}, nil, "line 1: the first line may have the names"},
		{"numbers in a row that may be names", "0,1,2\n3,1,2\n4,3,4\n", table.Options{}, nil, "give --no-header if it is a row"},
		{"a header with decimal commas below", "foo\n12,5\n145,00\n5.25\n", table.Options{}, nil,
			"line 1: the line is neither the header of the rows below it nor like them; give --no-header if it is a row, or --skip 1"},
		{"a row with few texts and no header", "1,a,,,\n2,b,,,\n3,c,4,5,6\n4,d,5,6,7\n", table.Options{}, nil, "line 2: the line is neither"},
		{"title or header of texts alone", "Parts,,\na,b,c\nd,e,f\ng,h,i\n", table.Options{}, nil, "or --skip 1 if it is a title"},
		{"a number in a first line above texts", "3;a\n'4';b\n'5';c\n", table.Options{}, nil,
			"line 1: the first line may have the names of the columns, or a row, as it has a number; give --no-header"},
		{"a table below another one", "x,y,,,\n1,2,,,\n3,4,,,\n\na,b,c,d,e\n1,2,3,4,5\n6,7,8,9,0\n2,3,4,5,6\n7,8,9,0,1\n", table.Options{},
			nil, "line 5: the table seems to begin here, but 3 lines above may be of another one; give --skip 4"},
		{"comments behind fields", "# made\na;b#12;#\n1;3#5;7\n6;7\n", table.Options{}, nil, "line 2: the header has a # inside"},
		{"the header again", "a,b\n1,x\na,b\n3,y\n", table.Options{}, nil, "row 2 (line 3): the row repeats the header; take it out"},
		{"Shift-JIS", "n,v\n\x96\xBC,1\n\x8D\x82,2\n", table.Options{}, nil, "line 3: a byte that neither UTF-8 nor Windows-1252 has"},
		{"units in all columns of numbers", "x,y\n(m),(m)\n2,1\n4,2\n4,2\n4,2\n", table.Options{}, nil, `row 1 (line 2), column "x": "(m)" is`},
		{"comment of two fields", "a,b,c\n1,2,x\n# made today, here\n3,4,y\n", table.Options{}, nil, "give --comment '#'"},
		{"comment or row", "a,b\n#1,2\n# made today\n3,4\n", table.Options{}, nil, "line 2: the row begins with #, as line 3 does"},
		{"one decimal comma", "a;b\n1,5;1\n2;2\n3;3\n", table.Options{}, nil, `column "a": "1,5" seems to have a decimal comma`},
		{"decimal comma or not", "a;b\n1,5;1.234\n2,5;3\n", table.Options{}, nil, `column "a": "1,5" seems to have a decimal comma`},
		{"skip too much", "a,b\n1,2\n3,4\n", table.Options{Skip: 4}, nil, "fewer than 5 lines; skip fewer"},
		{"sign of comments", "a,b\n1,2\n3,4\n", table.Options{Comment: '"'}, nil, "the delimiter and the sign of comments must differ"},
		{"sign of comments is the delimiter", "a;b\n1;2\n", table.Options{Comment: ';', Delim: ';'}, nil,
			"the delimiter and the sign of comments must differ"},
		{"values behind the last name", "a,b\n1,2,\n3,4,5\n", table.Options{}, nil,
			"row 2 (line 3): 3 fields, but the header has 2; quote fields that contain the delimiter ,"},
		{"NUL byte", "a,b\n1,2\n3,\x00\n", table.Options{}, nil, "line 3: a NUL byte"},
		{"NUL byte in quotes", "a,b\n1,2\n3,\"\x00\"\n", table.Options{}, nil, "a NUL byte"},
		{"UTF-16 without a mark", utf16le("a,b\n1,2\n")[2:], table.Options{}, nil, "a NUL byte"},
		{"UTF-32", "\xFF\xFE\x00\x00a\x00\x00\x00", table.Options{}, nil, "UTF-32"},
		{"10,001 duplicate columns", wide + "\n", table.Options{}, nil, "10001 columns; at most 10000"},
		{"10,001 columns", strings.Join(names, ",") + "\n", table.Options{}, nil, "10001 columns; at most 10000"},
		{"quote without an end", "a,b\n1,2\n\"" + strings.Repeat("3,4\n", 3<<20), table.Options{}, nil,
			"row 2: a row is longer than 8388608 bytes; check the ends of lines and the quotes"},
		{"no ends of lines", "a,b\n" + strings.Repeat("1,", 5<<20), table.Options{}, nil, "row 1: a row is longer than 8388608 bytes"},
		{"too many cells", "a,b\n1,2\n3,4\n5,6\n", limited(func(l *table.Limits) { l.Cells = 5 }), nil, "more than 2 rows"},
		{"kind does not fit", "a,b\n1,x\n2,y\n", kinds("b", table.Number), nil, `"x" is not a number`},
		{"kind boolean does not fit", "a,b\n1,2\n2,1\n", kinds("b", table.Boolean), nil, `row 1 (line 2), column "b": "2"`},
		{"kind time does not fit", "a,b\n1,2\n2,1\n", kinds("b", table.Time), nil, `"2" is not a date or time`},
		{"kind unknown", "a,b\n1,2\n2,1\n", kinds("b", "factor"), nil, `"factor" is not one of`},
		{"kind of no column", "a,b\n1,2\n2,1\n", kinds("c", table.Number), nil, `no column "c"`},
		{"drop of no column", "a,b\n1,2\n2,1\n", table.Options{Drop: []string{"c"}}, nil, `no column "c"`},
		{"drop of all columns", "a,b\n1,2\n2,1\n", table.Options{Drop: []string{"a", "b"}}, nil, "no column is left"},
		{"delimiter", "a,b\n1,2\n2,1\n", table.Options{Delim: '"'}, nil, "the delimiter and the sign of comments must differ"},
		{"layout without a year", "a,b\n1,2\n2,1\n", layout("a", "%H:%M"), nil, "has no year"},
		{"layout unknown", "a,b\n1,2\n2,1\n", layout("a", "%Q"), nil, "not one of strftime's"},
		{"layout does not fit", "a,b\n2024-01-02,2\n2,1\n", layout("a", "%Y-%m-%d"), nil, `row 2 (line 3), column "a": "2"`},
		{"a day that does not exist", "a,b\n2024-01-02,2\n2023-02-29,1\n2023-03-01,1\n", table.Options{}, nil,
			`row 2 (line 3), column "a": "2023-02-29" is not a date or time as the others are written (year first); ` +
				`mend it, take out the row, or`},
		{"orders of day and month", "a,b\n13/01/2024,2\n01/13/2024,1\n", table.Options{}, nil,
			"not a date or time as the others are written (day first)"},
		{"time zones", "a,b\n2024-01-02T10:00:00Z,2\n2024-01-02 11:00,1\n", table.Options{}, nil, "without a zone"},
		{"dates that are ambiguous", "a,b\n01/02/2024,2\n03/04/2024,1\n", table.Options{}, times("a", week),
			"day and month cannot be told apart"},
		{"dates with zones that are ambiguous", "a,b\n01/02/2024 1:00Z,2\n03/04/2024 1:00Z,1\n", table.Options{},
			times("a", week), `row 1 (line 2), column "a": day and month cannot be told apart, as in "01/02/2024 1:00Z"`},
		{"one time", "a,b\n2024-01-02,2\n2024-01-02,1\n", table.Options{}, times("a", table.Bin{}),
			"all rows have one time, 2024-01-02"},
		{"one bin", "a,b\n2024-01-02,2\n2024-01-30,1\n", table.Options{}, times("a", month), "2024-01 in bins of month"},
		{"one block", "a,b\n1,2\n2,1\n", table.Options{}, times("", table.Bin{Rows: 9}), "all rows have one time"},
		{"time of no column", "a,b\n1,2\n2,1\n", table.Options{}, times("c", week), `no column "c"; the columns are a, b`},
		{"time is text", "a,b\nx,2\ny,1\n", table.Options{}, times("a", week), "is a category, not a time"},
		{"bins of numbers", "a,b\n1,2\n2,1\n", table.Options{}, times("a", week), "a bin of week needs dates"},
		{"bins of years", "a,b\n2019,2\n2020,1\n", table.Options{}, times("a", week), "--layout a=%Y that they are years"},
		{"bin unknown", "a,b\n1,2\n2,1\n", table.Options{}, times("a", table.Bin{Unit: "era"}), "is not a unit of time"},
		{"bin of less than nothing", "a,b\n1,2\n2,1\n", table.Options{}, times("a", table.Bin{Rows: -2}),
			"a bin of -2 rows or 0 blocks"},
		{"times of no rows", "a,b\n", table.Options{AnyRows: true}, times("a", table.Bin{}), "the table has no rows"},
		{"kind of label unknown", "a,b\n1,2\n2,1\n", table.Options{}, label("b", "numbr"), `the label's kind is "numbr"`},
		{"decimal mark", "a,b\n1,2\n2,1\n", table.Options{Decimal: 'x'}, nil, "the decimal mark is 'x'; it must be '.' or ','"},
		{"lines skipped", "a,b\n1,2\n2,1\n", table.Options{Skip: -3}, nil, "-3 lines above the header"},
		{"bins of nothing", "a,b\n1,2\n2,1\n", table.Options{}, times("", table.Bin{}), "there is no time column"},
		{"missing time", "a,b\n2024-01-02,2\n,1\n2024-01-03,1\n", table.Options{}, times("a", week),
			`row 2 (line 3), column "a": the time is missing`},
		{"constant label", "a,b\n1,x\n2,x\n", table.Options{}, label("b", ""), `the label is "x" in all rows`},
		{"constant number as label", "a,b\n1,3\n2,3\n", table.Options{}, label("b", ""), `the label is "3" in all rows`},
		{"no label at all", "a,b\n1,\n2,\n", table.Options{}, label("b", ""), `"b": the label is missing in all rows`},
		{"no time at all", "a,b\n,1\n,2\n", table.Options{}, times("a", week), `"a": the time is missing in all rows`},
		{"label is a time", "a,b\n1,2024-01-02\n2,2024-01-03\n", table.Options{}, label("b", ""), "the label is a time"},
		{"label is a category", "a,b\n1,x\n2,y\n", table.Options{}, label("b", table.Regression), "not a number"},
		{"label of no column", "a,b\n1,2\n2,1\n", table.Options{}, label("c", ""), `no column "c"`},
		{"feature without values", "a,b\n1,\n2,\n", table.Options{}, features("b"), "is text, which is not kept"},
		{"truncated gzip", zipped("a,b\n" + strings.Repeat("1,2\n", 1000))[:30], table.Options{}, nil,
			"damaged or truncated"},
		{"half a header of gzip", "\x1F\x8B", table.Options{}, nil, "damaged or truncated: gzip: "},
		{"truncated zstd", zstded("a,b\n" + strings.Repeat("1,2\n", 1000))[:20], table.Options{}, nil,
			"damaged or truncated"},
		{"gzip of gzip", zipped(zipped("a,b\n1,2\n3,4\n")), table.Options{}, nil, "NUL byte"},
		{"gzip of Parquet", zipped(good), table.Options{}, nil, "NUL byte"},
		{"gzip of nothing", zipped(""), table.Options{}, nil, "no text"},
		{"zip", "PK\x03\x04........", table.Options{}, nil, "zip archive or a spreadsheet"},
		{"JSON, a list", `[{"a":1,"b":2},{"a":3,"b":4}]`, table.Options{}, nil, "the file is JSON"},
		{"JSON, a list in lines", "[\n  {\n    \"a\": 1\n  }\n]\n", table.Options{}, nil, "the file is JSON"},
		{"JSON lines", "{\"a\":1,\"b\":2}\n{\"a\":3,\"b\":4}\n", table.Options{}, nil, "the file is JSON"},
		{"Arrow", "ARROW1\x00\x00", table.Options{}, nil, "Arrow file"},
		{"bzip2", "BZh91AY", table.Options{}, nil, "bzip2"},
		{"Parquet, only its magic", "PAR1", table.Options{}, nil, "file too small (size=4)"},
		{"Parquet, truncated", good[:len(good)/2], table.Options{}, nil, "smaller than indicated metadata size"},
		{"Parquet, last byte missing", good[:len(good)-1], table.Options{}, nil, "smaller than indicated metadata size"},
		{"Parquet, data missing", good[:4] + good[len(good)-8-footer:], table.Options{}, nil, "damaged"},
		{"Parquet, footer of 4 GiB", good[:len(good)-8] + "\xFF\xFF\xFF\xFFPAR1", table.Options{}, nil,
			"smaller than indicated metadata size"},
		{"Parquet, footer of zeros", "PAR1" + strings.Repeat("\x00", 100) + "\x64\x00\x00\x00PAR1", table.Options{}, nil,
			"could not read footer"},
		{"Parquet, a list of 2^31 elements", "PAR1\x15\x02\x19\xFC\xFF\xFF\xFF\xFF\x07\x09\x00\x00\x00PAR1",
			table.Options{}, nil,
			"could not read footer"},
		{"Parquet, encrypted", "PARE\x00\x00\x00\x00\x00\x00\x00\x00PARE", table.Options{}, nil, "encrypted"},
		{"Parquet, one row", numbers(t, []float64{1}, []int64{2}), table.Options{}, nil, "the table has 1 row;"},
		{"Parquet, no rows", numbers(t, []float64{}, []int64{}), table.Options{}, nil, "the table has 0 rows"},
		{"Parquet, infinity", numbers(t, []float64{1, math.Inf(-1)}, []int64{2, 4}), table.Options{}, nil,
			`"-Inf" is not a finite`},
		{"Parquet, mixed types", texts("1", "2", "x", "3", "4"), table.Options{}, nil, `row 3, column "a": "x" is not a number`},
		{"Parquet, run lengths", numbers(t, make([]float64, 100_000), make([]int64, 100_000)), small, nil,
			"too many for its size"},
		{"Parquet, cells", numbers(t, make([]float64, 1000), make([]int64, 1000)),
			limited(func(l *table.Limits) { l.Cells = 100 }), nil, "rows of 2 columns"},
	}
}

// checkSentence fails unless err is an *Error of one printable sentence.
func checkSentence(t *testing.T, err error, want string) {
	t.Helper()
	var e *table.Error
	switch {
	case err == nil:
		t.Fatal("no error")
	case !errors.As(err, &e):
		t.Fatalf("%v is of type %T", err, err)
	case !strings.Contains(err.Error(), want):
		t.Errorf("the sentence is %q, without %q", err, want)
	case strings.ContainsAny(err.Error(), "\n\r\x00") || len(err.Error()) > 400 || strings.HasSuffix(err.Error(), "."):
		t.Errorf("not one sentence: %q", err)
	}
}

// TestHostileFiles: every file gives one sentence that says where and what, and never a panic.
func TestHostileFiles(t *testing.T) {
	files := hostileFiles(t)
	if len(files) < 60 {
		t.Errorf("%d files", len(files))
	}
	for _, h := range files {
		t.Run(h.name, func(t *testing.T) {
			tab, err := table.Read("x.csv", strings.NewReader(h.content), int64(len(h.content)), h.options)
			if err == nil && h.ask != nil {
				err = h.ask(tab)
			} else if h.ask != nil {
				t.Fatalf("the table was not read: %v", err)
			}
			checkSentence(t, err, h.want)
			if testing.Verbose() {
				t.Log(err)
			}
		})
	}
}

// TestNoFile: what is not a file is an *Error, too.
func TestNoFile(t *testing.T) {
	_, err := table.Open(filepath.Join(t.TempDir(), "none.csv"), table.Options{})
	checkSentence(t, err, "cannot be opened: no such file")
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v does not wrap fs.ErrNotExist", err)
	}
	_, err = table.Open(t.TempDir(), table.Options{})
	checkSentence(t, err, "there is no file, apart from those whose names begin with . or _")
	_, err = table.Open("two\nlines.csv", table.Options{})
	checkSentence(t, err, `"two\nlines.csv": cannot be opened: no such file`)
}

// TestNothingWritten: a column that cannot be written leaves the file that was there, and no other.
func TestNothingWritten(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.parquet")
	os.WriteFile(path, []byte("before"), 0o644)
	for _, columns := range [][]table.Column{
		{}, {{Name: "a", Values: []uint8{1}}}, {{Name: "", Values: []int{1}}},
		{{Name: "a", Values: []int{1}}, {Name: "b", Values: []int{1, 2}}},
		{{Name: "a", Values: []int{1}}, {Name: "a", Values: []int{1}}},
		{{Name: "a", Values: []int{1}, Missing: []bool{}}},
	} {
		if err := table.Write(path, columns...); err == nil {
			t.Errorf("%v was written", columns)
		}
	}
	entries, _ := os.ReadDir(dir)
	if text, _ := os.ReadFile(path); string(text) != "before" || len(entries) != 1 {
		t.Errorf("the file has %q, and the folder %d files", text, len(entries))
	}
}
