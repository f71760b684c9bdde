package table

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// csv reads a CSV file twice: for the kinds of the columns, and for their values. It reads it as Windows-1252 if it is
// not UTF-8.
func (in *input) csv(compression string, windows bool) (*Table, error) {
	s, err := in.records(compression, windows)
	var builders []*builder
	if err == nil {
		builders, err = in.infer(s)
	}
	if err == nil {
		err = in.fill(s, builders)
	} else if err == errNotUTF8 || s.cleaner != nil && s.cleaner.notUTF8() {
		in.notes = []string{"the file is not UTF-8; it was read as Windows-1252"}
		return in.csv(compression, true)
	}
	if err = s.failed(nil, err); err != nil {
		return nil, s.advise(err)
	}
	if c := s.cleaner; c.bad > 0 {
		in.notes = append(in.notes, fmt.Sprintf("U+FFFD stands for %s that cannot be decoded, the first in line %d",
			plural(c.bad, "byte"), c.badLine))
	}
	if s.trailing {
		in.notes = append(in.notes, "each row ends with a delimiter, unlike the header; the empty last field is left out")
	}
	format := strings.Join(slices.DeleteFunc([]string{"CSV", "delimiter " + s.delimiter(), s.encoding, compression},
		func(part string) bool { return part == "" }), ", ")
	t := in.finish(format, len(s.lines), collect(builders, (*builder).finish))
	t.lines = s.lines
	return t, nil
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
	s.want, err = in.wanted(s.names, line)
	return err
}

// infer reads the header and all rows for the kinds of the columns.
func (in *input) infer(s *records) ([]*builder, error) {
	if err := in.header(s); err != nil {
		return nil, err
	}
	builders := make([]*builder, len(s.want))
	for k, i := range s.want {
		var err error
		if builders[k], err = in.newBuilder(s.names[i]); err != nil {
			return nil, err
		}
	}
	if err := s.rows(in.limits.Cells/int64(len(builders)), func(line int, fields [][]byte) error {
		for k, b := range builders {
			b.add(fields[s.want[k]], len(s.lines), line)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	if err := in.checkRows(int64(len(s.lines)), len(builders)); err != nil {
		return nil, err
	}
	for _, b := range builders {
		if err := b.resolve(len(s.lines)); err != nil {
			return nil, err
		}
	}
	return builders, nil
}

// fill reads all rows again, for their values.
func (in *input) fill(first *records, builders []*builder) error {
	s, err := in.records(first.compression, first.windows)
	if err != nil {
		return err
	}
	_, _, err = s.next()
	s.names, s.trailing = first.names, first.trailing
	if err == nil {
		err = s.rows(int64(len(first.lines)), func(line int, fields [][]byte) error {
			if len(s.lines) > len(first.lines) {
				return nil
			}
			for k, b := range builders {
				field := first.want[k]
				if text := fields[field]; b.kind == Category && len(text) > 0 && in.isMissing(text) && s.quoted(field) {
					b.quoted[string(text)]++
				}
				if e := b.set(len(s.lines)-1, fields[field]); e != nil {
					e.Row, e.Line, e.Column = len(s.lines), line, b.name
					return e
				}
			}
			return nil
		})
	}
	if err == nil && len(s.lines) != len(first.lines) {
		err = &Error{Problem: "the file changed while it was read", Fix: "read it again when it is complete"}
	}
	return err
}
