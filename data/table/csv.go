package table

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gomlx/gomlx/support/xslices"
)

// csv reads CSV files twice: for the kinds of the columns, and for their values.
func (in *input) csv() (*Data, error) {
	s, err := in.pass(nil, func(s *records, line int, fields [][]byte) error {
		for k, b := range s.builders {
			b.add(fields[s.want[k]], len(s.lines), line)
		}
		return nil
	})
	if err == nil {
		err = in.checkRows(int64(len(s.lines)), len(s.builders))
	}
	in.dots = s.delim == ';' && !slices.ContainsFunc(s.builders, func(b *builder) bool { return b.decimals })
	comma, commas := "", 0 // a column of numbers with a decimal comma, and their number
	for _, b := range s.builders {
		if err == nil {
			err = b.resolve(len(s.lines))
		}
		if err == nil && b.Kind == Number && b.commas > 0 {
			comma, commas = cmp.Or(comma, b.Name), commas+b.commas
		}
	}
	if in.o.Decimal == 0 && commas > 1 && s.delim != ',' && err == nil { // one may be a mistake
		other := *in
		other.found, other.o.Decimal, other.parts = true, ',', xslices.Map(in.parts, func(p *part) *part {
			q := *p
			return &q
		})
		other.begin()
		if t, err := other.csv(); err == nil {
			t.notes = append(t.notes, "numbers have a decimal comma, as those of column "+printable(comma)+"; --decimal . changes that")
			return t, nil
		}
	}
	if err == nil {
		err = in.fill(s)
	}
	if err != nil {
		return nil, err
	}
	format := joined(", ", "CSV", "delimiter "+s.delimiter(), s.encoding, s.part.compression)
	return in.table(format, len(s.lines), s.lines).with(xslices.Map(s.builders, (*builder).finish)), nil
}

// pass reads the files, and calls use for each row below the headers, as many as an earlier pass has found. A file that
// is not UTF-8 is read as Windows-1252.
func (in *input) pass(earlier *records, use func(*records, int, [][]byte) error) (s *records, err error) {
	s = &records{}
	again, each := false, use
	for _, p := range in.parts {
		if earlier == nil {
			p.first = len(s.lines)
		}
		if s, err = in.records(p, s); err == nil {
			err = in.header(s)
		}
		if s.of = p.end; err == nil {
			err = s.rows(in.limits.Cells/int64(len(s.want)), each)
		}
		if err == nil && p.windows && s.cleaner.bad > 0 {
			err = &Error{Line: s.cleaner.badLine, Problem: "a byte that neither UTF-8 nor Windows-1252 has", Fix: "convert the file to UTF-8"}
		}
		if !p.windows && (err == errNotUTF8 || err != nil && s.cleaner != nil && s.cleaner.notUTF8()) {
			p.windows, again, err = true, true, nil
			each = func(*records, int, [][]byte) error { return nil } // the others may not be UTF-8, either
		} else if o := in.o; p.starts == "" && errors.Is(err, csv.ErrBareQuote) && s.delim != ' ' && o.Comment == 0 && o.Skip == 0 {
			if p.starts, again, err = "\n,;\t|"+string(rune(s.delim)), true, nil; len(s.names) > 1 {
				p.starts, p.delim = "\n"+string(rune(s.delim)), s.delim
			}
		} else if err != nil {
			break
		} else if earlier == nil {
			p.end = len(s.lines)
			for _, text := range s.noted() {
				in.note(p, text)
			}
		}
	}
	if again {
		in.begin()
		return in.pass(earlier, use)
	}
	return s, in.placed(s.failed(nil, err), s.part)
}

