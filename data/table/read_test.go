package table_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"tvps/ci/demand"
	"tvps/data/table"
)

// read reads a table from a text.
func read(t testing.TB, content string, o table.Options) *table.Data {
	t.Helper()
	tab, err := table.Read("x.csv", strings.NewReader(content), int64(len(content)), o)
	demand.NoError(t, err)
	return tab
}

// encoded are the features of all rows, the encoder fitted on all.
func encoded(t testing.TB, tab *table.Data, columns ...string) []float32 {
	t.Helper()
	if columns == nil {
		var err error
		if columns, err = tab.Features(); err != nil {
			t.Fatal(err)
		}
	}
	e, err := tab.Fit(columns, nil)
	demand.NoError(t, err)
	x, err := e.Encode(tab, nil)
	demand.NoError(t, err)
	return x
}

// TestCSV: delimiters, encodings, quotes and ends of lines are found, and give the same values.
func TestCSV(t *testing.T) {
	want := "name,n,city\nx,1.5,Zürich\ny,2,\"Bern, CH\"\nx,-3e2,\"a \"\"b\"\"\"\n"
	with := func(delim string) string {
		return strings.ReplaceAll(want, ",", delim)
	}
	latin := func(text string) string {
		var b []byte
		for _, r := range text {
			b = append(b, byte(r))
		}
		return string(b)
	}
	big := func(text string) string {
		b := []byte{0xFE, 0xFF}
		for _, r := range text {
			b = append(b, byte(r>>8), byte(r))
		}
		return string(b)
	}
	for _, test := range []struct{ name, content, format string }{
		{"comma", want, "CSV, delimiter ,"},
		{"semicolon", with(";"), "CSV, delimiter ;"},
		{"tab", with("\t"), "CSV, delimiter tab"},
		{"bar", with("|"), "CSV, delimiter |"},
		{"byte order mark", "\xEF\xBB\xBF" + want, "CSV, delimiter ,, UTF-8 with a byte order mark"},
		{"UTF-16", utf16le(want), "CSV, delimiter ,, UTF-16"},
		{"UTF-16, high byte first", big(want), "CSV, delimiter ,, UTF-16"},
		{"Windows-1252", latin(want), "CSV, delimiter ,, Windows-1252"},
		{"carriage returns and newlines", strings.ReplaceAll(want, "\n", "\r\n"), "CSV, delimiter ,"},
		{"two carriage returns and newlines", strings.ReplaceAll(want, "\n", "\r\r\n"), "CSV, delimiter ,"},
		{"carriage returns", strings.ReplaceAll(want, "\n", "\r"), "CSV, delimiter ,"},
		{"no last newline", strings.TrimSuffix(want, "\n"), "CSV, delimiter ,"},
		{"blank lines", strings.ReplaceAll(want, "\n", "\n\n"), "CSV, delimiter ,"},
		{"spaces", strings.ReplaceAll(want, ",", " , ")[:len("name , n , city")] + want[len("name,n,city"):],
			"CSV, delimiter ,"},
		{"all in quotes",
			"\"name\",\"n\",\"city\"\n\"x\",\"1.5\",\"Zürich\"\n\"y\", \"2\",\"Bern, CH\"\n\"x\",\"-3e2\",\"a \"\"b\"\"\"\n",
			"CSV, delimiter ,"},
		{"Excel's sep", "sep=;\n" + with(";"), "CSV, delimiter ;"},
		{"gzip", zipped(want), "CSV, delimiter ,, gzip"},
		{"zstd", zstded(want), "CSV, delimiter ,, zstd"},
	} {
		t.Run(test.name, func(t *testing.T) {
			tab := read(t, test.content, table.Options{})
			s := tab.Schema()
			demand.Equal(t, s.Format, test.format, "format")
			if (len(s.Notes) > 0) != (test.name == "Windows-1252") {
				t.Errorf("notes %q", s.Notes)
			}
			columns, err := tab.Columns(nil, nil)
			demand.NoError(t, err)
			values := []any{columns[0].Values, columns[1].Values, columns[2].Values}
			city := "Bern, CH"
			for _, delim := range []string{";", "\t", "|"} {
				if strings.Contains(test.content, "Bern"+delim) {
					city = "Bern" + delim + " CH"
				}
			}
			want := []any{[]string{"x", "y", "x"}, []float64{1.5, 2, -300}, []string{"Zürich", city, `a "b"`}}
			if !reflect.DeepEqual(values, want) {
				t.Errorf("%q, want %q", values, want)
			}
		})
	}
}

