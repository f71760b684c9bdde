package table_test

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"tvps/ci/demand"
	"tvps/data/table"
)

// columnOf makes a CSV file of one column of texts, in quotes where they need them.
func columnOf(values ...string) string {
	var b strings.Builder
	b.WriteString("v,row\n")
	for i, v := range values {
		if strings.Contains(v, ",") {
			v = `"` + v + `"`
		}
		fmt.Fprintf(&b, "%s,%d\n", v, i)
	}
	return b.String()
}

// values are those of a column.
func values(t *testing.T, tab *table.Data, column string) any {
	t.Helper()
	columns, err := tab.Columns([]string{column}, nil)
	demand.NoError(t, err)
	if v, whole := columns[0].Values.([]int64); whole {
		var out []float64
		for _, v := range v {
			out = append(out, float64(v))
		}
		return out
	}
	return columns[0].Values
}

// TestNumbers: separators of thousands, signs of currency and percent are read, and a note says how if there are two
// ways.
func TestNumbers(t *testing.T) {
	for _, test := range []struct {
		texts   []string
		decimal byte
		want    []float64
		note    string // "" for none
	}{
		{[]string{"1,100", "900", "2,500"}, 0, []float64{1100, 900, 2500},
			`"1,100" is read as 1100 (with --decimal , it would be 1.1)`},
		{[]string{"-1,100", "+2,500"}, 0, []float64{-1100, 2500}, "-1.1)"},
		{[]string{"1,234,567", "1,000"}, 0, []float64{1234567, 1000}, `"1,234,567" is read as 1234567`},
		{[]string{"1,000", "1,234.5"}, 0, []float64{1000, 1234.5}, `"1,000" is read as 1000`},
		{[]string{"5.840,72", "12,5", "7"}, ',', []float64{5840.72, 12.5, 7}, `"5.840,72" is read as 5840.72`},
		{[]string{"1.100", "900"}, ',', []float64{1100, 900}, "(with --decimal . it would be 1.1)"},
		{[]string{"$1,234.50", "$3", "-$7.25", "$-1"}, 0, []float64{1234.5, 3, -7.25, -1}, `"$1,234.50" is read as 1234.5`},
		{[]string{"5,50 €", "1.000,00 €"}, ',', []float64{5.5, 1000}, "is read as 5.5"},
		{[]string{"12 %", "7.5%", "0"}, 0, []float64{12, 7.5, 0}, `"12 %" is read as 12`},
		{[]string{"1e3", "2.5E-1", ".5", "5."}, 0, []float64{1000, .25, .5, 5}, ""},
		{[]string{"1.1", "1.2", "1.10"}, 0, []float64{1.1, 1.2, 1.1}, `"1.1" and "1.10" are one number: if they are versions or ` +
			`codes, give --type v=category`},
		{[]string{"12E1", "34"}, 0, []float64{120, 34}, `"12E1" is read as 120; if it is a code, give --type v=category`},
		{[]string{"1'234'567", "12"}, 0, []float64{1234567, 12}, "is read as 1234567"},
		{[]string{"1\u00a0234", "1\u202f000\u202f000"}, 0, []float64{1234, 1e6}, "is read as 1234"},
		{[]string{"1 234", "288 000,5"}, ',', []float64{1234, 288000.5}, "is read as 1234"},
		{[]string{"12 34", "1"}, 0, nil, ""},
		{[]string{"\u22121.5", "2"}, 0, []float64{-1.5, 2}, ""},
		{[]string{"12,34,567", "1"}, 0, nil, ""}, // no groups of three
		{[]string{"0,123,456", "1"}, 0, nil, ""}, // no number begins so
		{[]string{"1,1000", "1,000,00"}, 0, nil, ""},
		{[]string{"10%", "20%", "other"}, 0, nil, `"other" among numbers, 1 of 3 values, are levels`},
		{[]string{"$1", "EUR 2", "$3"}, 0, nil, `"$1" and others are numbers with a unit, which are read as texts: ` +
			`write all in one unit, and leave out "$" and "EUR"`},
		{[]string{"007", "012", "unknown", "113", "104", "105", "106", "107", "unknown"}, 0, nil, ""},
		{[]string{"555-1234", "555-9876"}, 0, nil, ""},
		{[]string{"1.2.3", "1.10.0"}, 0, nil, ""},
		{[]string{"1.100.200", "1.200.300"}, 0, nil, ""},
		{[]string{"(13)", "5", "(1,234.50)", "(0)"}, 0, []float64{-13, 5, -1234.5, 0}, `"(13)" is read as -13`},
		{[]string{"($13)", "$5"}, 0, []float64{-13, 5}, `"($13)" is read as -13`},
		{[]string{"$(1,234.50)", "$5"}, 0, []float64{-1234.5, 5}, `"$(1,234.50)" is read as -1234.5`},
		{[]string{"13-", "5", "1,234.50-"}, 0, []float64{-13, 5, -1234.5}, `"13-" is read as -13; if it is a level, such as ` +
			`a grade, give --type v=category`},
		{[]string{"1.022,67-", "5,5"}, ',', []float64{-1022.67, 5.5}, `"1.022,67-" is read as -1022.67`},
		{[]string{"1'200.-", "5.50"}, 0, []float64{1200, 5.5}, `"1'200.-" is read as 1200`},
		{[]string{"12,-", "5,50"}, ',', []float64{12, 5.5}, `"12,-" is read as 12`},
		{[]string{"12.--", "5.50"}, 0, []float64{12, 5.5}, `"12.--" is read as 12`},
		{[]string{"5--", "6"}, 0, nil, ""},
		{[]string{"1", "2-", "2", "3", "2+"}, 0, nil, `"2+" among numbers, 1 of 5 values, are levels, and so are the numbers`},
		{[]string{"1\u2019234.5", "7"}, 0, []float64{1234.5, 7}, "is read as 1234.5"},
		{[]string{"-13-", "5"}, 0, nil, ""},
		{[]string{"1-", "+1-", "x(5)"}, 0, nil, ""},
		{[]string{"(-13)", "5"}, 0, nil, ""},
		{[]string{"(\u221213)", "(\u22127)"}, 0, nil, ""},
		{[]string{"($-13)", "($-7)"}, 0, nil, ""},
		{[]string{"((5))", "(x)", "()", "("}, 0, nil, ""},
	} {
		t.Run(strings.Join(test.texts, "; "), func(t *testing.T) {
			tab := read(t, columnOf(test.texts...), table.Options{Decimal: test.decimal})
			notes := strings.Join(tab.Notes(), "\n")
			if test.want == nil {
				demand.Equal(t, tab.Schema().Columns[0].Kind, table.Category, "kind")
			} else {
				demand.List(t, values(t, tab, "v").([]float64), test.want, "values")
			}
			if (test.note == "") != (notes == "") || !strings.Contains(notes, test.note) {
				t.Errorf("notes %q, want %q", notes, test.note)
			}
		})
	}
	for _, test := range []struct {
		texts []string
		want  string
	}{
		{[]string{"$5", "$6", "$7", "$8", "$9", "$10", "CHF 5", "CHF 5"},
			`"CHF 5" is not a number, as 6 of 7 other values are`},
		{[]string{"7%", "8%", "n/k", "9%", "10%"}, `"n/k" is not a number, as 4 of 4 other values are`},
		{[]string{"€ 1,50", "€ 2", "€ 3,25"}, `"€ 1,50" seems to have a decimal comma`},
		{[]string{"1,5", "2,5", "3"},
			`"1,5" seems to have a decimal comma, which is not guessed; if it is one, give --decimal ','`},
		{[]string{"5.840,72", "1.000,00"}, `"5.840,72" seems to have a decimal comma`},
		{[]string{"0,123", "0,456"}, `"0,123" seems to have a decimal comma`},
		{[]string{"1,234", "2,500", "x", "7"}, `"x" is not a number`},
		{[]string{"€ 12", "3 €", "£0"}, `"£0" does not have the sign of "€ 12"`},
		{[]string{"12%", "15", "7%", "8%"}, `"15" does not have the sign of "12%"`},
		{[]string{"5", "6", "7", "8%"}, `"5" does not have the sign of "8%"`},
		{[]string{"1.234.567", "5", "6", "7", "8", "x"}, `"1.234.567" seems to have "." between thousands`},
		{[]string{"871.203", "412", "2.746.324", "1.000.000", "9.999.999"},
			`"2.746.324" seems to have "." between thousands, which is not guessed; if so, give --decimal ','`},
	} {
		content := columnOf(test.texts...)
		_, err := table.Read("x.csv", strings.NewReader(content), int64(len(content)), table.Options{})
		checkSentence(t, err, test.want)
	}
}

