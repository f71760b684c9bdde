package table_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/parquet/schema"

	"tvps/ci/demand"
	"tvps/data/table"
)

// TestOrdinaryFiles: files as people and programs write them have the values that pandas and DuckDB read, and a note
// says what was done.
func TestOrdinaryFiles(t *testing.T) {
	quarter := "n\n" + strings.Repeat("7\n", 12) + strings.Repeat("NMAA\n", 4)
	for _, test := range []struct {
		name, content string
		options       table.Options
		want, note    string // columns with their values, and a part of the notes; without notes if it is empty
	}{
		{"no header", "1,2.5\n3,4\n5,6\n", table.Options{}, "c1 [1 3 5] c2 [2.5 4 6]", "the file has no header: line 1 has values"},
		{"no header, texts and dates", "x,2024-01-01,3\ny,2024-01-02,4\n", table.Options{},
			"c1 [x y] c2 [2024-01-01 2024-01-02] c3 [3 4]", "no header"},
		{"no header, as told", "a,b\nc,d\n", table.Options{NoHeader: true}, "c1 [a c] c2 [b d]", "no header"},
		{"no header, numbers in a row", "0,1,2\n3,4,5\n", table.Options{NoHeader: true}, "c1 [0 3] c2 [1 4] c3 [2 5]", "no header"},
		{"a header of texts alone", "a,b\nc,d\ne,f\n", table.Options{}, "a [c e] b [d f]", ""},
		{"a header of dates", "place,Jan-2018,Feb-2018\nx,1,2\ny,3,4\n", table.Options{}, "place [x y] Jan-2018 [1 3] Feb-2018 [2 4]", ""},
		{"numbers of columns", "(1),(2)\n1,2\n3,4\n", table.Options{}, "(1) [1 3] (2) [2 4]", ""},
		{"names twice", "a,b, a,a\n1,2,3,4\n5,6,7,8\n", table.Options{}, "a [1 5] b [2 6] a.1 [3 7] a.2 [4 8]",
			"columns of the same name are renamed: a to a.1, a to a.2"},
		{"short rows", "a,b,c\n1,2,3\n1,2\n4\n", table.Options{}, "a [1 1 4] b [2 2 -] c [3 - -]",
			"2 rows, the first in line 3, with fewer fields than the header"},
		{"empty fields at the ends of some rows", "a,b\n1,2,\n3,4,,\n5,6\n", table.Options{}, "a [1 3 5] b [2 4 6]",
			"2 rows, the first in line 2, with more fields"},
		{"names of rows, as R writes them", "x;y\n\"p\";1;2\n\"q\";3;4\n", table.Options{}, "column 1 [p q] x [1 3] y [2 4]",
			"as R writes row names"},
		{"title", "Sales report\n\na,b,c\n1,2,x\n3,4,y\n", table.Options{}, "a [1 3] b [2 4] c [x y]",
			"the table begins in line 3; left out: 1 line above it"},
		{"title with commas", "Sales, 2024\na;b;c\n1;2;x\n3;4;y\n", table.Options{}, "a [1 3] b [2 4] c [x y]", "begins in line 2"},
		{"titles of a spreadsheet", "Sales,,\n,,\nday,x,y\n2024-01-01,2,1\n2024-01-02,4,2\n", table.Options{},
			"day [2024-01-01 2024-01-02] x [2 4] y [1 2]", "begins in line 3; left out: 2 lines"},
		{"a comment above", "# made today\na,b,c\n1,2,x\n3,4,y\n", table.Options{}, "a [1 3] b [2 4] c [x y]", "begins in line 2"},
		{"notes below", "day,x,y\n2024-01-01,2,1\n2024-01-02,4,2\n,,\nAll are in kg,,\nmade by hand\n", table.Options{},
			"day [2024-01-01 2024-01-02] x [2 4] y [1 2]", "left out: 3 lines below the table, from line 4 on"},
		{"days without values below", "day,x,y\n2024-01-01,2,1\n2024-01-02,,\n2024-01-03,,\n", table.Options{},
			"day [2024-01-01 2024-01-02 2024-01-03] x [2 - -] y [1 - -]", ""},
		{"a word that recurs among numbers", quarter, table.Options{}, "n [7 7 7 7 7 7 7 7 7 7 7 7 - - - -]",
			`column n: "NMAA" among numbers, 4 of 16 values, are missing; if they are levels, give --type n=category`},
		{"a word that recurs among prices", "n\n$7\n$8\nn/k\n$9\n$1\n$2\n$3\nn/k\n", table.Options{}, "n [7 8 - 9 1 2 3 -]",
			`column n: "n/k" among numbers, 2 of 8 values, are missing`},
		{"prices with a decimal comma", "a;b\n1,50 €;x\n2,25 €;y\n3 €;x\n", table.Options{}, "a [1.5 2.25 3] b [x y x]",
			"numbers have a decimal comma, as those of column a"},
		{"words among few numbers", quarter + "gone\n", table.Options{},
			"n [7 7 7 7 7 7 7 7 7 7 7 7 NMAA NMAA NMAA NMAA gone]", `"NMAA", "gone" among numbers, 5 of 17 values, are levels`},
		{"a word that recurs in other columns", "a,b\n1,<5\n2,3\n3,4\n<5,5\n4,6\n", table.Options{}, "a [1 2 3 - 4] b [- 3 4 5 6]",
			`column a: "<5" among numbers, 1 of 5 values, are missing`},
		{"a word among dates", "d,x\n2024-01-01,2\nopen,1\n2024-01-02,1\n2024-01-03,1\nopen,1\n", table.Options{},
			"d [2024-01-01 - 2024-01-02 2024-01-03 -] x [2 1 1 1 1]", `"open" among times, 2 of 5 values, are missing`},
		{"quotes inside fields", "a;b\"\n1;5'11\" tall\n2;\"x; \"\"y\"\"\"\n\"3\";\"p\nq\"\n4;{\"k\": \"v, w\"}\n", table.Options{},
			"a [1 2 3 4] b\" [5'11\" tall x; \"y\" p\nq {\"k\": \"v, w\"}]", "3 rows, the first in line 1, with quotes inside a field"},
		{"a quote inside a field above a semicolon's", "a\"\n1\n2\n", table.Options{}, "a\" [1 2]", "the first in line 1"},
		{"comments between rows", "a,b\n1,2\n# made, today\n#3\n5,6\n", table.Options{Comment: '#'}, "a [1 5] b [2 6]", ""},
		{"comments that are found", "a,b,c\n1,2,x\n# made today\n3,4,y\n", table.Options{}, "a [1 3] b [2 4] c [x y]",
			"1 row, the first in line 3, with a # at the beginning and no other field: left out as comments"},
		{"more comments than rows", "# made\n# by hand\na;b\n# in kg\n1;3\n6;7\n# end\n", table.Options{}, "a [1 6] b [3 7]",
			"2 rows, the first in line 4, with a # at the beginning"},
		{"rows with few texts and no header, as told", "1,a,,\n2,b,,\n3,c,4,5\n", table.Options{NoHeader: true},
			"c1 [1 2 3] c2 [a b c] c3 [- - 4] c4 [- - 5]", "line 1 has values"},
		{"title above rows without a header", "Report\n\n1,a\n2,b\n", table.Options{}, "c1 [1 2] c2 [a b]", "line 3 has values"},
		{"decimal comma", "a;b;c\n1,5;1.234,5;7\n2;2,25;-0,5\n", table.Options{}, "a [1.5 2] b [1234.5 2.25] c [7 -0.5]",
			"numbers have a decimal comma, as those of column a; --decimal . changes that"},
		{"title, as told", "Sales, 2024, all\n\na,b\n1,x\n2,y\n", table.Options{Skip: 1}, "a [1 2] b [x y]", ""},
		{"sep= and title, as told", "sep=;\nSales\na;b\n1;x\n2;y\n", table.Options{Skip: 2}, "a [1 2] b [x y]", ""},
		{"comments above and between", "# made, today\na,b\n#\"\n1,x\n# 3,z\n2,y\n", table.Options{Comment: '#'},
			"a [1 2] b [x y]", ""},
		{"other comments", "a#,b\n1,#x\n%\n2,y\n", table.Options{Comment: '%'}, "a# [1 2] b [#x y]", ""},
		{"raw quotes", "a\tb\n1\t\"Weird\" title\n2\t5\" pipe\n", table.Options{NoQuotes: true},
			`a [1 2] b ["Weird" title 5" pipe]`, ""},
		{"empty fields at the ends of all rows", "a,b\n1,x,\n2,y,\n", table.Options{}, "a [1 2] b [x y]",
			"2 rows, the first in line 2, with more fields than the header"},
		{"empty fields at the ends of all lines", "a,b,\n1,x,\n2,y,\n", table.Options{}, "a [1 2] b [x y]", ""},
		{"one column", "\nb\n\nx\n\"\"\n", table.Options{}, "b [x -]", ""},
		{"lines of spaces", "a,b\n  \n1,x\n\t\n2,y\n", table.Options{}, "a [1 2] b [x y]", ""},
		{"empty cells between tabs", "a\tb\tc\n\t x\t\n\ty\t\n", table.Options{}, "b [x y]", ""},
		{"Windows-1252", "a,b\n1,\x80 5\x969\n2,\x93a\x94\n", table.Options{}, "a [1 2] b [€ 5–9 “a”]",
			"read as Windows-1252"},
		{"Windows-1252 in a name", "a,gr\xF6\xDFe\n1,x\n2,y\n", table.Options{}, "a [1 2] größe [x y]",
			"read as Windows-1252"},
		{"one bad byte", "a,b\n1,Zürich\n2,Z\xFCrich\n", table.Options{}, "a [1 2] b [Zürich Z\uFFFDrich]",
			"U+FFFD stands for 1 byte that cannot be decoded, the first in line 3"},
		{"bad bytes after a mark", "\xEF\xBB\xBFa,b\n1,\xFC\xFC\n2,y\n", table.Options{}, "a [1 2] b [\uFFFD\uFFFD y]",
			"2 bytes that cannot be decoded, the first in line 2"},
		{"U+FFFD itself", "a,b\n1,\uFFFD\n2,y\n", table.Options{}, "a [1 2] b [\uFFFD y]", ""},
		{"NaN", "a,b\n1,2\n3,NaN\n5,6\n", table.Options{}, "a [1 3 5] b [2 - 6]", `values that are missing by their texts: b "NaN" 1`},
	} {
		t.Run(test.name, func(t *testing.T) {
			tab := read(t, test.content, test.options)
			s, got := tab.Schema(), ""
			columns, err := tab.Columns(nil, nil)
			demand.NoError(t, err)
			for _, c := range columns {
				var words []string
				for i := range tab.Rows() {
					words = append(words, strings.Replace(word(c, i), "missing", "-", 1))
				}
				got += fmt.Sprintf(" %s %s", c.Name, words)
			}
			if notes := strings.Join(s.Notes, "; "); strings.TrimSpace(got) != test.want || !strings.Contains(notes, test.note) ||
				(notes == "") != (test.note == "") {
				t.Errorf("read as %s, notes %q; want %s, %q", got, notes, test.want, test.note)
			}
		})
	}
}

