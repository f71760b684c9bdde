package table

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
)

// text opens the text of a CSV file: decompressed, as UTF-8, without a byte order mark. encoding says what was found.
func (in *input) text(compression string, latin1 bool) (s *scanner, close func() error, encoding string, err error) {
	file, err := in.open(compression)
	if err != nil {
		return nil, nil, "", err
	}
	r := bufio.NewReaderSize(file, 1<<16)
	head, _ := r.Peek(3)
	var decoded io.Reader = r
	switch {
	case bytes.HasPrefix(head, []byte("\xEF\xBB\xBF")):
		r.Discard(3)
		encoding = "UTF-8 with a byte order mark"
	case bytes.HasPrefix(head, []byte("\xFF\xFE")):
		r.Discard(2)
		decoded, encoding = &utf16Reader{r: r, order: binary.LittleEndian}, "UTF-16"
	case bytes.HasPrefix(head, []byte("\xFE\xFF")):
		r.Discard(2)
		decoded, encoding = &utf16Reader{r: r, order: binary.BigEndian}, "UTF-16"
	}
	if latin1 && encoding != "UTF-16" {
		decoded, encoding = &latin1Reader{r: r}, "Latin-1"
	}
	text := bufio.NewReaderSize(decoded, 1<<18)
	start, err := text.Peek(1 << 18)
	if err != nil && err != io.EOF {
		file.Close()
		return nil, nil, "", (&scanner{line: 1}).wrap(err)
	}
	s = &scanner{r: text, line: 1, limit: in.limits.Record, delim: in.o.Delim, anyUTF8: encoding == "UTF-16"}
	if bytes.IndexByte(start, '\n') < 0 && bytes.IndexByte(start, '\r') >= 0 {
		s.r = &returnReader{text} // lines of an old Macintosh
		start = bytes.ReplaceAll(start, []byte{'\r'}, []byte{'\n'})
	}
	if first, _, found := bytes.Cut(start, []byte{'\n'}); found && len(first) < 8 && bytes.HasPrefix(first,
		[]byte("sep=")) {
		if first = endless(first); len(first) == 5 && s.delim == 0 { // Excel's own way to name a delimiter
			s.delim = first[4]
		}
		n := bytes.IndexByte(start, '\n') + 1
		io.CopyN(io.Discard, s.r, int64(n))
		start = start[n:]
		s.line = 2
	}
	if s.delim == 0 {
		s.delim = sniff(start)
	}
	return s, file.Close, encoding, nil
}

// sniff finds the delimiter that splits most rows into as many fields as the header, and, of those, the one with more
// fields. A table of one column has a comma.
func sniff(start []byte) byte {
	best, bestShare, bestFields := byte(','), 0., 1
	for _, delim := range []byte(delimiters) {
		s := &scanner{r: bytes.NewReader(start), line: 1, delim: delim, limit: len(start) + 1, anyUTF8: true}
		header, rows, same := 0, 0., 0.
		for rows < 200 {
			fields, _, err := s.next()
			if err != nil || rows > 0 && s.start == len(s.buf) && s.end != nil && len(start) == 1<<18 {
				break
			}
			if header == 0 {
				header = len(fields)
			}
			if rows++; len(fields) == header {
				same++
			}
		}
		if header < 2 || rows == 0 {
			continue
		}
		if share := same / rows; share > bestShare || share == bestShare && header > bestFields {
			best, bestShare, bestFields = delim, share, header
		}
	}
	return best
}

// readCSV reads a CSV file, as Latin-1 if it is not UTF-8.
func (in *input) readCSV(compression string) (*Table, error) {
	t, err := in.csv(compression, false)
	if err == errNotUTF8 {
		in.notes = append(in.notes, "the file is not UTF-8; it was read as Latin-1")
		t, err = in.csv(compression, true)
	}
	return t, err
}

// csv reads the file twice: for the kinds of the columns, and for their values.
func (in *input) csv(compression string, latin1 bool) (*Table, error) {
	s, close, encoding, err := in.text(compression, latin1)
	if err != nil {
		return nil, err
	}
	defer func() { _ = close() }()
	names, err := in.header(s)
	if err != nil {
		return nil, err
	}
	want, err := in.wanted(names)
	if err != nil {
		return nil, err
	}
	var guesses []*guess
	var at []int // the field of each guess
	for i, name := range names {
		if !want[i] {
			continue
		}
		g := in.newGuess(name)
		if err := in.setLayout(g); err != nil {
			return nil, err
		}
		guesses, at = append(guesses, g), append(at, i)
	}
	rows, lines, err := in.infer(s, guesses, at, len(names))
	if err != nil {
		return nil, err
	}
	if err := in.checkRows(int64(rows), len(guesses)); err != nil {
		return nil, err
	}
	builders, err := in.resolve(guesses, rows)
	if err != nil {
		return nil, err
	}
	delim := s.delim
	_ = close()
	if s, close, _, err = in.text(compression, latin1); err != nil {
		close = func() error { return nil }
		return nil, err
	}
	if _, _, err := s.next(); err != nil {
		return nil, changed()
	}
	if err := in.fill(s, builders, at, len(names), rows); err != nil {
		return nil, err
	}
	columns := make([]*column, len(builders))
	for i, b := range builders {
		columns[i] = b.finish()
	}
	format := "CSV, delimiter " + map[byte]string{'\t': "tab", ' ': "space"}[delim]
	if strings.HasSuffix(format, " ") {
		format += string(rune(delim))
	}
	for _, part := range []string{encoding, compression} {
		if part != "" {
			format += ", " + part
		}
	}
	t := in.finish(format, rows, columns)
	t.first, t.lines = lines.first, lines.list
	return t, nil
}