// TestTimes: times are read however people and programs write them.
func TestTimes(t *testing.T) {
	york, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Skip(err)
	}
	at := func(year, month, day int, clock ...int) time.Time {
		clock = append(clock, 0, 0, 0, 0)
		return time.Date(year, time.Month(month), day, clock[0], clock[1], clock[2], clock[3]*1000, time.UTC)
	}
	for _, test := range []struct {
		text, layout string
		zone         *time.Location
		want         time.Time
	}{
		{"2024-1-3", "", nil, at(2024, 1, 3)},
		{"2024-1-3 4:05", "", nil, at(2024, 1, 3, 4, 5)},
		{"31/1/68", "", nil, at(2068, 1, 31)},
		{"31/1/69 23:59", "", nil, at(1969, 1, 31, 23, 59)},
		{"01/31/2024 12:05:00 AM", "", nil, at(2024, 1, 31, 0, 5)},
		{"01/31/2024 12:05 pm", "", nil, at(2024, 1, 31, 12, 5)},
		{"1/31/24, 9:05 AM", "", nil, at(2024, 1, 31, 9, 5)},
		{"20240131T235959.25+0130", "", nil, at(2024, 1, 31, 22, 29, 59, 250000)},
		{"March 2018", "", nil, at(2018, 3, 1)},
		{"Mar-2018", "", nil, at(2018, 3, 1)},
		{"Q2 2024", "", nil, at(2024, 4, 1)},
		{"2024 Q2", "", nil, at(2024, 4, 1)},
		{"Sept 5, 2018", "", nil, at(2018, 9, 5)},
		{"5 Sep 2018 17:00:01", "", nil, at(2018, 9, 5, 17, 0, 1)},
		{"01JAN2024", "", nil, at(2024, 1, 1)},
		{"Mon, 02 Jan 2006 15:04:05 -0700", "", nil, at(2006, 1, 2, 22, 4, 5)},
		{"Mon, 02 Jan 2006 15:04:05 GMT", "", nil, at(2006, 1, 2, 15, 4, 5)},
		{"Mon Jan  2 15:04:05 2006", "", nil, at(2006, 1, 2, 15, 4, 5)},
		{"Mon Jan  2 15:04:05 UTC 2006", "", nil, at(2006, 1, 2, 15, 4, 5)},
		{"2024-07-01 12:00 EDT", "", york, at(2024, 7, 1, 16)},
		{"2024-01-01 12:00 EST", "", york, at(2024, 1, 1, 17)},
		{"2024-11-03 01:30 EDT", "", york, at(2024, 11, 3, 5, 30)},
		{"2024-11-03 01:30 EST", "", york, at(2024, 11, 3, 6, 30)},
		{"2024-07-01 01:30 EST", "", york, at(2024, 7, 1, 6, 30)}, // all year, as some write it
		{"2024-07-01T12:00:00.123456789Z", "", nil, at(2024, 7, 1, 12, 0, 0, 123456)},
		{"3.1.2024", "%d.%m.%Y", nil, at(2024, 1, 3)},
		{"03.01.2024", "%-d.%-m.%Y", nil, at(2024, 1, 3)},
		{"24060", "%y%j", nil, at(2024, 2, 29)},
		{"Wed 31 JANUARY 99 01:02:03.5 am", "%a %d %B %y %I:%M:%S.%f %p", nil, at(1999, 1, 31, 1, 2, 3, 500000)},
		{"20240131 120000 +05:30", "%Y%m%d %H%M%S %z", nil, at(2024, 1, 31, 6, 30)},
		{"[31/Jan/2024:10:00:00 -0100]", "[%d/%b/%Y:%H:%M:%S %z]", nil, at(2024, 1, 31, 11)},
		{"%2024", "%%%Y", nil, at(2024, 1, 1)},
		{"95/1/31 10:00", "", nil, at(1995, 1, 31, 10)},
		{"31/01/2024 14h05", "02/01/2006 15h04", nil, at(2024, 1, 31, 14, 5)},
		{"Jan 31 2024 2:05PM", "Jan 2 2006 3:04PM", nil, at(2024, 1, 31, 14, 5)},
		{"45322.25", "excel", nil, at(2024, 1, 31, 6)},
		{"45322.1", "excel", nil, at(2024, 1, 31, 2, 24)},
		{"45322.25", "excel", york, at(2024, 1, 31, 11)},
		{"1706659200123456", "unixus", nil, at(2024, 1, 31, 0, 0, 0, 123456)},
		{"1706659200123456789", "unixns", nil, at(2024, 1, 31, 0, 0, 0, 123456)},
	} {
		o := table.Options{Location: test.zone}
		if test.layout != "" {
			o.Layouts = map[string]string{"v": test.layout}
		}
		tab := read(t, columnOf(test.text, test.text), o)
		got, isTime := values(t, tab, "v").([]time.Time)
		if !isTime || !got[0].Equal(test.want) {
			t.Errorf("%q with layout %q is %v, want %v", test.text, test.layout, got, test.want)
		}
	}
	for _, text := range []string{"2024-13-01", "2023-02-29", "31/31/2024", "2024-01-01 25:00", "2024-01-01 13:00 AM",
		"20241301T000000Z", "Q5 2024", "Q2", "Foo-2018", "2024-1", "1-3-24", "1.3.24", "2024-W53",
		"2024-01-01 10:00 +25:00"} {
		demand.Equal(t, read(t, columnOf(text, text), table.Options{}).Schema().Columns[0].Kind, table.Category, "%q", text)
	}
	for _, zone := range []string{"EST", "IST", "CST"} {
		tab := read(t, columnOf("2024-07-01 10:00 "+zone, "2024-03-10 01:30 "+zone), table.Options{})
		_, err := tab.Times("v", table.Bin{})
		checkSentence(t, err, "give --zone, as America/New_York")
	}
	for _, layout := range []string{"%Y %E", "%Y %", "%m", "Jan 2", "%Y-%m-%dT24:%M"} {
		content := columnOf("2024", "2025")
		_, err := table.Read("x.csv", strings.NewReader(content), int64(len(content)),
			table.Options{Layouts: map[string]string{"v": layout}})
		checkSentence(t, err, "layout")
	}
}