// TestClockChanges: a time that the clocks of the zone show twice or skip is an error, as in pandas, unless it is said
// which one is meant. A date is the beginning of its day.
func TestClockChanges(t *testing.T) {
	for _, test := range []struct{ zone, text, change, want string }{
		{"Europe/Zurich", "2013-10-27 02:30:00", "", "is twice in Europe/Zurich, where clocks are set back"},
		{"Europe/Zurich", "2013-10-27 02:30:00", "earlier", "2013-10-27T00:30:00Z"},
		{"Europe/Zurich", "2013-10-27 02:30:00", "later", "2013-10-27T01:30:00Z"},
		{"Europe/Zurich", "2013-10-27 01:59:59", "", "2013-10-26T23:59:59Z"},
		{"Europe/Zurich", "2013-10-27 03:00:00", "", "2013-10-27T02:00:00Z"},
		{"Europe/Zurich", "2013-03-31 02:30:00", "", "is no time in Europe/Zurich, where clocks are set forward"},
		{"Europe/Zurich", "2013-03-31 02:30:00", "earlier", "2013-03-31T00:59:59.999999Z"},
		{"Europe/Zurich", "2013-03-31 02:30:00", "later", "2013-03-31T01:00:00Z"},
		{"America/New_York", "2024-11-03 01:10:00", "", "is twice in America/New_York"},
		{"America/Sao_Paulo", "2018-11-04", "", "2018-11-04T03:00:00Z"},
		{"America/Havana", "2019-11-03", "", "2019-11-03T04:00:00Z"},
		{"Asia/Amman", "2011-Q2", "", "2011-03-31T22:00:00Z"},
	} {
		t.Run(test.zone+" "+test.text+" "+test.change, func(t *testing.T) {
			location, err := time.LoadLocation(test.zone)
			demand.NoError(t, err)
			o := table.Options{Location: location, ClockChange: test.change}
			wall, err := time.Parse("2006-01-02 15:04:05", test.text)
			files := []string{"t,x\n2012-01-01 00:00:00,1\n" + test.text + ",2\n"}
			if err == nil {
				files = append(files, parquetOf(t, []cells{{name: "t", logical: schema.NewTimestampLogicalType(false, schema.TimeUnitMicros),
					values: []int64{0, wall.UnixMicro()}}}))
			} else {
				files[0] = strings.Replace(files[0], " 00:00:00", "", 1)
			}
			for _, content := range files {
				tab := read(t, content, o)
				if !strings.HasSuffix(test.want, "Z") {
					_, err := tab.Times("t", table.Bin{})
					checkSentence(t, err, test.want)
					if !strings.Contains(err.Error(), "row 2") {
						t.Errorf("no row: %v", err)
					}
					continue
				}
				got := values(t, tab, "t").([]time.Time)[1].Format(time.RFC3339Nano)
				demand.Equal(t, got, test.want, "the second row")
			}
		})
	}
}

