package table

import (
	"bytes"
	"errors"
	"fmt"
	"io"
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
			// A row that continues is split again only when there is much more of it.
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