// TestNumbersAsTimes: a time column of numbers has the times that they mean, told apart by their size.
func TestNumbersAsTimes(t *testing.T) {
	for _, test := range []struct {
		texts []string
		names string
	}{
		{[]string{"1704067200", "1706659200.5"}, "2024-01-01 2024-01-31 00:00:00.5"},
		{[]string{"1704067200000", "1706659200000"}, "2024-01-01 2024-01-31"},
		{[]string{"1704067200000000", "1706659200000000"}, "2024-01-01 2024-01-31"},
		{[]string{"1704067200000000000", "1706659200000000000"}, "2024-01-01 2024-01-31"},
		{[]string{"2010", "2010.083", "2010.167", "2010.917"}, "2010 2010.083 2010.167 2010.917"},
		{[]string{"2010.08", "2010.04", "2010.12", "2010.25"}, "2010.04 2010.08 2010.12 2010.25"},
		{[]string{"20240131", "20240201"}, "2024-01-31 2024-02-01"},
		{[]string{"202312", "202401"}, "2023-12-01 2024-01-01"},
		{[]string{"202352", "202401"}, "2023-12-25 2024-01-01"},
		{[]string{"202352", "202353"}, "202352 202353"}, // that year has 52 weeks
		{[]string{"2024013123", "2024020100"}, "2024-01-31 23:00:00 2024-02-01"},
		{[]string{"202401312359", "202402010000"}, "2024-01-31 23:59:00 2024-02-01"},
		{[]string{"20240131235901", "20240201000000"}, "2024-01-31 23:59:01 2024-02-01"},
		{[]string{"2011", "2012"}, "2011 2012"},
		{[]string{"1", "2.5"}, "1 2.5"},
		{[]string{"20240131", "20240132"}, "2.0240131e+07 2.0240132e+07"},
		{[]string{"202401.5", "202402.5"}, "202401.5 202402.5"}, // no weeks
		{[]string{"12.2003", "12.2004"}, "12.2003 12.2004"},
		{[]string{"11.2003", "12.2004", "12.22"}, "11.2003 12.2004 12.22"},
		{[]string{"45000", "45001"}, "45000 45001"},
		{[]string{"10000000000", "20000000000"}, "1e+10 2e+10"},
	} {
		tab := read(t, columnOf(test.texts...), table.Options{})
		usable := tab.Usable("v", "")
		times, err := usable.Times("v", table.Bin{})
		demand.NoError(t, err)
		demand.Equal(t, strings.Join(times.Names, " "), test.names, "%v", test.texts)
		if read := strings.Contains(strings.Join(usable.Notes(), ""), "the numbers are times"); read !=
			strings.Contains(test.names, "-") {
			t.Errorf("%v: notes %q", test.texts, usable.Notes())
		}
		if len(tab.Notes()) > 0 || tab.Schema().Columns[0].Kind != table.Number {
			t.Errorf("%v: the table itself changed", test.texts)
		}
		kept := read(t, columnOf(test.texts...), table.Options{Kinds: map[string]table.Kind{"v": table.Number}})
		demand.Equal(t, kept.Usable("v", "").Schema().Columns[0].Kind, table.Number, "%v of a given type", test.texts)
	}
}

// TestUnixTimesOfTwoUnits: seconds among milliseconds are an error, unless they are said to be plain numbers.
func TestUnixTimesOfTwoUnits(t *testing.T) {
	text := columnOf("1704067200000", "1704153600000", "1704240000", "1704326400000")
	_, err := read(t, text, table.Options{}).Times("v", table.Bin{})
	checkSentence(t, err, `row 3 (line 4), column "v": 1704240000 seems to be a Unix time in another unit`)
	_, err = read(t, text, table.Options{Kinds: map[string]table.Kind{"v": table.Number}}).Times("v", table.Bin{})
	demand.NoError(t, err)
}