// TestHoursTwice: an hour that clocks show twice is an error in layouts without minutes, too, and in numbers.
func TestHoursTwice(t *testing.T) {
	for _, test := range []struct{ zone, layout, first, second string }{
		{"Europe/Berlin", "%Y-%m-%d %H", "2024-10-26 02", "2024-10-27 02"},
		{"Europe/Berlin", "%d.%m.%Y %I%p", "26.10.2024 2AM", "27.10.2024 2AM"},
		{"Europe/Berlin", "", "2024102602", "2024102702"},
		{"America/Havana", "yyyymmddhh", "2019110200", "2019110300"},
	} {
		o := table.Options{}
		if test.layout != "" {
			o.Layouts = map[string]string{"v": test.layout}
		}
		var err error
		o.Location, err = time.LoadLocation(test.zone)
		demand.NoError(t, err)
		content := columnOf(test.first, test.second)
		tab, err := table.Read("x.csv", strings.NewReader(content), int64(len(content)), o)
		if err == nil {
			_, err = tab.Usable("v", "").Times("v", table.Bin{})
		}
		checkSentence(t, err, test.second)
		checkSentence(t, err, "is twice in "+test.zone)
		checkSentence(t, err, "--clock-change earlier or later")
	}
}

// TestNanoseconds: nanoseconds that repeat are times, found or as their layout says.
func TestNanoseconds(t *testing.T) {
	content := "t,x\n" + strings.Repeat("1704067200000000001,1\n1704153600000000001,2\n", 30)
	for _, layouts := range []map[string]string{nil, {"t": "unixns"}} {
		times, err := read(t, content, table.Options{Layouts: layouts}).Usable("t", "").Times("t", table.Bin{Unit: "day"})
		demand.NoError(t, err)
		demand.List(t, times.Names, []string{"2024-01-01", "2024-01-02"}, "times")
	}
}

