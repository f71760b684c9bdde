package table

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strings"
	"time"
)

// head reads the first rows of the text's beginning, as far as they can be read, and the line of each.
func (s *records) head(delim byte) (rows [][]string, lines []int) {
	r := newCSV(bytes.NewReader(s.start), delim, s.o.Comment)
	for len(rows) < 200 {
		fields, err := r.Read()
		if err != nil || len(rows) > 0 && len(s.start) == sample && r.InputOffset() == sample {
			break
		}
		line, _ := r.FieldPos(0)
		if len(fields) > 1 || strings.Trim(fields[0], blanks) != "" {
			rows, lines = append(rows, fields), append(lines, line+s.above)
		}
	}
	return rows, lines
}

// sniff finds the delimiter that splits most rows into one number of fields, and, of those, the one with more fields.
// A table of one column has a comma.
func (s *records) sniff() byte {
	best, bestShare, bestFields := byte(','), 0., 1
	for _, delim := range []byte(",;\t|") { // the preferred one first
		rows, _ := s.head(delim)
		if fields, same := usual(rows); fields > 1 {
			share := float64(same) / float64(len(rows))
			if share > bestShare || share == bestShare && fields > bestFields {
				best, bestShare, bestFields = delim, share, fields
			}
		}
	}
	return best
}

// usual is the number of fields that most rows have, the largest of several, and the number of these rows. A row of one
// text with #, which may be a comment, does not count.
func usual(rows [][]string) (fields, same int) {
	count := map[int]int{}
	for _, row := range rows {
		if len(row) > 1 || !strings.HasPrefix(row[0], "#") {
			count[len(row)]++
		}
	}
	for n, rows := range count {
		if rows > same || rows == same && n > fields {
			fields, same = n, rows
		}
	}
	return fields, same
}

// texts is the number of fields of a row that are not empty.
func texts(row []string) (n int) {
	for _, text := range row {
		if strings.Trim(text, blanks) != "" {
			n++
		}
	}
	return n
}

// filled says whether more than half of so many fields have a text.
func filled(row []string, fields int) bool { return 2*texts(row) > fields }

// top finds the header: how many rows are above it, titles, most of whose fields are empty, or which have another
// number of fields than the table. names and typed are those of heads.
func (in *input) top(rows [][]string) (above int, names, typed bool) {
	fields, _ := usual(rows)
	full := func(row []string) bool { return len(row) == fields && filled(row, fields) }
	above = max(0, slices.IndexFunc(rows, full))
	names, typed = in.heads(rows[above:])
	if above > 0 && filled(rows[above-1], fields) && (!names || !typed) { // with a name too few or too many
		above--
		names, typed = in.heads(rows[above:])
	}
	return above, names, typed
}

// tables is the number of rows with so many fields and several texts: above a table they may be of another one.
func tables(rows [][]string, fields int) (n int) {
	for _, row := range rows {
		if len(row) == fields && texts(row) > 1 {
			n++
		}
	}
	return n
}

// kindOf is what a text is by itself: Number, Time, Boolean, or else Text; "" for a missing one.
func (in *input) kindOf(text string) Kind {
	b := bytes.Trim([]byte(text), blanks)
	_, _, how := parseMarked(b, cmp.Or(in.o.Decimal, '.'))
	d := dates{layouts: families, location: time.UTC, known: map[string]found{}}
	possible, _ := d.matching(b, allFamilies)
	switch {
	case in.isMissing(b):
		return ""
	case how != notNumber && b[0] != '(': // (1) over numbers is a name
		return Number
	case possible != 0:
		return Time
	case strings.EqualFold(string(b), "true") || strings.EqualFold(string(b), "false"):
		return Boolean
	}
	return Text
}

// heads says whether the first row has names: one of them is no value of its column, which has nine in ten of one kind
// below, or there are texts alone, and typed is false.
func (in *input) heads(rows [][]string) (names, typed bool) {
	for c, first := range rows[0] {
		here := in.kindOf(first)
		if len(rows) == 1 && here != Text && here != "" {
			return false, true
		}
		count, all := map[Kind]int{}, 0
		for _, row := range rows[1:min(len(rows), 50)] {
			if c < len(row) {
				if kind := in.kindOf(row[c]); kind != "" {
					count[kind], all = count[kind]+1, all+1
				}
			}
		}
		for _, kind := range []Kind{Number, Time, Boolean} {
			if n := count[kind]; n > 0 && 10*n >= 9*all {
				typed = true
				names = names || here != kind && here != ""
			}
		}
	}
	return names || !typed, typed
}

// years says whether numbers of a first row may be names: years, or at least three in a row, such as 0, 1, 2.
func years(row []string) bool {
	var list []float64
	all := true
	for _, text := range row {
		if v, how := parseNumber([]byte(strings.Trim(text, blanks)), '.'); how >= plain {
			list = append(list, v)
			all = all && v >= 1900 && v <= 2100 && v == math.Trunc(v)
		}
	}
	for i := 1; i < len(list) && len(list) >= 3; i++ {
		if list[i] != list[i-1]+1 {
			return all
		}
	}
	return len(list) >= 3 || len(list) > 0 && all
}
