package table

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// delimiters are those that are found, the preferred one first.
const delimiters = ",;\t|"

// errNotUTF8 says that a file is to be read again as Latin-1.
var errNotUTF8 = errors.New("not UTF-8")

// scanner splits a text into rows of fields.
type scanner struct {
	r       io.Reader
	buf     []byte // what is read and not yet used is buf[start:]
	start   int
	end     error // of r
	delim   byte
	limit   int // largest row
	line    int // line of the next row
	fields  [][]byte
	record  []byte // the last row, as it is in the file
	anyUTF8 bool   // the text was decoded: it is UTF-8
}

// fill reads more. It fails if the row is too large, or r fails; at the end of r it returns io.EOF.
func (s *scanner) fill() error {
	if s.end != nil {
		return s.end
	}
	if s.start > 0 {
		s.buf = s.buf[:copy(s.buf, s.buf[s.start:])]
		s.start = 0
	}
	if len(s.buf) > s.limit {
		return &Error{Line: s.line, Problem: "a row is longer than " + bytesText(int64(s.limit)),
			Fix: "check the ends of lines and the quotes"}
	}
	if len(s.buf) == cap(s.buf) {
		s.buf = append(make([]byte, 0, max(2*cap(s.buf), 1<<18)), s.buf...)
	}
	for empty := 0; empty < 100; empty++ {
		n, err := s.r.Read(s.buf[len(s.buf):cap(s.buf)])
		s.buf = s.buf[:len(s.buf)+n]
		if err != nil {
			s.end = err
			if err != io.EOF && n == 0 {
				return err
			}
		}
		if n > 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}

// next returns the fields of the next row that is not blank, and its line. They are valid until the next call. Fields
// have no quotes and no surrounding spaces.
func (s *scanner) next() (fields [][]byte, line int, err error) {
	for {
		from := 0 // where to look for the end of the line
		for {
			if n := bytes.IndexByte(s.buf[s.start+from:], '\n'); n >= 0 {
				from += n + 1
				break
			}
			from = len(s.buf) - s.start
			if err := s.fill(); err == io.EOF && from > 0 {
				break
			} else if err != nil {
				return nil, 0, s.wrap(err)
			}
		}
		row := s.buf[s.start : s.start+from]
		if bytes.IndexByte(row, '"') >= 0 {
			used, err := s.quoted()
			if err != nil {
				return nil, 0, s.wrap(err)
			}
			row = s.buf[s.start : s.start+used]
		} else if err := s.check(row); err != nil {
			return nil, 0, err
		} else {
			s.split(endless(row))
		}
		line := s.line
		s.line += bytes.Count(row, []byte{'\n'})
		s.start += len(row)
		if len(s.fields) == 1 && len(s.fields[0]) == 0 && bytes.IndexByte(row, '"') < 0 {
			continue // a blank line
		}
		s.record = row
		return s.fields, line, nil
	}
}

// wrap adds the line to an error of the file itself.
func (s *scanner) wrap(err error) error {
	var e *Error
	if err == io.EOF || err == errNotUTF8 || errors.As(err, &e) {
		return err
	}
	return &Error{Line: s.line, Problem: "the file cannot be read: " + cause(err), Err: err}
}

// endless is a row without the end of its line.
func endless(row []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(row, []byte{'\n'}), []byte{'\r'})
}

// check refuses bytes that are not text.
func (s *scanner) check(row []byte) error {
	if bytes.IndexByte(row, 0) >= 0 {
		return &Error{Line: s.line, Problem: "a NUL byte, which text does not have",
			Fix: "give CSV or Parquet; UTF-16 needs a byte order mark"}
	}
	if !s.anyUTF8 && !utf8.Valid(row) {
		return errNotUTF8
	}
	return nil
}

// split splits a row without quotes.
func (s *scanner) split(row []byte) {
	s.fields = s.fields[:0]
	for {
		n := bytes.IndexByte(row, s.delim)
		if n < 0 {
			s.fields = append(s.fields, trim(row))
			return
		}
		s.fields = append(s.fields, trim(row[:n]))
		row = row[n+1:]
	}
}

// quoted splits a row with quotes, which may have several lines, and returns its length. A field is quoted if a quote
// is its first character; elsewhere a quote is a character like others.
func (s *scanner) quoted() (int, error) {
	for size := 0; ; {
		used, open, complete, err := s.tryQuoted(s.buf[s.start:])
		if complete || err != nil {
			return used, err
		}
		if size = len(s.buf) - s.start; s.end == nil {
			// A row that goes on is split again only when there is much more of it.
			for s.end == nil && len(s.buf)-s.start < 2*size {
				if err := s.fill(); err != nil && err != io.EOF {
					var e *Error
					if errors.As(err, &e) && open {
						e.Problem = "a quote is not closed in " + bytesText(int64(s.limit))
					}
					return 0, err
				}
			}
			continue
		}
		if s.end != io.EOF {
			return 0, s.end
		}
		if open {
			return 0, &Error{Line: s.line, Problem: "a quote is not closed before the end of the file",
				Fix: `close it; a quote inside quotes is written ""`}
		}
		return used, nil
	}
}

