package table

import (
	"fmt"
	"io"
)

// csv reads a CSV file twice: for the kinds of the columns, and for their values. It reads it as Windows-1252 if it is
// not UTF-8.
func (in *input) csv(compression string, windows bool) (*Data, error) {
	s, err := in.pass(compression, windows, func(s *records, line int, fields [][]byte) error {
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
		return nil, s.advise(err)
	}
	if c := s.cleaner; c.bad > 0 {
		in.notes = append(in.notes, fmt.Sprintf("U+FFFD stands for %s that cannot be decoded, the first in line %d",
			plural(c.bad, "byte"), c.badLine))
	}
	if s.trailing {
		in.notes = append(in.notes, "each row ends with a delimiter, unlike the header; the empty last field is left out")
	}
	format := joined(", ", "CSV", "delimiter "+s.delimiter(), s.encoding, compression)
	t := Data{file: in.name, format: format, rows: len(s.lines), lines: s.lines, notes: in.notes, location: in.o.Location}
	return t.with(collect(s.builders, (*builder).finish)), nil
}

// pass reads the file, and calls use for each row below the header.
func (in *input) pass(compression string, windows bool, use func(*records, int, [][]byte) error) (*records, error) {
	s, err := in.records(compression, windows)
	if err == nil {
		err = in.header(s)
	}
	if err == nil {
		err = s.rows(in.limits.Cells/int64(len(s.want)), use)
	}
	return s, s.failed(nil, err)
}

// header reads the names of the columns.
func (in *input) header(s *records) error {
	fields, line, err := s.next()
	if err == io.EOF {
		return &Error{Problem: "the file has no text", Fix: "a table needs a header and at least two rows"}
	} else if err != nil {
		return err
	}
	numbers := 0
	for i, field := range fields {
		name := string(field)
		if _, how := parseNumber(field, '.'); how >= plain {
			numbers++
		}
		if name == "" {
			name = fmt.Sprintf("column %d", i+1)
		}
		s.names = append(s.names, name)
	}
	if numbers == len(fields) && !in.o.NumericNames {
		return &Error{Line: line, Problem: "the first line has numbers instead of the columns' names",
			Fix: "put a header above it"}
	}
	if s.want, err = in.wanted(s.names, line); err != nil {
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
	again, err := in.pass(first.compression, first.windows, func(s *records, line int, fields [][]byte) error {
		if len(s.lines) > len(first.lines) || len(s.names) != len(first.names) {
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
