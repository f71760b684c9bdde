package table

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
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
	var where []string
	if quoted := strconv.Quote(e.File); e.File != "" && len(quoted) == len(e.File)+2 {
		where = append(where, e.File)
	} else if e.File != "" { // it would break the line
		where = append(where, quoted)
	}
	switch {
	case e.Row > 0 && e.Line > 0:
		where = append(where, fmt.Sprintf("row %d (line %d)", e.Row, e.Line))
	case e.Row > 0:
		where = append(where, fmt.Sprintf("row %d", e.Row))
	case e.Line > 0:
		where = append(where, fmt.Sprintf("line %d", e.Line))
	}
	if e.Column != "" {
		where = append(where, "column "+quote(e.Column))
	}
	text := e.Problem
	if len(where) > 0 {
		text = strings.Join(where, ", ") + ": " + text
	}
	if e.Fix != "" {
		text += "; " + e.Fix
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// quote quotes a text from a file for a sentence.
func quote(s string) string { return `"` + printable(s) + `"` }

// printable is a text from a file on one line, printable, and short.
func printable(s string) string {
	const most = 40
	runes := []rune(s[:min(len(s), (most+1)*utf8.UTFMax)])
	for i, r := range runes {
		if !unicode.IsPrint(r) {
			runes[i] = utf8.RuneError
		}
	}
	if len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return string(runes)
}

// plural returns "1 row" or "2 rows".
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
