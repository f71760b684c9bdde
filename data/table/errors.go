package table

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Error is a mistake in a file, or in what was asked of it: something that the user can mend. Its text is one sentence.
type Error struct {
	File    string // as it was given to Open
	Row     int    // from 1, without the header; 0 if the problem is not in one row
	Line    int    // line of a CSV file where the row begins, from 1; 0 if there is none
	Column  string // "" if the problem is not in one column
	Problem string // what is wrong
	Fix     string // what to do; "" if there is nothing to say
	Err     error  // the cause, if another error is
}

// Error returns `FILE, row 3 (line 4), column "x": PROBLEM; FIX`.
func (e *Error) Error() string {
	file, row, column := e.File, "", ""
	if quoted := strconv.Quote(filepath.ToSlash(file)); file != "" && len(quoted) != len(file)+2 { // it would break the line
		file = quoted
	}
	switch {
	case e.Row > 0 && e.Line > 0:
		row = fmt.Sprintf("row %d (line %d)", e.Row, e.Line)
	case e.Row+e.Line > 0:
		row = fmt.Sprintf("%s %d", map[bool]string{true: "row", false: "line"}[e.Row > 0], e.Row+e.Line)
	}
	if e.Column != "" {
		column = "column " + quote(e.Column)
	}
	return joined("; ", joined(": ", joined(", ", file, row, column), e.Problem), e.Fix)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// quote quotes a text from a file for a sentence: on one line, printable, and short.
func quote(s string) string {
	text := fmt.Sprintf("%.40q", s)
	if utf8.RuneCountInString(s) > 40 {
		text = strings.TrimSuffix(text, `"`) + `..."`
	}
	return text
}

// printable is such a text without quotes.
func printable(s string) string {
	text := quote(s)
	return text[1 : len(text)-1]
}

// plural returns "1 row" or "2 rows".
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