// TestDates: times in usual formats are found, and binned.
func TestDates(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip(err)
	}
	kolkata, err := time.LoadLocation("Asia/Kolkata")
	demand.NoError(t, err)
	newfoundland, err := time.LoadLocation("America/St_Johns")
	demand.NoError(t, err)
	for _, test := range []struct {
		first, second string
		layout        string
		location      *time.Location
		bin           table.Bin
		names         string
		values        [2]float64
	}{
		{"2024-01-02", "2024-01-10", "", nil, table.Bin{}, "2024-01-02 2024-01-10", [2]float64{19724, 19732}},
		{"2024-01-02", "2024-01-10", "", nil, table.Bin{Unit: "week"}, "2024-W01 2024-W02", [2]float64{2818, 2819}},
		{"2023-12-31", "2024-01-01", "", nil, table.Bin{Unit: "week"}, "2023-W52 2024-W01", [2]float64{2817, 2818}},
		{"2024-01-02", "2024-03-10", "", nil, table.Bin{Unit: "month"}, "2024-01 2024-03", [2]float64{648, 650}},
		{"2024-01-02", "2024-04-10", "", nil, table.Bin{Unit: "quarter"}, "2024-Q1 2024-Q2", [2]float64{216, 217}},
		{"1969-01-02", "2024-04-10", "", nil, table.Bin{Unit: "year"}, "1969 2024", [2]float64{-1, 54}},
		{"1969-12-02", "1969-11-10", "", nil, table.Bin{Unit: "month"}, "1969-11 1969-12", [2]float64{-2, -1}},
		{"2024-01-02T03:04:05Z", "2024-01-02T03:04:06+01:00", "", nil, table.Bin{Unit: "hour"},
			"2024-01-02 02:00 2024-01-02 03:00", [2]float64{473378, 473379}},
		{"2024-01-02 03:04", "2024-01-02 04:04:05.25", "", nil, table.Bin{Unit: "hour"},
			"2024-01-02 03:00 2024-01-02 04:00", [2]float64{473379, 473380}},
		{"2024-01-02 10:59", "2024-01-02 11:00", "", kolkata, table.Bin{Unit: "hour"},
			"2024-01-02 10:00 2024-01-02 11:00", [2]float64{473381, 473382}},
		{"2024-07-02 10:59", "2024-07-02 11:00", "", newfoundland, table.Bin{Unit: "hour"},
			"2024-07-02 10:00 2024-07-02 11:00", [2]float64{477756, 477757}},
		{"2024-01-02T23:30:00Z", "2024-01-02T00:00:00Z", "%Y-%m-%dT%H:%M:%SZ", berlin, table.Bin{Unit: "day"},
			"2024-01-02 2024-01-03", [2]float64{19724, 19725}},
		{"2024-01-02T23:30:00Z", "2024-01-02T00:00:00Z", "", berlin, table.Bin{Unit: "day"}, "2024-01-02 2024-01-03",
			[2]float64{19724, 19725}},
		{"02.01.2006", "1.2.2006", "", nil, table.Bin{Unit: "month"}, "2006-01 2006-02", [2]float64{432, 433}},
		{"01/02/2006", "13/03/2006", "", nil, table.Bin{Unit: "month"}, "2006-02 2006-03", [2]float64{433, 434}},
		{"01/02/2006", "03/13/2006", "", nil, table.Bin{Unit: "month"}, "2006-01 2006-03", [2]float64{432, 434}},
		{"01/02/2006", "03/04/2006", "%m/%d/%Y", nil, table.Bin{Unit: "month"}, "2006-01 2006-03", [2]float64{432, 434}},
		{"01/02/2006", "03/04/2006", "02/01/2006", nil, table.Bin{Unit: "month"}, "2006-02 2006-04", [2]float64{433, 435}},
		{"2006-01", "2006-05", "", nil, table.Bin{Unit: "month"}, "2006-01 2006-05", [2]float64{432, 436}},
		{"2006-W05", "2006-W06", "", nil, table.Bin{Unit: "week"}, "2006-W05 2006-W06", [2]float64{1883, 1884}},
		{"1136214245000", "1138892645000", "unixms", nil, table.Bin{Unit: "month"}, "2006-01 2006-02", [2]float64{432, 433}},
		{"3", "7.5", "", nil, table.Bin{}, "3 7.5", [2]float64{3, 7.5}},
	} {
		o := table.Options{Location: test.location}
		if test.layout != "" {
			o.Layouts = map[string]string{"t": test.layout}
		}
		tab := read(t, fmt.Sprintf("t;x\n%s;1\n%s;2\n", test.first, test.second), o)
		got, err := tab.Times("t", test.bin)
		if err != nil {
			t.Errorf("%s, %s: %v", test.first, test.second, err)
			continue
		}
		if names := strings.Join(got.Names, " "); names != test.names || [2]float64(got.Values) != test.values {
			t.Errorf("%s, %s in bins of %s: %s %v, want %s %v", test.first, test.second, test.bin, names, got.Values,
				test.names, test.values)
		}
		for i, name := range got.Names {
			if at, err := got.At(name); err != nil || at != i {
				t.Errorf("time %s is number %d (%v), want %d", name, at, err, i)
			}
		}
	}
}