// TestMonthsAndYears: numbers that look like months and years would sort by month. They are an error.
func TestMonthsAndYears(t *testing.T) {
	text := columnOf("12.2003", "1.2004", "10.201") // the last one lost its zero
	_, err := read(t, text, table.Options{}).Times("v", table.Bin{})
	checkSentence(t, err, `column "v": 12.2003 and the others seem to be months and years; write them as 2004-01, give --layout v=%m.%Y`)
	_, err = read(t, text, table.Options{Kinds: map[string]table.Kind{"v": table.Number}}).Times("v", table.Bin{})
	demand.NoError(t, err)
	_, err = read(t, columnOf("12.2003", "53.2004", "1.201"), table.Options{}).Times("v", table.Bin{})
	checkSentence(t, err, "12.2003 and the others seem to be weeks and years; write them as 2004-W01, or say by --type v=")
	_, err = read(t, columnOf("2023.11", "2023.12", "2024.01", "2024.1"), table.Options{}).Times("v", table.Bin{})
	checkSentence(t, err, "2023.11 and the others seem to be years and months; write them as 2004-01, or say by --type v=")
}

// TestFewTellTheDay: where few dates tell the day from the month a note names the first, as it may be wrong.
func TestFewTellTheDay(t *testing.T) {
	for _, c := range []struct {
		form string // of the dates
		odd  int    // so many of 300 days are above 12
		want string
	}{
		{"02/01/2006", 1, `only 1 of 300 dates show where the day stands, the first "20/03/2024" in row 1; all are read with ` +
			`the day first: if that is wrong, mend them and give --layout v=%m/%d/%Y`},
		{"1-2-2006", 2, `"3-20-2024" in row 1; all are read with the month first`},
		{"02/01/2006", 3, ""}, {"2006-01-02", 1, ""}, {"02/01/2006 15:04", 200, ""},
	} {
		var texts []string
		for i := range 300 {
			day := 1 + i%12
			if i < c.odd {
				day = 20
			}
			texts = append(texts, time.Date(2024, time.Month(3+i%6), day, i%24, 0, 0, 0, time.UTC).Format(c.form))
		}
		notes := strings.Join(read(t, columnOf(texts...), table.Options{}).Notes(), "\n")
		if (c.want == "") != (notes == "") || !strings.Contains(notes, c.want) {
			t.Errorf("%s, %d days above 12: notes %q, want %q", c.form, c.odd, notes, c.want)
		}
	}
}

func daily(i int) (years, months, days int)   { return 0, 0, i }
func monthly(i int) (years, months, days int) { return 0, i, 0 }

