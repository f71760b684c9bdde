package table_test

import (
	"fmt"
	"strings"
	"testing"

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
		{"words among few numbers", quarter + "gone\n", table.Options{},
			"n [7 7 7 7 7 7 7 7 7 7 7 7 NMAA NMAA NMAA NMAA gone]", `"NMAA", "gone" among numbers, 5 of 17 values, are levels`},
		{"a word that recurs in other columns", "a,b\n1,<5\n2,3\n3,4\n<5,5\n4,6\n", table.Options{}, "a [1 2 3 - 4] b [- 3 4 5 6]",
			`column a: "<5" among numbers, 1 of 5 values, are missing`},
		{"a word among dates", "d,x\n2024-01-01,2\nopen,1\n2024-01-02,1\n2024-01-03,1\nopen,1\n", table.Options{},
			"d [2024-01-01 - 2024-01-02 2024-01-03 -] x [2 1 1 1 1]", `"open" among times, 2 of 5 values, are missing`},
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