// TestBeyond: a month has rows after a day in it, but not after its last row.
func TestBeyond(t *testing.T) {
	tab := read(t, "t,x\n2024-01-15,1\n2024-02-15,2\n2024-06-01,3\n", table.Options{})
	months, err := tab.Times("t", table.Bin{Unit: "month"})
	demand.NoError(t, err)
	for text, want := range map[string]bool{"2024-02": false, "2024-02-10": true, "2024-02-15": false,
		"2024-02-29": false} {
		demand.Equal(t, months.Beyond(text, 1), want, "rows of the month after %s", text)
	}
}

// TestAt: a time is found by any text that means it; a day, week, month, quarter or year means the last time that ends
// in it.
func TestAt(t *testing.T) {
	in := func(bin table.Bin, rows ...string) *table.Times {
		times, err := read(t, "t,x\n"+strings.Join(rows, ",1\n")+",2\n", table.Options{}).Times("t", bin)
		demand.NoError(t, err)
		return times
	}
	year := []string{"2024-05-06", "2024-05-12", "2024-12-29", "2024-12-30", "2025-01-05"}
	layout := table.Options{Layouts: map[string]string{"t": "%Y-%m-%d %H"}}
	bare, _ := read(t, "t,x\n2024-02-10 00,1\n2024-02-10 01,2\n", layout).Times("t", table.Bin{})
	hours := []string{"2024-02-09 12:00", "2024-02-10 00:00", "2024-02-10 23:30", "2024-02-11 00:00"}
	tab := read(t, "t,x\n2024-01-15,1\n2024-02-15,2\n2024-06-01,3\n", table.Options{})
	months, _ := tab.Times("t", table.Bin{Unit: "month"})
	blocks, _ := tab.Times("t", table.Bin{Rows: 2})
	days, _ := read(t, "t,x\n2024-01-31,1\n2024-02-01,2\n2024-02-28,3\n2024-03-01,4\n", table.Options{}).Times("t", table.Bin{})
	numbers := func(rows ...string) *table.Times {
		times, err := read(t, columnOf(rows...), table.Options{}).Usable("v", "").Times("v", table.Bin{})
		demand.NoError(t, err)
		return times
	}
	for _, test := range []struct {
		times *table.Times
		text  string
		want  int
		err   string
	}{
		{months, "2024-02", 1, ""}, {months, "2024-02-29", 1, ""}, {months, "2024-06-01 12:00", 2, ""},
		{months, "2024-03", 0, `no time ends in "2024-03" or contains it; the nearest: 2024-02 and 2024-06`},
		{months, "soon", 0, `"soon" is not a time; times are written as 2024-06`},
		{months, "", 0, "is not a time"},
		{months, "2024", 2, ""}, {days, "2024-02", 2, ""}, {days, "2024-02-01", 1, ""}, {days, "2024", 3, ""},
		{in(table.Bin{}, hours...), "2024-02-10 07:00", 0, `no row has time "2024-02-10 07:00"; the nearest: `},
		{days, "2024-04", 0, `no time ends in "2024-04"`},
		{blocks, "block 2", 1, ""}, {blocks, "2024-03-01", 0, ""}, {blocks, "2025", 1, ""},
		{bare, "2024-02-10 00", 0, ""}, {bare, "2024-02-10", 1, ""},
		{blocks, "2024", 1, ""}, {blocks, "2024-02", 0, ""},
		{blocks, "2024-01", 0, `no time ends in "2024-01" or contains it; the nearest: block 1 (from 2024-01-15)`},
		{in(table.Bin{Rows: 3}, year...), "2024", 0, ""}, {in(table.Bin{Rows: 3}, year...), "2025", 1, ""},
		{in(table.Bin{Unit: "week"}, year...), "2024", 1, ""}, {in(table.Bin{Unit: "week"}, year...), "2025", 2, ""},
		{in(table.Bin{Unit: "month"}, year...), "2024-Q2", 0, ""}, {in(table.Bin{Unit: "month"}, year...), "2024Q4", 1, ""},
		{in(table.Bin{Unit: "day"}, year...), "2024-W19", 1, ""}, {in(table.Bin{Unit: "day"}, year...), "Dec 2024", 3, ""},
		{in(table.Bin{Unit: "quarter"}, year...), "2024-05", 0, ""}, {in(table.Bin{Unit: "year"}, year...), "2024-05", 0, ""},
		{in(table.Bin{Unit: "hour"}, hours...), "2024-02-10", 2, ""}, {in(table.Bin{}, hours...), "2024-02-10", 2, ""},
		{in(table.Bin{}, hours...), "2024-02-10 00:00", 1, ""}, {in(table.Bin{Unit: "hour"}, hours...), "2024-W06", 3, ""},
		{blocks, "2023-03-01", 0, `no time ends in "2023-03-01" or contains it; the nearest: block 1 (from 2024-01-15)`},
		{in(table.Bin{Unit: "week"}, "2024-01-23", "2024-01-31", "2024-03-01"), "2024-02", 0,
			`2024-W05 ends in "2024-02", but has no row in it; the nearest: 2024-W05 and 2024-W09`},
		{in(table.Bin{Unit: "week"}, "2024-01-23", "2024-01-31", "2024-02-01"), "2024-02", 1, ""},
		{days, "Q1 2024", 3, ""},
		{days, "02/2024", 0, "times are written as 2024-03-01, 2024-02-10, 2024-02-10 14:30, 2024-W06"},
		{numbers("202401", "202402", "202403"), "202402", 1, ""}, {numbers("202401", "202402"), "2024-02", 1, ""},
		{numbers("202405", "202406", "202452"), "202406", 1, ""}, {numbers("20240209", "20240210"), "20240210", 1, ""},
		{numbers("1704067200", "1704153600"), "1704153600", 1, ""},
	} {
		at, err := test.times.At(test.text)
		if test.err != "" {
			checkSentence(t, err, test.err)
		} else if at != test.want || err != nil {
			t.Errorf("%q is time %d (%v), want %d", test.text, at, err, test.want)
		}
	}
}

