package table

import (
	"fmt"
	"io"
)

// readCSV reads a CSV file, as Windows-1252 if it is not UTF-8.
func (in *input) readCSV(compression string) (*Table, error) {
	t, err := in.csv(compression, false)
	if err == errNotUTF8 {
		in.notes = []string{"the file is not UTF-8; it was read as Windows-1252"}
		t, err = in.csv(compression, true)
	}
	return t, err
}

// csv reads the file twice: for the kinds of the columns, and for their values.
func (in *input) csv(compression string, windows bool) (*Table, error) {
	s, err := in.records(compression, windows)
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.file.Close() }()
	builders, err := in.infer(s)
	if err != nil && s.cleaner.notUTF8() {
		return nil, errNotUTF8
	} else if err != nil {
		return nil, in.advise(s, err)
	}
	if c := s.cleaner; c.bad > 0 {
		in.notes = append(in.notes, fmt.Sprintf("U+FFFD stands for %s that cannot be decoded, the first in line %d",
			plural(c.bad, "byte"), c.badLine))
	}
	if s.trailing {
		in.notes = append(in.notes, "each row ends with a delimiter, unlike the header; the empty last field is left out")
	}
	rows := s.row - 1
	if err := in.fill(s, builders, rows); err != nil {
		return nil, in.advise(s, err)
	}
	columns := make([]*column, len(builders))
	for i, b := range builders {
		columns[i] = b.finish()
	}
	format := "CSV, delimiter " + s.delimiter()
	for _, part := range []string{s.encoding, compression} {
		if part != "" {
			format += ", " + part
		}
	}
	t := in.finish(format, rows, columns)
	t.lines = s.lines
	return t, nil
}

// changed is the error of a file that is not the same when it is read again.
func changed() error {
	return &Error{Problem: "the file changed while it was read", Fix: "read it again when it is complete"}
}

// header reads the names of the columns.
func (in *input) header(s *records) error {
	fields, line, err := s.next()
	if err == io.EOF {
		return &Error{Problem: "the file has no text", Fix: "a table needs a header and at least two rows"}
	} else if err != nil {
		return err
	}
	if len(fields) > in.limits.Columns {
		return in.checkNames(make([]string, len(fields)), line)
	}
	names := make([]string, len(fields))
	numbers := 0
	for i, field := range fields {
		names[i] = string(field)
		if _, _, result := parseNumber(field, '.'); result == isNumber {
			numbers++
		}
		if len(field) == 0 {
			names[i] = fmt.Sprintf("column %d", i+1)
		}
	}
	if s.names = names; numbers == len(fields) && !in.o.NumericNames {
		return &Error{Line: line, Problem: "the first line has numbers instead of the columns' names",
			Fix: "put a header above it"}
	}
	return in.checkNames(names, line)
}

// infer reads the header and all rows for the kinds of the columns.
func (in *input) infer(s *records) ([]*builder, error) {
	if err := in.header(s); err != nil {
		return nil, err
	}
	want, err := in.wanted(s.names)
	if err != nil {
		return nil, err
	}
	var guesses []*guess
	for i, name := range s.names {
		if !want[i] {
			continue
		}
		g, err := in.newGuess(name)
		if err != nil {
			return nil, err
		}
		guesses, s.at = append(guesses, g), append(s.at, i)
	}
	rows, most := 0, in.limits.Cells/int64(len(guesses))
	for {
		fields, line, err := s.next()
		if err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		s.lines = append(s.lines, int32(line))
		if rows++; int64(rows) > most {
			break
		}
		if n := len(s.names); rows == 1 && len(fields) == n+1 && len(fields[n]) == 0 {
			s.trailing = true
		}
		if !s.fits(fields) {
			return nil, s.ragged(fields, line)
		}
		for k, g := range guesses {
			g.add(fields[s.at[k]], rows, line)
		}
	}
	if err := in.checkRows(int64(rows), len(guesses)); err != nil {
		return nil, err
	}
	builders := make([]*builder, len(guesses))
	for i, g := range guesses {
		if builders[i], err = g.resolve(rows); err != nil {
			return nil, err
		}
	}
	return builders, nil
}

// ragged is the error of a row with a wrong number of fields.
func (s *records) ragged(fields [][]byte, line int) error {
	e := &Error{Row: s.row - 1, Line: line, Problem: fmt.Sprintf("%s, but the header has %d",
		plural(len(fields), "field"), len(s.names)), Fix: "complete the row, or take it out"}
	switch {
	case s.comment == 0 && len(fields[0]) > 0 && fields[0][0] == '#':
		e.Fix = "give --comment '#' if lines with # are comments"
	case s.trailing && len(fields) == len(s.names):
		e.Problem = "the row has no delimiter at its end, unlike those above"
	case len(fields) > len(s.names):
		e.Fix = "quote fields that contain the delimiter " + s.delimiter()
	}
	return e
}

// fill reads all rows again, for their values.
func (in *input) fill(first *records, builders []*builder, rows int) error {
	s, err := in.records(first.compression, first.windows)
	if err != nil {
		return err
	}
	defer func() { _ = s.file.Close() }()
	if _, _, err := s.next(); err != nil {
		return changed()
	}
	s.names, s.trailing = first.names, first.trailing
	for i := 0; ; i++ {
		fields, line, err := s.next()
		if err == io.EOF && i == rows {
			return nil
		}
		if err != nil || i == rows || !s.fits(fields) {
			return changed()
		}
		for k, b := range builders {
			if e := b.set(i, fields[first.at[k]]); e != nil {
				e.Row, e.Line, e.Column = i+1, line, b.name
				return e
			}
		}
	}
}