// tryQuoted splits the row at the beginning of b. complete says that its end is in b; open, that b ends within quotes.
func (s *scanner) tryQuoted(b []byte) (used int, open, complete bool, err error) {
	s.fields = s.fields[:0]
	i := 0
	for {
		for i < len(b) && (b[i] == ' ' || b[i] == '\t') && b[i] != s.delim {
			i++
		}
		if i < len(b) && b[i] == '"' {
			i++
			start, escaped := i, false
			for {
				n := bytes.IndexByte(b[i:], '"')
				if n < 0 {
					return len(b), true, false, nil
				}
				if i += n + 1; i < len(b) && b[i] == '"' {
					i++
					escaped = true
					continue
				}
				break
			}
			field := b[start : i-1]
			if err := s.check(field); err != nil {
				return 0, false, false, err
			}
			if escaped {
				field = bytes.ReplaceAll(field, []byte(`""`), []byte(`"`))
			}
			s.fields = append(s.fields, trim(field))
			for i < len(b) && (b[i] == ' ' || b[i] == '\t') && b[i] != s.delim {
				i++
			}
			if i < len(b) && b[i] != s.delim && b[i] != '\n' && b[i] != '\r' {
				return 0, false, false, &Error{Line: s.line + bytes.Count(b[:i], []byte{'\n'}),
					Problem: fmt.Sprintf("%s follows a closing quote", quote(string(b[i:i+1]))),
					Fix:     `a quote inside quotes is written ""`}
			}
			if i < len(b) && b[i] == '\r' {
				i++
			}
		} else {
			start := i
			for i < len(b) && b[i] != s.delim && b[i] != '\n' {
				i++
			}
			field := b[start:i]
			if i == len(b) || b[i] == '\n' {
				field = bytes.TrimSuffix(field, []byte{'\r'})
			}
			if err := s.check(field); err != nil {
				return 0, false, false, err
			}
			s.fields = append(s.fields, trim(field))
		}
		if i == len(b) {
			return i, false, false, nil
		}
		i++
		if b[i-1] == '\n' {
			return i, false, true, nil
		}
		if b[i-1] != s.delim { // a carriage return that ends no line
			return 0, false, false, &Error{Line: s.line, Problem: "a carriage return follows a closing quote",
				Fix: "end lines with a newline"}
		}
	}
}

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
	defer func() { close() }()
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
	close()
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
	t, err := in.finish(format, rows, columns)
	if err != nil {
		return nil, err
	}
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
	if numbers == len(fields) {
		return nil, &Error{Line: line, Problem: "the first line has numbers instead of the columns' names",
			Fix: "put a header above it"}
	}
	return names, in.checkNames(names, line)
}

// setLayout gives a column the layout of its times.
func (in *input) setLayout(g *guess) error {
	layout := in.o.Layouts[g.name]
	if layout == "" {
		return nil
	}
	var err error
	if g.dates.layout, err = goLayout(layout); err != nil {
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
			if field := fields[at[k]]; in.isMissing(field) {
				g.missing++
			} else {
				g.add(field, rows, line)
			}
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
	kind, note, later, err := g.resolve(in.o.Kinds[g.name])
	if err != nil {
		return nil, err
	}
	b := newBuilder(g.name, kind, rows, g.exact32)
	b.decimal, b.dates, b.note, b.given = g.decimal, g.dates, note, in.o.Kinds[g.name] != ""
	if b.problem = later; later != nil {
		later.File = in.name
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
			if field := fields[at[k]]; in.isMissing(field) {
				b.setMissing(i)
			} else if !b.set(i, field) {
				return changed()
			}
		}
	}
}

// latin1Reader decodes Latin-1.
type latin1Reader struct {
	r    io.Reader
	buf  [1 << 14]byte
	text []byte
	left []byte // of text, not yet read
}

func (l *latin1Reader) Read(p []byte) (int, error) {
	if len(l.left) == 0 {
		n, err := l.r.Read(l.buf[:])
		if n == 0 {
			return 0, err
		}
		l.text = l.text[:0]
		for _, c := range l.buf[:n] {
			l.text = utf8.AppendRune(l.text, rune(c))
		}
		l.left = l.text
	}
	n := copy(p, l.left)
	l.left = l.left[n:]
	return n, nil
}

// utf16Reader decodes UTF-16.
type utf16Reader struct {
	r     *bufio.Reader
	order binary.ByteOrder
	high  rune // first half of a surrogate pair
	text  []byte
	left  []byte // of text, not yet read
}

func (u *utf16Reader) Read(p []byte) (int, error) {
	if len(u.left) == 0 {
		if err := u.decode(); err != nil {
			return 0, err
		}
	}
	n := copy(p, u.left)
	u.left = u.left[n:]
	return n, nil
}

// decode decodes the next part of the text.
func (u *utf16Reader) decode() error {
	u.text = u.text[:0]
	for len(u.text) < 1<<14 {
		var unit [2]byte
		if _, err := io.ReadFull(u.r, unit[:]); err == io.ErrUnexpectedEOF {
			return &Error{Problem: "the UTF-16 text has an odd number of bytes", Fix: "make the file again"}
		} else if err == io.EOF && len(u.text) > 0 {
			break
		} else if err != nil {
			return err
		}
		r := rune(u.order.Uint16(unit[:]))
		if u.high != 0 {
			r = utf16.DecodeRune(u.high, r)
			u.high = 0
		} else if utf16.IsSurrogate(r) {
			u.high = r
			continue
		}
		u.text = utf8.AppendRune(u.text, r)
	}
	u.left = u.text
	return nil
}

// returnReader replaces carriage returns by newlines.
type returnReader struct{ r io.Reader }

func (c *returnReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	for i := range p[:n] {
		if p[i] == '\r' {
			p[i] = '\n'
		}
	}
	return n, err
}