// TestBlocks: blocks have equal numbers of rows in time order, and equal times are in one block.
func TestBlocks(t *testing.T) {
	tab := read(t, "t,x\n5,1\n1,1\n2,1\n2,1\n2,1\n3,1\n4,1\n", table.Options{})
	for _, test := range []struct {
		column string
		bin    table.Bin
		index  []int32
		counts []int
	}{
		{"t", table.Bin{Rows: 2}, []int32{2, 0, 0, 0, 0, 1, 1}, []int{4, 2, 1}},
		{"t", table.Bin{Rows: 3}, []int32{2, 0, 0, 0, 0, 1, 1}, []int{4, 2, 1}},
		{"t", table.Bin{Blocks: 2}, []int32{1, 0, 0, 0, 0, 1, 1}, []int{4, 3}},
		{"", table.Bin{Rows: 3}, []int32{0, 0, 0, 1, 1, 1, 2}, []int{3, 3, 1}},
		{"", table.Bin{Blocks: 3}, []int32{0, 0, 1, 1, 2, 2, 2}, []int{2, 2, 3}},
		{"t", table.Bin{Blocks: 8}, []int32{4, 0, 1, 1, 1, 2, 3}, []int{1, 3, 1, 1, 1}},
		{"t", table.Bin{Blocks: math.MaxInt}, []int32{4, 0, 1, 1, 1, 2, 3}, []int{1, 3, 1, 1, 1}},
	} {
		got, err := tab.Times(test.column, test.bin)
		demand.NoError(t, err)
		if !slices.Equal(got.Index, test.index) || !slices.Equal(got.Counts, test.counts) {
			t.Errorf("%q in %s: %v %v, want %v %v", test.column, test.bin, got.Index, got.Counts, test.index, test.counts)
		}
		demand.Equal(t, len(got.Rows(1, len(got.Counts))), 7-test.counts[0], "rows from time 1 on")
	}
	for _, text := range []string{"none", "week", "365 rows", "20 blocks"} {
		if bin, err := table.ParseBin(text); err != nil || bin.String() != text {
			t.Errorf("%q is parsed as %s (%v)", text, bin, err)
		}
	}
	for _, text := range []string{"weeks", "0 rows", "-1 rows", "7", "rows"} {
		_, err := table.ParseBin(text)
		checkSentence(t, err, "is not none, one of hour")
	}
}