// TestDayOrYear: dates such as 23/01/31 are read so that the rows are in order. If they are not in any reading, the day
// has more values than the year. If neither has far more, or the month may be first, they are an error.
func TestDayOrYear(t *testing.T) {
	day, year := "is read with the day first, as ", "is read with the year of two digits first, as "
	for _, test := range []struct {
		year     int // of the first date
		form     string
		count    int
		step     func(i int) (years, months, days int)
		shuffled bool
		want     string // note, or the error
	}{
		{2010, "06/01/02", 600, daily, false, year + "the rows are then in order; if it is not so give --layout v=FORMAT"},
		{2010, "02/01/06", 600, daily, false, day + "the rows"},
		{2010, "06/1/02 15:04", 600, daily, false, year + "the rows"},
		{2010, "06/01/02", 600, func(i int) (int, int, int) { return 0, 0, -i }, false, year + "the rows"},
		{2010, "02/01/06", 15 * 365, daily, false, day + "the rows"}, // 15 years
		{2010, "02/01/06", 600, daily, true, day + "days have more values than years"},
		{2013, "06/01/02", 600, daily, true, year + "days have more values than years"},
		{2010, "02/01/06", 36, monthly, false, day + "the rows"},
		{2010, "06/01/02", 36, monthly, false, "cannot be told apart"}, // or from 1 October to 12 December 2015
		{2010, "02/01/06", 36, monthly, true, "cannot be told apart"},
		{2010, "02/01/06", 3, daily, true, "cannot be told apart"},
		{2010, "02/01/06", 15 * 365, daily, true, "cannot be told apart"},
		{2013, "06/01/02", 36, monthly, false, year + "the rows"},
		{2010, "06/01/02", 600, daily, true, "cannot be told apart"}, // or the month is first
	} {
		var texts []string
		var times []time.Time
		for i := range test.count {
			at := i
			if test.shuffled {
				at = 7 * i % test.count
			}
			times = append(times, time.Date(test.year, 1, 15, 0, 0, 0, 0, time.UTC).AddDate(test.step(at)))
			texts = append(texts, times[i].Format(test.form))
		}
		tab := read(t, columnOf(texts...), table.Options{})
		notes := strings.Join(tab.Notes(), "\n")
		if _, err := tab.Times("v", table.Bin{}); err != nil {
			checkSentence(t, err, test.want)
			continue
		}
		got := values(t, tab, "v").([]time.Time)
		if !strings.Contains(notes, test.want) || !slices.EqualFunc(got, times, time.Time.Equal) {
			t.Errorf("%s, %d: notes %q, want %q, %v to %v", test.form, test.count, notes, test.want, got[0], got[len(got)-1])
		}
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	demand.NoError(t, err)
	var hours []string // of 2025 to a day on which clocks skip an hour, but for that hour; on 25 March 2018 it was also one
	for hour := range 88 * 24 {
		at := time.Date(2025, 1, 1, 0, 0, 0, 0, berlin).Add(time.Duration(hour) * time.Hour)
		hours = append(hours, at.Format("06/01/02 15:04"))
	}
	demand.Equal(t, read(t, columnOf(hours...), table.Options{Location: berlin}).Schema().Columns[0].Kind, table.Time, "hours")
	skipped := columnOf(append(hours, "25/03/30 02:30")...)
	_, err = table.Read("x.csv", strings.NewReader(skipped), int64(len(skipped)), table.Options{Location: berlin})
	checkSentence(t, err, `"25/03/30 02:30" is no time in Europe/Berlin`)
	for _, test := range [][]string{{"23/01/21", "24/01/22"}, {"21/01/21", "01/02/03"}, {"01/02/03", "02/02/03"},
		{"31/12/18", "31/12/19", "31/12/20"}} {
		_, err := read(t, columnOf(test...), table.Options{}).Times("v", table.Bin{})
		checkSentence(t, err, fmt.Sprintf("day, month and year cannot be told apart, as in %q; give --layout COLUMN=", test[0])+
			"%d/%m/%y, %m/%d/%y or %y/%m/%d")
	}
}

// TestNumbersThatAreNoDate: one impossible date in a column of digits is an error, as it is in one of texts. Otherwise
// all would be plain numbers, where a year of months is 100 long.
func TestNumbersThatAreNoDate(t *testing.T) {
	for _, test := range []struct {
		first int    // of ten numbers, in 60 rows
		bad   string // row 61
		no    bool   // it is no date among dates
	}{
		{202301, "202313", true}, {202301, "999912", true}, {20230101, "20230230", true}, {20230101, "99991231", true},
		{202301, "202311", false}, {202305, "202399", true}, {202375, "202399", false}, {45000, "99", false},
	} {
		var texts []string
		for i := range 60 { // enough rows that one far from all others would be left out
			texts = append(texts, fmt.Sprint(test.first+i%10))
		}
		texts = append(texts, test.bad)
		for _, bin := range []table.Bin{{}, {Blocks: 2}} {
			_, err := read(t, columnOf(texts...), table.Options{}).Usable("v", "").Times("v", bin)
			if !test.no {
				if err != nil {
					t.Errorf("%s: %v", test.bad, err)
				}
				continue
			}
			checkSentence(t, err, "row 61")
			checkSentence(t, err, test.bad+" is no date")
		}
		kept := read(t, columnOf(texts...), table.Options{Kinds: map[string]table.Kind{"v": table.Number}})
		if _, err := kept.Usable("v", "").Times("v", table.Bin{}); err != nil {
			t.Errorf("%s as numbers: %v", test.bad, err)
		}
	}
	_, err := read(t, columnOf("20240131", "00000000", "20240201"), table.Options{}).Times("v", table.Bin{})
	checkSentence(t, err, "the column is a category, not a time: numbers with leading zeros; write dates as YYYY-MM-DD")
}

// TestMissing: a note counts the cells that each text makes missing, and texts that mean a level stay one.
func TestMissing(t *testing.T) {
	tab := read(t, "a,b,c,d\nNA,x,1,NA\n?,None,2,\nNA,y,,z\n3,x,4,z\n", table.Options{})
	want := []string{`values that are missing by their texts: a "?" 1, "NA" 2; b "None" 1; d "NA" 1`}
	demand.List(t, tab.Notes(), want, "notes")
	for i, n := range []int{3, 1, 1, 2} {
		if c := tab.Schema().Columns[i]; c.Missing != n {
			t.Errorf("column %s has %d missing values, want %d", c.Name, c.Missing, n)
		}
	}

	tab = read(t, "a,b\n-9.0,x\n1,x\n2,y\n", table.Options{Missing: []string{"-9", " x", "NaN", ""}})
	want = []string{`"-9", which is to mean a missing value, is none of the table: texts are compared as they are written, ` +
		`so 5 is not 5.0`, `values that are missing by their texts: b "x" 2`}
	demand.List(t, tab.Notes(), want, "notes")

	countries := append(slices.Repeat([]string{"DE", "FR", "IT", "US", "ZA"}, 3), "NA")
	for _, test := range []struct {
		name   string
		texts  []string
		give   []string
		levels string
		note   string
	}{
		{"NA among codes", countries, nil, "DE FR IT NA US ZA", `"NA" is a level, as others are codes of two letters, in 1 row`},
		{"NA among codes, as asked", countries, []string{"NA"}, "DE FR IT US ZA", `"NA" 1`},
		{"NA among few codes", []string{"DE", "FR", "NA", "DE"}, nil, "DE FR", `"NA" 1`},
		{"NA among words", append(slices.Repeat([]string{"one", "two", "DE", "FR", "IT", "US", "ZA"}, 2), "NA"),
			nil, "DE FR IT US ZA one two", `"NA" 1`},
		{"None, the most frequent", []string{"None", "None", "Minor", "None", "Major", "?"}, nil, "Major Minor None",
			`"None" is a level, the most frequent one, in 3 rows; if it means a missing value, give --missing None`},
		{"None, as asked", []string{"None", "None", "Minor", "None", "Major"}, []string{"None"}, "Major Minor", `"None" 3`},
		{"None, as frequent as another", []string{"None", "None", "Minor", "Minor", "Major"}, nil, "Major Minor", `"None" 2`},
		{"null, the most frequent", []string{"null", "null", "Minor", "Major"}, nil, "Major Minor", `"null" 2`},
	} {
		tab := read(t, columnOf(test.texts...), table.Options{Missing: test.give})
		c := tab.Schema().Columns[0]
		if got, notes := strings.Join(c.Levels, " "), strings.Join(tab.Notes(), "\n"); got != test.levels ||
			!strings.Contains(notes, test.note) {
			t.Errorf("%s: levels %s, want %s; notes %q, want %q", test.name, got, test.levels, notes, test.note)
		}
		columns, err := tab.Columns([]string{"v"}, nil)
		demand.NoError(t, err)
		missing := slices.DeleteFunc(columns[0].Missing, func(is bool) bool { return !is })
		demand.Equal(t, len(missing), c.Missing, "%s", test.name)
	}

	// An empty cell is missing whatever texts are given, and inf and NaN replace no other text.
	tab = read(t, "a,b\n1,\n-inf,x\nNA,y\n+Infinity,NA\n", table.Options{Missing: []string{"inf"}})
	if s := tab.Schema().Columns; s[0].Missing != 3 || s[1].Missing != 2 || s[0].Kind != table.Number {
		t.Errorf("%v", s)
	}
	tab = read(t, "a,b\nx,\n-,x\nx,NA\ny,NA\n", table.Options{Missing: []string{"-", "nan"}})
	if s := tab.Schema().Columns; s[0].Missing != 1 || s[1].Missing != 1 ||
		!slices.Equal(s[1].Levels, []string{"NA", "x"}) {
		t.Errorf("%v", s)
	}

	var wide, row strings.Builder
	for i := range 100 {
		fmt.Fprintf(&wide, "c%d,", i)
		row.WriteString("NA,")
	}
	tab = read(t, wide.String()+"y\n"+strings.Repeat(row.String()+"1\n", 2)+strings.ReplaceAll(row.String(), "NA",
		"2")+"3\n", table.Options{})
	if notes := tab.Notes(); len(notes) != 1 || len(notes[0]) > 200 || !strings.HasSuffix(notes[0], "92 more columns") {
		t.Errorf("notes %q", notes)
	}
}

// TestIdentifiers: whole numbers with more digits than a float64 are rounded, with a note, and no classes.
func TestIdentifiers(t *testing.T) {
	tab := read(t, "v,row\n9007199254740995,1\n9007199254740992,2\nNA,3\n9007199254740993,4\n", table.Options{})
	if c := tab.Schema().Columns[0]; c.Kind != table.Number || c.Missing != 1 || !strings.Contains(c.Note, "rounded") ||
		!slices.Equal(tab.Notes()[:1], []string{"column v: " + c.Note}) {
		t.Errorf("%v", c)
	}
	if got := values(t, tab, "v").([]float64); !math.IsNaN(got[2]) || got[0] != 9007199254740996 || got[1] != got[3] {
		t.Errorf("%v", got)
	}
	known := tab.Select([]int{0, 1, 3})
	_, err := known.Label("v", table.AnyLabel)
	checkSentence(t, err, "two classes may be one")
	if l, err := known.Label("v", table.Regression); err != nil || l.Target[1] != l.Target[2] {
		t.Errorf("%v, %v", l, err)
	}
}

// dated makes a table of n rows, ten of a day, with a label that the rows from row unlabelled on lack.
func dated(n, unlabelled int) string {
	var b strings.Builder
	b.WriteString("t,x,g,y\n")
	first := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range n {
		label := fmt.Sprint(i % 2)
		if i >= unlabelled {
			label = ""
		}
		fmt.Fprintf(&b, "%s,%.3f,%s,%s\n", first.AddDate(0, 0, i/10).Format("2006-01-02"), math.Sin(float64(i)),
			[]string{"a", "b"}[i/3%2], label)
	}
	return b.String()
}

// TestFarRows: a few rows far from all others in time change nothing that models learn from, and a note names them.
func TestFarRows(t *testing.T) {
	plain := dated(300, 300)
	week := table.Bin{Unit: "week"}
	want := read(t, plain, table.Options{}).Usable("t", "y")
	wantTimes, _ := want.Times("t", week)
	for _, test := range []struct{ before, after, note string }{
		{"", "9999-12-31,7,new,1\n", "left out: 1 row far from all others in time, first row 301 (9999-12-31)"},
		{"1970-01-01,7,new,0\n", "", "first row 1 (1970-01-01)"},
		{"0001-01-01,7,new,0\n1900-01-01,7,b,0\n", "2100-01-01,1,a,1\n9999-12-31,7,new,1\n", "left out: 4 rows far"},
		{"1900-01-01,7,b,0\n", "2150-01-01,1,a,1\n", "left out: 2 rows far"},
	} {
		header, rows, _ := strings.Cut(plain, "\n")
		got := read(t, header+"\n"+test.before+rows+test.after, table.Options{}).Usable("t", "y")
		times, err := got.Times("t", week)
		demand.NoError(t, err)
		if !slices.Equal(times.Names, wantTimes.Names) || !slices.Equal(times.Counts, wantTimes.Counts) ||
			!slices.Equal(times.Index, wantTimes.Index) {
			t.Errorf("times %v with rows %v, want %v %v", times.Names, times.Counts, wantTimes.Names, wantTimes.Counts)
		}
		if !slices.Equal(encoded(t, got, "x", "g"), encoded(t, want, "x", "g")) ||
			got.Row(0) != strings.Count(test.before, "\n") {
			t.Errorf("other features with %q and %q", test.before, test.after)
		}
		label, err := got.Label("y", "")
		if wantLabel, _ := want.Label("y", ""); err != nil || !slices.Equal(label.Class, wantLabel.Class) {
			t.Errorf("other labels (%v)", err)
		}
		demand.List(t, got.Schema().Columns[2].Levels, []string{"a", "b"}, "levels")
		if notes := strings.Join(got.Notes(), "\n"); !strings.Contains(notes, test.note) ||
			!strings.Contains(notes, "2024-01-01 to 2024-01-30") {
			t.Errorf("notes %q, want %q", notes, test.note)
		}
	}

	// What is sparse is no placeholder.
	sequence := func(times ...float64) string {
		var b strings.Builder
		b.WriteString("t,x\n")
		for i, v := range times {
			fmt.Fprintf(&b, "%v,%d\n", v, i)
		}
		return b.String()
	}
	var yearly, split, growing, late []float64
	for i := range 200 {
		yearly = append(yearly, float64(i))
		split = append(split, float64(i%100)+float64(i/100)*1e6)
		growing = append(growing, math.Pow(1.05, float64(i)))
		late = append(late, float64(i)+float64(i/196*580))
	}
	for name, times := range map[string][]float64{"yearly": yearly, "a long gap in the middle": split, "growing": growing,
		"a gap of three spans": late, "few rows": {1, 2, 3, 4, 1e6}, "two times": append(make([]float64, 199), 1)} {
		tab := read(t, sequence(times...), table.Options{})
		if got := tab.Usable("t", ""); got.Rows() != len(times) || len(got.Notes()) > 0 {
			t.Errorf("%s: %d of %d rows, %q", name, got.Rows(), len(times), got.Notes())
		}
	}
}

// TestUnlabelled: rows without a label are left out with a count, if the label is asked for.
func TestUnlabelled(t *testing.T) {
	tab := read(t, dated(300, 290), table.Options{})
	demand.Equal(t, tab.Usable("t", "").Rows(), 300, "rows without a label")
	got := tab.Usable("t", "y")
	label, err := got.Label("y", "")
	if err != nil || got.Rows() != 290 || len(label.Class) != 290 || label.Class[289] != 1 || len(label.Names) != 2 {
		t.Errorf("%d rows, label %v (%v)", got.Rows(), label, err)
	}
	demand.List(t, got.Notes(), []string{"left out: 10 rows without a label in column y, first row 291"}, "notes")
	_, err = tab.Label("y", "")
	checkSentence(t, err, `row 291 (line 292), column "y": the label is missing`)
	// A row of the selection is named by its place in the file.
	_, err = tab.Select([]int{1, 5, 299}).Label("y", "")
	checkSentence(t, err, `row 300 (line 301), column "y": the label is missing`)
}

// TestSameMeaning: texts mean the same in CSV and in Parquet: kinds, levels, notes and features.
func TestSameMeaning(t *testing.T) {
	texts := map[string][]string{
		"price":  {"1,100", "900", "$2,500", "NA"},
		"share":  {"12 %", "7.5%", "3%", "?"},
		"day":    {"1/31/24", "1/30/24", "2/1/24", "12/31/23"},
		"clock":  {"2024-1-3 1:05 PM", "2024-01-04 11:00 AM", "2024-1-5 12:00 AM", "None"},
		"land":   {"DE", "FR", "IT", "US", "ZA", "NA", "DE", "FR"},
		"damage": {"None", "None", "Minor", "None", "Major", "None", "Minor", "N/A"},
		"id":     {"9007199254740995", "9007199254740999", "9007199254740995", "NA"},
		"zip":    {"00501", "10001", "94105", "00501"},
	}
	var columns []table.Column
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		columns = append(columns, table.Column{Name: name, Values: slices.Repeat(texts[name], 8/len(texts[name]))})
	}
	var want table.Schema
	var features []float32
	for i, name := range []string{"x.csv", "x.parquet"} {
		path := filepath.Join(t.TempDir(), name)
		demand.NoError(t, table.Write(path, columns...))
		tab, err := table.Open(path, table.Options{})
		demand.NoError(t, err)
		got, x := tab.Schema(), encoded(t, tab)
		if i == 0 {
			want, features = got, x
			if len(got.Notes) < 5 {
				t.Errorf("notes %q", got.Notes)
			}
		}
		if !reflect.DeepEqual(got.Columns, want.Columns) || !slices.Equal(got.Notes, want.Notes) ||
			!slices.Equal(x, features) {
			t.Errorf("%s: %v\n%q, want %v\n%q", name, got, got.Notes, want, want.Notes)
		}
	}
}

