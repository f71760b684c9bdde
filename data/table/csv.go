package table

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// csv reads a CSV file twice: for the kinds of the columns, and for their values. It reads it as Windows-1252 if it is
// not UTF-8.
func (in *input) csv(compression string, windows bool) (*Data, error) {
	s, err := in.pass(&records{}, compression, windows, func(s *records, line int, fields [][]byte) error {
		for k, b := range s.builders {
			b.add(fields[s.want[k]], len(s.lines), line)
		}
		return nil
	})
	if err == errNotUTF8 || err != nil && s.cleaner != nil && s.cleaner.notUTF8() {
		in.notes = []string{"the file is not UTF-8; it was read as Windows-1252"}
		return in.csv(compression, true)
	}
	if err == nil {
		err = in.checkRows(int64(len(s.lines)), len(s.builders))
	}
	for _, b := range s.builders {
		if err == nil {
			err = b.resolve(len(s.lines))
		}
	}
	if err == nil {
		err = in.fill(s)
	}
	if err != nil {
		return nil, err
	}
	if c := s.cleaner; c.bad > 0 {
		in.notes = append(in.notes, fmt.Sprintf("U+FFFD stands for %s that cannot be decoded, the first in line %d",
			plural(c.bad, "byte"), c.badLine))
	}
	for _, odd := range []struct {
		tally
		how string
	}{{s.short, "fewer fields than the header: the last ones are missing"},
		{s.long, "more fields than the header: they are empty, and left out"}} {
		if odd.n > 0 {
			in.notes = append(in.notes, fmt.Sprintf("%s, the first in line %d, with %s", plural(odd.n, "row"), odd.first,
				odd.how))
		}
	}
	in.notes = append(in.notes, s.notes...)
	format := joined(", ", "CSV", "delimiter "+s.delimiter(), s.encoding, compression)
	t := Data{file: in.name, format: format, rows: len(s.lines), lines: s.lines, notes: in.notes, location: in.o.Location}
	return t.with(collect(s.builders, (*builder).finish)), nil
}

// pass reads the file, and calls use for each row below the header, as many as an earlier pass has found.
func (in *input) pass(earlier *records, compression string, windows bool, use func(*records, int, [][]byte) error) (*records, error) {
	s, err := in.records(compression, windows)
	if err == nil {
		err = in.header(s)
	}
	if s.of = len(earlier.lines); err == nil {
		err = s.rows(in.limits.Cells/int64(len(s.want)), use)
	}
	return s, s.failed(nil, err)
}

// header reads the names of the columns, below titles. Without names they are c1, c2, ...
func (in *input) header(s *records) error {
	rows, lines := s.head(s.delim)
	above, names := 0, true
	if len(rows) > 0 && in.o.Skip == 0 && !in.o.NumericNames {
		above, names = in.top(rows)
	} else if len(rows) > 0 && !in.o.NumericNames {
		names, _ = in.heads(rows)
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
	if s.again = in.o.NoHeader || !names; s.again {
		if !in.o.NoHeader && years(s.names) {
			return &Error{Line: line, Fix: "give --no-header if it is a row, or write names that are words",
				Problem: "the first line may have the names of the columns, or a row of numbers like those below"}
		}
		for i := range s.names {
			s.names[i] = fmt.Sprintf("c%d", i+1)
		}
		s.notes = append(s.notes, fmt.Sprintf("the file has no header: line %d has values; the columns are named c1 to c%d",
			line, len(s.names)))
	}
	var note string
	if s.want, note, err = in.wanted(s.names, line); err != nil {
		return err
	} else if note != "" {
		s.notes = append(s.notes, note)
	}
	s.builders = make([]*builder, len(s.want))
	for k := 0; k < len(s.want) && err == nil; k++ {
		s.builders[k], err = in.newBuilder(s.names[s.want[k]])
	}
	return err
}

// fill reads all rows again, for their values.
func (in *input) fill(first *records) error {
	again, err := in.pass(first, first.compression, first.windows, func(s *records, line int, fields [][]byte) error {
		if len(s.names) != len(first.names) {
			return nil
		}
		for k, b := range first.builders {
			field := first.want[k]
			text := fields[field]
			if b.Kind == Category && len(text) > 0 && in.isMissing(text) && s.quoted(field) {
				b.quoted[string(text)]++
			}
			if e := b.set(len(s.lines)-1, text); e != nil {
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