// TestLabel: classes have names, and numbers are classes only if they are few and whole.
func TestLabel(t *testing.T) {
	tab := read(t, "c,b,few,real,p\nx,true,10,.5,1\nz,false,9,1.5,2\nx,true,10,2.5,3\n", table.Options{})
	for _, test := range []struct {
		column string
		kind   table.LabelKind
		names  []string
		class  []int32
		target []float64
	}{
		{"c", "", []string{"x", "z"}, []int32{0, 1, 0}, nil},
		{"b", "", []string{"false", "true"}, []int32{1, 0, 1}, nil},
		{"few", "", []string{"9", "10"}, []int32{1, 0, 1}, nil},
		{"few", table.Regression, nil, nil, []float64{10, 9, 10}},
		{"real", "", nil, nil, []float64{.5, 1.5, 2.5}},
		{"real", table.Classes, []string{"0.5", "1.5", "2.5"}, []int32{0, 1, 2}, nil},
	} {
		l, err := tab.Label(test.column, test.kind)
		demand.NoError(t, err)
		if !slices.Equal(l.Names, test.names) || !slices.Equal(l.Class, test.class) || !slices.Equal(l.Target, test.target) {
			t.Errorf("label %s: %v %v %v, want %v %v %v", test.column, l.Names, l.Class, l.Target, test.names, test.class,
				test.target)
		}
	}
}