// header reads the names of the columns, below titles. Without names they are c1, c2, ...
func (in *input) header(s *records) error {
	rows, lines := s.head(s.delim)
	above, names, typed := 0, true, true
	if len(rows) > 0 && in.o.Skip == 0 && !in.o.NumericNames && !in.o.NoHeader {
		above, names, typed = in.top(rows)
		if above > 0 && (!names || !typed && len(rows[above-1]) == len(rows[above])) && lines[above-1] == lines[above]-1 &&
			!strings.HasPrefix(rows[above-1][0], "#") && texts(rows[above-1]) > 0 {
			return &Error{Line: lines[above-1], Problem: "the line is neither the header of the rows below it nor like them",
				Fix: fmt.Sprintf("give --no-header if it is a row, or --skip %d if it is a title, with --no-header if no names follow",
					lines[above-1])}
		}
		if above > 0 && strings.HasPrefix(rows[above-1][0], "#") &&
			strings.Contains(strings.TrimPrefix(strings.Join(rows[above], ""), "#"), "#") {
			return &Error{Line: lines[above], Problem: "the header has a # inside, which may begin a comment as in the line above",
				Fix: fmt.Sprintf("give --skip %d if it is part of a name, or take comments out", lines[above]-1)}
		}
		if n := tables(rows[:above], len(rows[above])); n > 2 {
			return &Error{Line: lines[above], Fix: fmt.Sprintf("give --skip %d if it does, or take the others out", lines[above]-1),
				Problem: fmt.Sprintf("the table seems to begin here, but %d lines above may be of another one", n)}
		}
	} else if len(rows) > 0 && !in.o.NumericNames {
		names, typed = in.heads(rows)
	}
	if above > 0 {
		s.notes = append(s.notes, fmt.Sprintf("the table begins in line %d; left out: %s above it", lines[above],
			plural(above, "line")))
	}
	for range above {
		if _, _, err := s.next(); err != nil {
			return err
		}
	}
	fields, line, err := s.next()
	if err == io.EOF {
		return &Error{Problem: "the file has no text", Fix: "a table needs a header and at least two rows"}
	} else if err != nil {
		return err
	}
	for i, field := range fields {
		name := string(field)
		s.header = append(s.header, name)
		if name == "" {
			name = fmt.Sprintf("column %d", i+1)
		}
		s.names = append(s.names, name)
	}
	if n := len(s.names) + 1; names && above+1 < len(rows) {
		fields, same := usual(rows)
		if first := rows[above+1]; fields == n && same > 1 && len(first) == n && strings.TrimSpace(first[n-1]) != "" {
			s.names = slices.Insert(s.names, 0, "column 1")
			s.notes = append(s.notes, "the rows have a field more than the header: the first one has no name, as R writes "+
				"row names")
		}
	}
	unclear := func(what string) error {
		return &Error{Line: line, Problem: "the first line may have the names of the columns, or " + what,
			Fix: "give --no-header if it is a row, or write names that are words"}
	}
	isNumber := func(name string) bool { return in.kindOf(name) == Number }
	if !typed && !in.o.NoHeader && slices.ContainsFunc(s.names, isNumber) {
		return unclear("a row, as it has a number")
	}
	if s.again = in.o.NoHeader || !names; s.again {
		s.header = nil
		if !in.o.NoHeader && years(s.names) {
			return unclear("a row of numbers like those below")
		}
		for i := range s.names {
			s.names[i] = fmt.Sprintf("c%d", i+1)
		}
		s.notes = append(s.notes, fmt.Sprintf("the file has no header: line %d has values; the columns are named c1 to c%d",
			line, len(s.names)))
	}
	if s.names, s.want, err = in.wanted(s.part, s.names, line); err != nil || s.builders != nil {
		return err
	}
	s.builders = make([]*builder, len(s.want))
	for k := 0; k < len(s.want) && err == nil; k++ {
		s.builders[k], err = in.newBuilder(s.names[s.want[k]])
	}
	return err
}

// fill reads all rows again, for their values.
func (in *input) fill(first *records) error {
	again, err := in.pass(first, func(s *records, line int, fields [][]byte) error {
		if len(s.names) != len(first.names) {
			return nil
		}
		for k, b := range first.builders {
			if e := b.set(len(s.lines)-1, fields[first.want[k]]); e != nil {
				e.Row, e.Line, e.Column = len(s.lines), line, b.Name
				return e
			}
		}
		return nil
	})
	if err == nil && (len(again.lines) != len(first.lines) || len(again.names) != len(first.names)) {
		err = &Error{Problem: "the file changed while it was read", Fix: "read it again when it is complete"}
	}
	return err
}