// joined reads a table whose time is in several columns. It is nil if want is an error, which does not end with a zone.
func joined(t *testing.T, csv string, o table.Options, want string) []table.Column {
	t.Helper()
	tab, err := table.Read("x.csv", strings.NewReader(csv), int64(len(csv)), o)
	if !strings.HasSuffix(want, "Z") {
		checkSentence(t, err, want)
		return nil
	}
	demand.NoError(t, err)
	columns, err := tab.Columns(nil, nil)
	demand.NoError(t, err)
	return columns
}

// TestDateAndTime: a date and a time of day in two columns are one time, from CSV and Parquet.
func TestDateAndTime(t *testing.T) {
	zurich, err := time.LoadLocation("Europe/Zurich")
	demand.NoError(t, err)
	for _, test := range []struct {
		clocks   string
		location *time.Location
		want     string // of the second row, or the error
	}{
		{"00:00:00,04:30:00", nil, "2024-03-31T04:30:00Z"},
		{"0,13", nil, "2024-03-31T13:00:00Z"},
		{"1,24", nil, "2024-04-01T00:00:00Z"},
		{"0100,1330", nil, "2024-03-31T13:30:00Z"},
		{"1330,515", nil, "2024-03-31T05:15:00Z"},
		{"515,30", nil, "2024-03-31T00:30:00Z"},
		{"1:00 AM,1:30 pm", zurich, "2024-03-31T11:30:00Z"},
		{"01:00,02:30", zurich, "is no time in Europe/Zurich"},
		{"01:00,soon", nil, `row 2 (line 3), column "hour": "soon" is no time of day; write it as 14:30`},
	} {
		first, second, _ := strings.Cut(test.clocks, ",")
		csv := fmt.Sprintf("day,hour,x\n31/12/2023,%s,1\n31/03/2024,%s,2\n", first, second)
		columns := joined(t, csv, table.Options{Time: "day+hour", Location: test.location}, test.want)
		if columns == nil {
			continue
		}
		if len(columns) != 2 || columns[0].Name != "day+hour" ||
			columns[0].Values.([]time.Time)[1].Format(time.RFC3339) != test.want {
			t.Errorf("%s: %v, want %s", test.clocks, columns, test.want)
		}
	}
	want := "2024-03-31T13:00:00Z"
	columns := joined(t, "day,hour\n20231231,1\n20240331,13\n", table.Options{Time: "day+hour"}, want)
	if at := columns[0].Values.([]time.Time)[1]; at.Format(time.RFC3339) != want {
		t.Errorf("20240331 and 13 are %s", at)
	}
	joined(t, "day,hour\n202312,1\n202403,13\n", table.Options{Time: "day+hour"}, `"202312-1" is no date`) // 13 is no hour
	joined(t, "month,day,hour\n1,2,1330\n2,3,1415\n", table.Options{Time: "month+day+hour"}, `"day" is no month`)
}