// TestEncoder: the features by hand, from rows 1 to 4 alone.
func TestEncoder(t *testing.T) {
	tab := read(t, `n,c,b,k,m
1,x,true,7,1
3,y,false,7,
,x,,7,3
2,,true,7,5
100,new,true,8,
`, table.Options{})
	columns, err := tab.Features()
	demand.NoError(t, err)
	e, err := tab.Fit(columns, []int{0, 1, 2, 3})
	demand.NoError(t, err)
	names := []string{"n", "n (missing)", "c=x", "c=y", "c (missing)", "b", "b (missing)", "k", "m", "m (missing)"}
	if got := e.Names(); !slices.Equal(got, names) || e.Dim() != len(names) || len(e.Of()) != len(names) {
		t.Errorf("features %v, want %v", got, names)
	}
	x, err := e.Encode(tab, nil)
	demand.NoError(t, err)
	a, m, b := float32(math.Sqrt(1.5)), float32(math.Sqrt(8./3)), float32(2./3)
	far := float32((100 - 2) / math.Sqrt(2./3))
	want := []float32{
		-a, 0, 1, 0, 0, 1, 0, 0, -2 / m, 0,
		a, 0, 0, 1, 0, 0, 0, 0, 0, 1,
		0, 1, 1, 0, 0, b, 1, 0, 0, 0,
		0, 0, 0, 0, 1, 1, 0, 0, 2 / m, 0,
		far, 0, 0, 0, 0, 1, 0, 0, 0, 1,
	}
	for i := range want {
		if math.Abs(float64(x[i]-want[i])) > 1e-5 {
			t.Errorf("row %d, feature %s: %g, want %g", i/len(names), names[i%len(names)], x[i], want[i])
		}
	}
	text, err := json.Marshal(e)
	demand.NoError(t, err)
	var stored table.Encoder
	demand.NoError(t, json.Unmarshal(text, &stored))
	again, err := stored.Encode(tab, nil)
	if err != nil || !slices.Equal(again, x) {
		t.Errorf("a stored encoder gives %v (%v)", again, err)
	}
	other := read(t, "b,m,k,n,c\nfalse,3,7,2,y\nfalse,3,7,2,zzz\n", table.Options{})
	x, err = stored.Encode(other, []int{1, 0})
	if want := []float32{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0}; err != nil || !slices.Equal(x,
		want) {
		t.Errorf("another table gives %v (%v), want %v", x, err, want)
	}
	_, err = stored.Encode(read(t, "b,m,k,n,c\nfalse,3,7,a,y\nfalse,3,7,b,y\n", table.Options{}), nil)
	checkSentence(t, err, `column "n": the column is a category; it was a number when the encoding was fitted`)
	_, err = stored.Encode(read(t, "b,m\nfalse,3\nfalse,4\n", table.Options{}), nil)
	checkSentence(t, err, `there is no column "n"`)
}

// TestHugeValue: next to a huge fill value the others keep their distances.
func TestHugeValue(t *testing.T) {
	tab := read(t, "n\n1\n2\n1e100\n3\n4\n5\n6\n7\n8\n", table.Options{})
	want := []float32{-1, -.75, 1e6, -.5, -.25, 0, .25, .5, .75} // median 5, quartiles 3 and 7
	demand.List(t, encoded(t, tab, "n"), want, "the feature")
}