// TestKinds: columns as real tables have them get their kind, unless another is given.
func TestKinds(t *testing.T) {
	for kind, columns := range map[table.Kind][]string{ // their texts, separated by bars
		table.Number: {"1|-2|+3", "3.5|-2|1e-7|0|.5|5.", "2019|2020|2021", "20190101|20190102",
			"1546300800|1546304400", "0|1|1|0", "43.65107|-79.347015", "7||NA|12", "01|5|123"},
		table.Category: {"00501|10001|94105", "A12|B7|C990", "M5V 3L9|K1A 0B1", "1-10|11-50|51-200", "<1|1-2|>2",
			"10:30|11:45|23:05", "1:05:00|2:10:59", "192.168.0.1|10.0.0.7", "1.2.3|1.10.0|2.0.0", "v1.2|v1.3",
			"555-123-4567|555-987-6543", "(555) 123-4567|(555) 987-6543", "+1 555 123 4567|+44 20 7946 0958",
			"978-3-16-148410-0|978-0-306-40615-7", "4111-1111-1111-1111|5500-0000-0000-0004", "12-05-33|13-06-34",
			"#1|#2|#3", "Q1|Q2|Q3|Q4", "2019-20|2020-21", "2019/20|2020/21", "3/4|1/2", "5'11|6'02", "1,2,3|2,3",
			"12 km|7 km", "10 mg|5 mg", "12 EUR|7 USD", "-|--|n.a.", "yes|no|yes", "Mon|Tue|Wed", "Jan|Feb|Mar",
			"E10|F32|G40", "0x1F|0x2A", "1_000|2_000", "3rd Ave 2019|5th Ave 2020", "Order 2024-001|Order 2024-002",
			"May 4|May 5", "N/A|low|high", "50%|other|20%", "AA-11-BB|CC-22-DD", "true|false|maybe"},
		table.Boolean: {"TRUE|False|true"},
		table.Time: {"2019-01-31|2019-02-28", "2019-01-31 10:00:00|2019-02-28 11:30:59",
			"2019-01-31T10:00:00.123Z|2019-02-28T11:30:59Z", "31.01.2019|28.02.2019", "01/31/2019|02/28/2019",
			"2019/01/31|2019/02/28", "31 Jan 2019|28 Feb 2019", "2019-01|2019-02", "2019-W05|2019-W06"},
		table.Text: {"|NA|"},
	} {
		for _, texts := range columns {
			c := read(t, columnOf(slices.Repeat(strings.Split(texts, "|"), 12)...), table.Options{}).Schema().Columns[0]
			demand.Equal(t, c.Kind, kind, "%s (%s)", texts, c.Note)
		}
	}
	var many []string
	for i := range 60 {
		many = append(many, fmt.Sprint("text ", i))
	}
	for _, test := range []struct {
		texts       []string
		given, want table.Kind
	}{
		{many, "", table.Text},
		{many, table.Category, table.Category},
		{[]string{"1", "2"}, table.Category, table.Category},
		{[]string{"1", "0"}, table.Boolean, table.Boolean},
		{[]string{"1", "2", "x"}, table.Category, table.Category},
		{[]string{"1", "2", "x"}, table.Text, table.Text},
		{[]string{"TRUE", "FALSE", "1", "0"}, "", table.Boolean},
		{[]string{"1", "0"}, "", table.Number},
	} {
		o := table.Options{Kinds: map[string]table.Kind{}}
		if test.given != "" {
			o.Kinds["v"] = test.given
		}
		kind := read(t, columnOf(test.texts...), o).Schema().Columns[0].Kind
		demand.Equal(t, kind, test.want, "%v, given as %q", test.texts, test.given)
	}
}