// TestDateOfNumbers: a year, a month, a day and a time of day in columns of their own are one time.
func TestDateOfNumbers(t *testing.T) {
	auckland, err := time.LoadLocation("Pacific/Auckland")
	demand.NoError(t, err)
	for _, test := range []struct {
		time     string
		location *time.Location
		want     string // the columns and the second row's time, or the error
	}{
		{"year+month", nil, "year+month day hour x name 2024-02-01T00:00:00Z"},
		{"year+month+day", nil, "year+month+day hour x name 2024-02-29T00:00:00Z"},
		{"year+month+day+hour", nil, "year+month+day+hour x name 2024-02-29T13:30:00Z"},
		{"year+month+day", auckland, "year+month+day hour x name 2024-02-28T11:00:00Z"},
		{"year+day", nil, `column "year+day": "day" is no month, as its name or its values say; name them as DATE+HOUR`},
		{"year+x", nil, `row 2 (line 3), column "year+x": "2024-.5" is no date`},
		{"year+year", nil, `column "year+year": "year" is named twice; name each column once`},
		{"year+month+name", nil, `column "year+month+name": "2023-12-May" is no date`},
		{"year+month+x", nil, `row 2 (line 3), column "year+month+x": "2024-2-0.5" is no date; name them as DATE+HOUR`},
		{"month+day+hour+x+year", nil, `"month" is a number and "year" a number: they are no time`},
		{"year+week", nil, `there is no column "week"`},
		{"month+year", nil, "month+year day hour x name 2024-02-01T00:00:00Z"},
		{"day+month+year", nil, "day+month+year hour x name 2024-02-29T00:00:00Z"},
		{"month+day+year+hour", nil, "month+day+year+hour x name 2024-02-29T13:30:00Z"},
		{"day+x+year", nil, `which of "day" and "x" is the month cannot be told by their names`},
		{"day+month", nil, `"31-12" is no date; name them as DATE+HOUR`},
	} {
		csv := "year,month,day,hour,x,name\n2023,12,31,515,1,May\n2024,2,29,1330,.5,May\n"
		columns := joined(t, csv, table.Options{Time: test.time, Location: test.location}, test.want)
		if columns == nil {
			continue
		}
		got := ""
		for _, c := range columns {
			got += c.Name + " "
		}
		demand.Equal(t, got+columns[0].Values.([]time.Time)[1].UTC().Format(time.RFC3339), test.want, "%s", test.time)
	}
}