// TestRareLevels: a category has 32 features, of which the rarest levels share the last.
func TestRareLevels(t *testing.T) {
	var content strings.Builder
	content.WriteString("c,x\n")
	for level := range 40 { // level 39 has most rows
		content.WriteString(strings.Repeat(fmt.Sprintf("L%02d,1\n", level), level+1))
	}
	tab := read(t, content.String(), table.Options{})
	e, err := tab.Fit([]string{"c"}, nil)
	demand.NoError(t, err)
	if names := e.Names(); len(names) != 32 || names[0] != "c=L09" || names[30] != "c=L39" || names[31] != "c (other)" {
		t.Errorf("features %v", names)
	}
	last := tab.Rows() - 1
	x, _ := e.Encode(tab, []int{0, last})
	if x[31] != 1 || x[32+30] != 1 || x[30] != 0 || x[63] != 0 {
		t.Errorf("%v", x)
	}
}

// drifting makes a table of all kinds of columns.
func drifting(rows int) []table.Column {
	rng := rand.New(rand.NewPCG(1, 2))
	day := make([]time.Time, rows)
	number, whole, label := make([]float64, rows), make([]int64, rows), make([]bool, rows)
	city, missing := make([]string, rows), make([]bool, rows)
	for i := range rows {
		day[i] = time.Date(2023, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, i*365/rows)
		number[i] = rng.NormFloat64() + float64(i)/float64(rows)
		whole[i] = rng.Int64N(100)
		city[i] = []string{"Rome", "Paris", "Zürich", "a, \"b\"", "two\nlines"}[rng.IntN(5)]
		label[i] = number[i] > float64(i)/float64(rows)
		if missing[i] = rng.IntN(10) == 0; missing[i] {
			number[i] = math.NaN()
		}
	}
	return []table.Column{{Name: "day", Values: day}, {Name: "number", Values: number}, {Name: "whole", Values: whole},
		{Name: "city", Values: city, Missing: missing}, {Name: "y", Values: label}}
}

// TestSameFeatures: a table as CSV, compressed CSV and Parquet gives the same schema and the same bytes, and what is
// written can be read back.
func TestSameFeatures(t *testing.T) {
	dir := t.TempDir()
	columns := drifting(1000)
	paths := []string{filepath.Join(dir, "x.csv"), filepath.Join(dir, "x.parquet")}
	for _, path := range paths {
		demand.NoError(t, table.Write(path, columns...))
	}
	text := demand.Read(t, paths[0])
	for i, content := range []string{zipped(string(text)), zstded(string(text))} {
		path := filepath.Join(dir, fmt.Sprint("z", i))
		os.WriteFile(path, []byte(content), 0o644)
		paths = append(paths, path)
	}
	var first table.Schema
	var want []float32
	for i, path := range paths {
		tab, err := table.Open(path, table.Options{})
		demand.NoError(t, err)
		s := tab.Schema()
		for k := range s.Columns {
			s.Columns[k].Note = ""
		}
		x := encoded(t, tab, "number", "whole", "city", "y", "day")
		if i == 0 {
			first, want = s, x
		}
		if !reflect.DeepEqual(s.Columns, first.Columns) {
			t.Errorf("%s: schema %v, want %v", path, s.Columns, first.Columns)
		}
		if !slices.Equal(x, want) {
			t.Errorf("%s: other features than CSV", path)
		}
		back, err := tab.Columns(nil, nil)
		demand.NoError(t, err)
		for k, c := range back {
			for row := range tab.Rows() {
				if got, want := word(c, row), word(columns[k], row); got != want {
					t.Fatalf("%s: column %s has %s in row %d, want %s", path, c.Name, got, row, want)
				}
			}
		}
	}
}