// changed is the error of a file that is not the same when it is read again.
func changed() error {
	return &Error{Problem: "the file changed while it was read", Fix: "read it again when it is complete"}
}

// header reads the names of the columns.
func (in *input) header(s *scanner) ([]string, error) {
	fields, line, err := s.next()
	if err == io.EOF {
		return nil, &Error{Problem: "the file has no text", Fix: "a table needs a header and at least two rows"}
	} else if err != nil {
		return nil, err
	}
	if len(fields) > in.limits.Columns {
		return nil, in.checkNames(make([]string, len(fields)), line)
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
	if numbers == len(fields) && !in.o.NumericNames {
		return nil, &Error{Line: line, Problem: "the first line has numbers instead of the columns' names",
			Fix: "put a header above it"}
	}
	return names, in.checkNames(names, line)
}

// setLayout gives a column the layout of its times.
func (in *input) setLayout(g *guess) error {
	layout := in.o.Layouts[g.name]
	g.dates.given = layout
	if layout == "" {
		return nil
	}
	var err error
	if g.dates.layout, err = compile(layout); err != nil {
		return &Error{Column: g.name, Problem: err.Error()}
	}
	return nil
}

// lines are the lines of the rows.
type lines struct {
	first int
	list  []int32 // nil if row i is at line first + i
}

// add adds the line of row i.
func (l *lines) add(i, line int) {
	switch {
	case i == 0:
		l.first = line
	case l.list != nil:
		l.list = append(l.list, int32(line))
	case line != l.first+i:
		l.list = make([]int32, i, 2*i+64)
		for k := range l.list {
			l.list[k] = int32(l.first + k)
		}
		l.list = append(l.list, int32(line))
	}
}

// infer reads all rows for the kinds of the columns.
func (in *input) infer(s *scanner, guesses []*guess, at []int, fieldsPerRow int) (rows int, l lines, err error) {
	most := in.limits.Cells / int64(len(guesses))
	for {
		fields, line, err := s.next()
		if err == io.EOF {
			return rows, l, nil
		} else if err != nil {
			return 0, l, err
		}
		l.add(rows, line)
		if rows++; int64(rows) > most {
			return 0, l, in.checkRows(int64(rows), len(guesses))
		}
		if len(fields) != fieldsPerRow {
			return 0, l, &Error{Row: rows, Line: line, Problem: fmt.Sprintf("%s, but the header has %d",
				plural(len(fields), "field"), fieldsPerRow),
				Fix: fmt.Sprintf("quote fields that contain the delimiter %s", quote(string(rune(s.delim))))}
		}
		for k, g := range guesses {
			g.add(fields[at[k]], rows, line)
		}
	}
}

// resolve decides the kinds and prepares the columns.
func (in *input) resolve(guesses []*guess, rows int) ([]*builder, error) {
	builders := make([]*builder, len(guesses))
	for i, g := range guesses {
		b, err := in.resolveOne(g, rows)
		if err != nil {
			return nil, err
		}
		builders[i] = b
	}
	return builders, nil
}

func (in *input) resolveOne(g *guess, rows int) (*builder, error) {
	v, err := g.resolve(in.o.Kinds[g.name])
	if err != nil {
		return nil, err
	}
	b := in.newBuilder(g.name, v.kind, rows)
	b.decimal, b.dates, b.note, b.notes = g.decimal, g.dates, v.note, v.notes
	if b.problem = v.later; v.later != nil {
		v.later.File = in.name
	}
	return b, nil
}

// fill reads all rows for their values.
func (in *input) fill(s *scanner, builders []*builder, at []int, fieldsPerRow, rows int) error {
	for i := 0; ; i++ {
		fields, _, err := s.next()
		if err == io.EOF && i == rows {
			return nil
		}
		if err != nil || i == rows || len(fields) != fieldsPerRow {
			return changed()
		}
		for k, b := range builders {
			if !b.set(i, fields[at[k]]) {
				return changed()
			}
		}
	}
}