// TestPaddedDays: days such as 01, of which the file has 31, are parts of a date, although each is in few rows.
func TestPaddedDays(t *testing.T) {
	csv := "day,month,year,x\n"
	for i := range 50 {
		csv += time.Date(2024, 1, 1+i, 0, 0, 0, 0, time.UTC).Format("02,01,2006") + ",1\n"
	}
	want := "2024-02-19T00:00:00Z"
	last := joined(t, csv, table.Options{Time: "day+month+year"}, want)[0].Values.([]time.Time)[49]
	demand.Equal(t, last.UTC().Format(time.RFC3339), want, "the last day")
}

// TestSecondColumn: the name of the column behind the year says what its numbers are. If it does not, small numbers
// are an error. A note says how the first row is read.
func TestSecondColumn(t *testing.T) {
	for _, test := range []struct{ name, numbers, want, note string }{
		{"quarter", "1 2 4", "2023-01-01 2023-04-01 2024-10-01", "2023 and 1 are read as 2023-Q1"},
		{"fiscal_q", "1 2 4", "2023-01-01 2023-04-01 2024-10-01", "2023 and 1 are read as 2023-Q1"},
		{"Qtr", "1 2 5", `"2024-5" is no date`, ""},
		{"ISO week", "1 12 52", "2023-01-02 2023-03-20 2024-12-23", "2023 and 1 are read as 2023-W01"},
		{"wk", "1 12 53", `"2024-53" is no date`, ""},
		{"Month", "1 2 4", "2023-01-01 2023-02-01 2024-04-01", "2023 and 1 are read as 2023-01"},
		{"period", "1 2 5", "2023-01-01 2023-02-01 2024-05-01", "2023 and 1 are read as 2023-01"},
		{"period", "1 2 4", `"period" is never above 4, and may be a quarter or a month; rename it`, ""},
		{"weekday", "1 2 7", `"weekday" is no month`, ""},
		{"quarter+day", "1,9 2,9 4,9", `"quarter" is no month`, ""},
		{"month+day", "1,9 2,9 4,9", "2023-01-09 2023-02-09 2024-04-09", "2023 and 1 and 9 are read as 2023-01-09"},
		{"qtr", "Q1 q2 4", "2023-01-01 2023-04-01 2024-10-01", "2023 and Q1 are read as 2023-Q1"},
		{"period", "W01 W12 KW52", "2023-01-02 2023-03-20 2024-12-23", "2023 and W01 are read as 2023-W01"},
		{"period", "Q1 2 W12", `"2024-W12" is no date`, ""},
		{"period", "Jan Sept APRIL", "2023-01-01 2023-09-01 2024-04-01", "2023 and Jan are read as 2023-01"},
		{"period", "M01 M02 M04", "2023-01-01 2023-02-01 2024-04-01", "2023 and M01 are read as 2023-01"},
		{"month", "Jan Feb Mai", `"2024-Mai" is no date`, ""},
		{"month+day", "Jan,9 Feb,9 Apr,9", "2023-01-09 2023-02-09 2024-04-09", "2023 and Jan and 9 are read as 2023-01-09"},
		{"period", "1 2 13", `"2024-13" is no date; name them as DATE+HOUR, YEAR+MONTH, YEAR+QUARTER, YEAR+WEEK, ` +
			`YEAR+MONTH+DAY or YEAR+MONTH+DAY+HOUR; years have four digits, and the name of quarters or weeks says so`, ""},
	} {
		n := strings.Fields(test.numbers)
		header := "year," + strings.ReplaceAll(test.name, "+", ",")
		csv := fmt.Sprintf("%s,x\n2023,%s,1\n2023,%s,2\n2024,%s,3\n", header, n[0], n[1], n[2])
		tab, err := table.Read("x.csv", strings.NewReader(csv), int64(len(csv)), table.Options{Time: "year+" + test.name})
		if test.note == "" {
			checkSentence(t, err, test.want)
			continue
		}
		demand.NoError(t, err)
		times, err := tab.Times("year+"+test.name, table.Bin{Unit: "day"})
		demand.NoError(t, err)
		demand.Equal(t, strings.Join(times.Names, " "), test.want, "%s", test.name)
		demand.Equal(t, strings.Join(tab.Notes(), "; "), "column year+"+test.name+": "+test.note, "notes")
	}
}