// TestOrder: the order of the rows changes no kind, level, time, class, or feature beyond rounding.
func TestOrder(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.csv")
	demand.NoError(t, table.Write(path, drifting(300)...))
	tab, err := table.Open(path, table.Options{})
	demand.NoError(t, err)
	order := rand.New(rand.NewPCG(3, 4)).Perm(300)
	columns, _ := tab.Columns(nil, order)
	demand.NoError(t, table.Write(path, columns...))
	shuffled, err := table.Open(path, table.Options{})
	demand.NoError(t, err)
	if a, b := tab.Schema(), shuffled.Schema(); !reflect.DeepEqual(a, b) {
		t.Errorf("schema %v, of shuffled rows %v", a, b)
	}
	x, y := encoded(t, tab), encoded(t, shuffled)
	dim := len(x) / 300
	for _, bin := range []table.Bin{{}, {Unit: "week"}, {Rows: 40}} {
		a, err := tab.Times("day", bin)
		demand.NoError(t, err)
		b, err := shuffled.Times("day", bin)
		demand.NoError(t, err)
		if !a.Sorted || b.Sorted || !slices.Equal(a.Names, b.Names) || !slices.Equal(a.Counts, b.Counts) {
			t.Errorf("bins of %s depend on the order of the rows", bin)
		}
		for k, i := range order {
			if a.Index[i] != b.Index[k] {
				t.Fatalf("bins of %s: row %d is at time %d, want %d", bin, i, b.Index[k], a.Index[i])
			}
		}
	}
	for k, i := range order {
		for d := range dim {
			if math.Abs(float64(x[i*dim+d]-y[k*dim+d])) > 1e-5 {
				t.Fatalf("row %d, feature %d: %g, want %g", i, d, y[k*dim+d], x[i*dim+d])
			}
		}
	}
}

// TestUnits: a unit of a number, an offset and a factor, changes no feature beyond rounding.
func TestUnits(t *testing.T) {
	var a, b strings.Builder
	a.WriteString("x,y\n")
	b.WriteString("x,y\n")
	for i := range 50 {
		v := math.Sin(float64(i))
		fmt.Fprintf(&a, "%v,1\n", v)
		fmt.Fprintf(&b, "%v,1\n", 1.7e9+86400*v)
	}
	x, y := encoded(t, read(t, a.String(), table.Options{})), encoded(t, read(t, b.String(), table.Options{}))
	for i := range x {
		if math.Abs(float64(x[i]-y[i])) > 1e-6 {
			t.Fatalf("value %d: %g in one unit, %g in another", i, x[i], y[i])
		}
	}
}

// TestSchema: what each column holds, and why it is no number.
func TestSchema(t *testing.T) {
	tab := read(t, "day,n,city,id,empty\n2024-01-01,1,Rome,0007,\n2024-01-02,,Paris,0008,\n", table.Options{})
	want := []table.ColumnSchema{{Name: "day", Kind: table.Time, Note: "year first"},
		{Name: "n", Kind: table.Number, Missing: 1},
		{Name: "city", Kind: table.Category, Levels: []string{"Paris", "Rome"}},
		{Name: "id", Kind: table.Category, Levels: []string{"0007", "0008"}, Note: "numbers with leading zeros"},
		{Name: "empty", Kind: table.Text, Missing: 2, Note: "no values"}}
	if got := tab.Schema(); !reflect.DeepEqual(got.Columns, want) || got.Rows != 2 || got.Format != "CSV, delimiter ," {
		t.Errorf("schema %+v, want %+v", got, want)
	}
}

// TestNumbersOf: numbers of any column: places of levels, days, 0 and 1; NaN is missing.
func TestNumbersOf(t *testing.T) {
	tab := read(t, "n,b,c,t\n2.5,true,x,1970-01-03\n,false,,1970-01-01\n3,,a,1970-01-02\n", table.Options{})
	for name, want := range map[string]string{"n": "[2.5 NaN 3]", "b": "[1 0 NaN]", "c": "[1 NaN 0]", "t": "[2 0 1]"} {
		got, levels, err := tab.Numbers(name, nil)
		if err != nil || fmt.Sprint(got) != want || (name == "c") != (len(levels) == 2) {
			t.Errorf("%s: %v, %v, %v; want %s", name, got, levels, err, want)
		}
	}
	if got, _, err := tab.Numbers("n", []int{2}); err != nil || len(got) != 1 || got[0] != 3 {
		t.Errorf("%v, %v", got, err)
	}
}