// TestReadOtherwise: a note says so where a value could have been read otherwise. Dates with dots are read with the day
// first, which is certain where a day is above 12.
func TestReadOtherwise(t *testing.T) {
	for _, test := range []struct {
		texts []string
		note  string // empty: none
	}{
		{[]string{"2.596", "1.680", "874", "12.001"}, `"2.596" is read as 2.596 (with --decimal , it would be 2596)`},
		{[]string{"2.596", "1.680", "3.001", "874", "12.01"}, ""},
		{[]string{"2.596", "1.680", "3.001", "0.874", "12"}, ""},
		{[]string{"2.596", "1.680", "3.874", "12.001"}, ""}, // as "%.3f" writes them
		{[]string{"12/31/62", "1/2/86"}, `"12/31/62" is read as a time of this century`},
		{[]string{"15-Jan-62", "2-Feb-86"}, `"15-Jan-62" is read as a time of this century`},
		{[]string{"12/31/69", "1/2/24"}, ""},
		{[]string{"12/31/2062", "1/2/2086"}, ""},
		{[]string{"03.04.2024", "05.06.2024"}, "give --layout v=%m.%d.%Y"},
		{[]string{"3.4.2024", "12.6.2024 10:00"}, "give --layout v=%m.%d.%Y"},
		{[]string{"03.04.2024", "13.06.2024"}, ""},
		{[]string{"03/14/2024", "05/06/2024"}, ""},
		{[]string{"2024-01-02T10:00:00.5", "2024-01-03T10:00:00.5"}, ""},
		{[]string{"TRUE", "FALSE", "1", "2", "3", "4", "5"}, "true or false among numbers, 2 of 7 values, are levels"},
		{strings.Fields("1kg 2kg 3kg 4kg 5kg 6kg 7kg 8kg 9.5kg 10kg 1,100kg"), `"1,100kg" and others are numbers ` +
			`with a unit, which are read as texts: leave out "kg"`},
		{strings.Fields("1kg 2kg 3kg 4kg 5kg 6kg 7kg 8kg 9.5kg 10kg"), ""},
		{strings.Fields("1kg 2kg 3kg 4kg 5kg 6kg 7kg 8kg 9.5kg 10kg 11g n/k"),
			`write all in one unit, and leave out "g" and "kg"`},
		{strings.Split("CHF 1|CHF 2|CHF 3|CHF 4|CHF 5|CHF 6|7|8|9|10|11|12", "|"),
			`write all in one unit, and leave out "CHF"`},
		{strings.Fields("1A 2B 3C 4D 5E 6F 7A 8B 9C 10D 11E 12F"), ""},
		{strings.Fields("SKU01 SKU02 SKU03 SKU04 SKU05 SKU06 SKU07 SKU08 SKU09 SKU10 SKU11 SKU12"), ""},
		{strings.Fields("00 01 02 03 04 05 06 07 08 09 10 11 12 13 14 15 16 17 18 19"), ""},
		{strings.Fields("00 01 02 03 04 05 06 07 08 09 10 11 12 13 14 15 16 17 18 19 20"),
			"numbers with leading zeros are read as codes, of which the column has too many for a category; if they are " +
				"amounts, give --type v=number"},
	} {
		notes := read(t, columnOf(test.texts...), table.Options{}).Notes()
		one := len(notes) == 1 && strings.Contains(notes[0], test.note)
		if test.note == "" && len(notes) > 0 || test.note != "" && !one {
			t.Errorf("%v: notes %q, want %q", test.texts, notes, test.note)
		}
	}
}