// BenchmarkDateOfNumbers: how many times as long a table takes to read if its year and month are one time.
func BenchmarkDateOfNumbers(b *testing.B) {
	var csv strings.Builder
	csv.WriteString("year,month,x\n")
	for i := range 500_000 {
		fmt.Fprintf(&csv, "%d,%d,%d\n", 2000+i/12%24, 1+i%12, i)
	}
	took := map[bool]time.Duration{}
	for b.Loop() {
		for _, o := range []table.Options{{}, {Time: "year+month"}} {
			begin := time.Now()
			read(b, csv.String(), o)
			took[o.Time != ""] += time.Since(begin)
		}
	}
	b.ReportMetric(float64(took[true])/float64(took[false]), "times-as-long")
}

// TestQuotesInside: whatever fields are quoted, also over lines, quotes in the others are text.
func TestQuotesInside(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	pieces := []string{"a", `"`, `""`, ";", ", ", "\n", "é", " b"}
	for range 200 {
		text, want := "x;y\n", []string{}
		for i := range 12 {
			cell := "v" // not a space or a quote
			for range rng.IntN(5) {
				cell += pieces[rng.IntN(len(pieces))]
			}
			want = append(want, strings.Trim(cell, " "))
			if strings.ContainsAny(cell, ";\n") || rng.IntN(3) == 0 {
				cell = `"` + strings.ReplaceAll(cell, `"`, `""`) + `"`
			}
			text += cell + []string{";", "\n"}[i%2]
		}
		columns, err := read(t, text, table.Options{Kinds: map[string]table.Kind{"x": table.Category, "y": table.Category}}).Columns(nil, nil)
		demand.NoError(t, err)
		for i, cell := range want {
			if got := columns[i%2].Values.([]string)[i/2]; got != cell {
				t.Fatalf("field %d is %q, want %q, of\n%s", i, got, cell, text)
			}
		}
	}
}

// TestNotesBelow: a line below the table is no row that lacks fields.
func TestNotesBelow(t *testing.T) {
	tab := read(t, "day,x,y\n2024-01-01,2,1\n2024-01-02,4\n2024-01-03,5,1\n\n(3 rows affected)\n", table.Options{})
	demand.Equal(t, strings.Join(tab.Schema().Notes, "; "), "1 row, the first in line 3, with fewer fields than the header: "+
		"the last ones are missing; left out: 1 line below the table, from line 6 on", "notes")
}