// TestPointsBetweenThousands: where the delimiter is ; and no number has another point, 1.935 may be 1935.
func TestPointsBetweenThousands(t *testing.T) {
	for text, want := range map[string]string{
		"v;w\n1.935;1\n2.596;2\n3.001;3\n":                  `"1.935" is read as 1.935 (with --decimal , it would be 1935)`,
		"v;w\n1.935;1\n2.596;2\n3.001;3.5\n":                "",
		"v,w\n1.935,1\n2.596,2\n3.001,3\n":                  "",
		"v;w\n871.203;1\n412;2\n2.746.324;3\n1.000.000;3\n": "numbers have a decimal comma, as those of column v",
	} {
		if notes := strings.Join(read(t, text, table.Options{}).Notes(), "\n"); want == "" && notes != "" || !strings.Contains(notes, want) {
			t.Errorf("%q: notes %q, want %q", text, notes, want)
		}
	}
}

// TestMidnights: a note says so if the times with a zone are midnights to the east of UTC, which are on the day before.
func TestMidnights(t *testing.T) {
	for _, test := range []struct {
		texts []string
		hours string // empty: no note
	}{
		{[]string{"2024-01-01T00:00:00+09:00", "2024-01-02T00:00:00+09:00"}, "15:00"},
		{[]string{"1960-01-01T00:00:00+01:00", "1960-07-01T00:00:00+02:00"}, "22:00 or 23:00"},
		{[]string{"2024-01-01T00:00:00-05:00", "2024-01-02T00:00:00-05:00"}, ""}, // the same day
		{[]string{"2024-01-01T10:00:00Z", "2024-01-02T17:00:00Z"}, ""},
		{[]string{"2024-01-01T23:30:00Z", "2024-01-02T23:30:00Z"}, ""},
		{[]string{"2024-01-01 23:00", "2024-01-02 23:00"}, ""},
	} {
		notes := strings.Join(read(t, columnOf(test.texts...), table.Options{}).Usable("v", "").Notes(), "")
		if want := "all times of column v are at " + test.hours + " in UTC"; test.hours == "" && notes != "" ||
			test.hours != "" && !strings.Contains(notes, want) {
			t.Errorf("%v: notes %q", test.texts, notes)
		}
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	demand.NoError(t, err)
	text := columnOf("2024-01-01T00:00:00+01:00", "2024-01-02T00:00:00+01:00")
	if notes := read(t, text, table.Options{Location: berlin}).Usable("v", "").Notes(); len(notes) > 0 {
		t.Errorf("with the zone: %q", notes)
	}
}
