package table

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"unsafe"

	"github.com/gomlx/gomlx/support/xslices"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/transform"
)

// sample is the size of the text at the beginning by which delimiter and header are judged.
const sample = 1 << 18

// mostRow bounds a row of a CSV file, so that one without an end, or with a quote that is not closed, takes no more.
const mostRow = 8 << 20

var errLongRow = errors.New("long row")

// records reads the rows of a CSV file, the header first.
type records struct {
	csv         *csv.Reader
	left        *io.LimitedReader // of mostRow
	cleaner     *cleaner
	o           *Options
	part        *part
	encoding    string
	delim       byte
	above       int      // lines before the text of csv
	start       []byte   // the beginning of the text
	header      []string // as it is written, if there is one
	names       []string // of the columns, when the header was read
	want        []int    // those that are read
	builders    []*builder
	lines       []int32 // of each row, also of the parts before
	of          int     // number of rows, if it is known
	short, long tally   // rows with fields too few, or with empty ones too many
	comments    tally   // lines with # and a text
	hash        int     // first line of a row that begins with #
	again       bool    // the last row is read again
	last        int     // its line
	fields      [][]byte
	notes       []string
}

// records opens the text of a CSV file: it decodes it, skips lines, and finds the delimiter, or takes that of the part
// before.
func (in *input) records(p *part, before *records) (*records, error) {
	s := &records{o: &in.o, part: p, delim: cmp.Or(in.o.Delim, before.delim, p.delim), lines: before.lines, builders: before.builders}
	if d, c := in.o.Delim, in.o.Comment; d == '"' || c == '"' || d != 0 && d == c {
		return s, &Error{Problem: "the delimiter and the sign of comments must differ, and neither can be a quote"}
	}
	var file, decoded io.Reader = io.NewSectionReader(p.r, 0, p.size), nil
	var err error
	switch p.compression {
	case "gzip":
		file, err = gzip.NewReader(file)
	case "zstd":
		file, err = zstd.NewReader(file, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
	}
	if err != nil {
		return s, fmt.Errorf("%s: %w", p.compression, err) // not io.EOF
	}
	decoded, s.encoding = decode(file, p.windows)
	s.cleaner = newCleaner(s.encoding != "", in.o.NoQuotes, p.starts)
	s.left = &io.LimitedReader{R: transform.NewReader(decoded, s.cleaner), N: mostRow}
	text := bufio.NewReaderSize(s.left, sample)
	skip := in.o.Skip
	first, _ := text.Peek(len("sep=;\n")) // Excel's own way to name a delimiter
	if skip == 0 && bytes.HasPrefix(first, []byte("sep=")) && bytes.HasSuffix(first, []byte("\n")) {
		skip, s.delim = 1, cmp.Or(s.delim, first[len("sep=")])
	}
	for ; s.above < skip; s.above++ {
		s.left.N = mostRow
		if _, err := text.ReadString('\n'); err == io.EOF {
			return s, &Error{Problem: fmt.Sprintf("the file has fewer than %s", plural(skip+1, "line")), Fix: "skip fewer"}
		} else if err != nil {
			return s, err
		}
	}
	start, err := text.Peek(sample)
	if err != nil && err != io.EOF {
		return s, err
	}
	if s.start = bytes.Clone(start); s.delim == 0 {
		s.delim = s.sniff()
	}
	s.csv = newCSV(text, s.delim, s.o.Comment)
	s.csv.ReuseRecord = true
	return s, nil
}

// newCSV is a reader of rows of any numbers of fields, strict about quotes.
func newCSV(r io.Reader, delim, comment byte) *csv.Reader {
	c := csv.NewReader(r)
	c.Comma, c.Comment, c.FieldsPerRecord = rune(delim), rune(comment), -1
	c.TrimLeadingSpace = delim != ' ' && delim != '\t' // a quote may follow a space
	return c
}

// next returns the fields of the next row, and its line. They are valid until the next call, and must not be changed.
// Fields have no surrounding spaces.
func (s *records) next() (fields [][]byte, line int, err error) {
	if s.again {
		s.again = false
		return s.fields, s.last, nil
	}
	for {
		s.left.N = mostRow
		record, err := s.csv.Read()
		if s.left.N == 0 {
			err = errLongRow
		}
		if err != nil {
			return nil, 0, s.failed(record, err)
		}
		s.fields = s.fields[:0]
		for _, text := range record {
			field := unsafe.Slice(unsafe.StringData(text), len(text))
			if n := len(field); n > 0 && (field[0] <= ' ' || field[n-1] <= ' ') {
				field = bytes.Trim(field, blanks)
			}
			if s.cleaner.quote != 0 && bytes.IndexByte(field, 0) >= 0 {
				field = bytes.ReplaceAll(field, []byte{0}, []byte{'"'})
			}
			s.fields = append(s.fields, field)
		}
		if len(record) == 1 && len(s.fields[0]) == 0 && len(s.names)-len(s.part.folders) != 1 {
			continue // a line of spaces; in a table of one column it may also be a quoted empty text
		}
		line, _ := s.csv.FieldPos(0)
		s.last = line + s.above
		return s.fields, s.last, nil
	}
}

// rows calls use for all rows that follow; it stops when there are more than most. Fields that a row lacks are empty,
// and empty ones that it has too many are left out. Empty rows and notes at the end are none.
func (s *records) rows(most int64, use func(s *records, line int, fields [][]byte) error) error {
	n, folders := len(s.names)-len(s.part.folders), [][]byte{}
	for _, f := range s.part.folders {
		folders = append(folders, []byte(f[1]))
	}
	var held []row  // that may be none
	var short tally // without those that are held
	for int64(len(s.lines)+len(held)) <= most && (s.of == 0 || len(s.lines) < s.of) {
		if len(held) == 0 {
			short = s.short
		}
		fields, line, err := s.next()
		if err == io.EOF {
			if len(held) > 0 {
				s.short = short
				s.notes = append(s.notes, fmt.Sprintf("left out: %s below the table, from line %d on", plural(len(held), "line"),
					held[0].line))
			}
			return nil
		} else if err != nil {
			return err
		}
		same := func(b []byte, name string) bool { return string(b) == name }
		if len(fields) > 1 && !s.o.NumericNames && slices.EqualFunc(fields, s.header, same) {
			return &Error{Row: len(s.lines) + len(held) + 1, Line: line, Problem: "the row repeats the header",
				Fix: "take it out, or give --no-header if the first line is a row, too"}
		}
		if len(fields) != n {
			if fields, err = s.fit(fields, line); err != nil {
				return err
			} else if fields == nil {
				continue
			}
		} else if s.hash == 0 && s.isHash(fields[0]) {
			s.hash = line
		}
		if s.hash > 0 && s.comments.n > 0 {
			return &Error{Line: s.hash, Problem: fmt.Sprintf("the row begins with #, as line %d does, which has one text", s.comments.first),
				Fix: "give --comment '#' if both are comments"}
		}
		if s.of == 0 && len(held) < 100 && s.isNote(fields) {
			held = append(held, row{line, xslices.Map(fields, bytes.Clone)})
			continue
		}
		for _, r := range append(held, row{line, fields}) {
			s.lines = append(s.lines, int32(r.line))
			if err := use(s, r.line, append(r.fields, folders...)); err != nil {
				return err
			}
		}
		held = held[:0]
	}
	return nil
}

// noted are the notes on the file.
func (s *records) noted() (notes []string) {
	if s.part.windows {
		notes = append(notes, "the file is not UTF-8; it was read as Windows-1252")
	}
	if c := s.cleaner; c.bad > 0 {
		notes = append(notes, fmt.Sprintf("U+FFFD stands for %s that cannot be decoded, the first in line %d",
			plural(c.bad, "byte"), c.badLine))
	}
	for _, odd := range []struct {
		tally
		how string
	}{{s.cleaner.texts, "quotes inside a field, which are text"},
		{s.comments, "a # at the beginning and no other field: left out as comments"},
		{s.short, "fewer fields than the header: the last ones are missing"},
		{s.long, "more fields than the header: they are empty, and left out"}} {
		if odd.n > 0 {
			notes = append(notes, fmt.Sprintf("%s, the first in line %d, with %s", plural(odd.n, "row"), odd.first, odd.how))
		}
	}
	return append(notes, s.notes...)
}

// tally counts rows.
type tally struct{ n, first, last int }

func (t tally) add(row int) tally {
	if t.n == 0 {
		t.first = row
	}
	if t.n == 0 || t.last != row {
		t.n, t.last = t.n+1, row
	}
	return t
}

// row is one whose use is not decided.
type row struct {
	line   int
	fields [][]byte
}

// isNote says whether a row of at least three fields has no text, or a single one that is none of its column: a number
// or a date where most above are, but a word here.
func (s *records) isNote(fields [][]byte) bool {
	at := -1
	for i, text := range fields {
		if len(text) > 0 && at >= 0 {
			return false
		} else if len(text) > 0 {
			at = i
		}
	}
	if at < 0 || len(fields) < 3 {
		return at < 0 && len(fields) > 1
	}
	k := slices.Index(s.want, at)
	if k < 0 {
		return false
	}
	b := s.builders[k]
	return 2*max(b.numbers+b.signed, b.times) > b.n && b.in.kindOf(string(fields[at])) == Text
}

// delimiter is the delimiter in words.
func (s *records) delimiter() string {
	return cmp.Or(map[byte]string{'\t': "tab", ' ': "space"}[s.delim], string(rune(s.delim)))
}

// isHash says whether a row may be a comment, by its first field.
func (s *records) isHash(field []byte) bool {
	return s.o.Comment == 0 && bytes.HasPrefix(field, []byte{'#'})
}

// fit completes a row that lacks fields, or leaves out empty ones that it has too many. It returns none for a comment.
func (s *records) fit(fields [][]byte, line int) ([][]byte, error) {
	n := len(s.names) - len(s.part.folders)
	e := &Error{Row: len(s.lines) + 1, Line: line, Problem: fmt.Sprintf("%s, but the header has %d",
		plural(len(fields), "field"), n), Fix: "quote fields that contain the delimiter " + s.delimiter()}
	switch {
	case s.isHash(fields[0]) && len(fields) == 1:
		s.comments = s.comments.add(line)
		return nil, nil
	case s.isHash(fields[0]):
		e.Fix = "give --comment '#' if lines with # are comments"
		return nil, e
	case len(fields) < n:
		s.short = s.short.add(line)
		for len(fields) < n {
			fields = append(fields, nil)
		}
		return fields, nil
	case slices.ContainsFunc(fields[n:], func(b []byte) bool { return len(bytes.TrimSpace(b)) > 0 }):
		return nil, e
	}
	s.long = s.long.add(line)
	return fields[:n], nil
}

// failed is the error of reading a row. record has the fields before a misplaced quote.
func (s *records) failed(record []string, err error) error {
	var e *Error
	var p *csv.ParseError
	row := len(s.lines)
	if s.names != nil {
		row++
	}
	switch {
	case err == errLongRow:
		return &Error{Row: row, Problem: fmt.Sprintf("a row is longer than %d bytes", mostRow),
			Fix: "check the ends of lines and the quotes"}
	case err == nil, err == io.EOF, err == errNotUTF8, errors.As(err, &e):
		return err
	case !errors.As(err, &p):
		return &Error{Problem: "the file cannot be read; it may be damaged or truncated: " + cause(err), Err: err}
	}
	e = &Error{Row: row, Line: p.StartLine + s.above, Err: err,
		Problem: fmt.Sprintf("%v (byte %d of line %d)", p.Err, p.Column, p.Line+s.above),
		Fix:     `a quote inside quotes is written "", or give --quote none if quotes are part of the text`}
	if len(record) < len(s.names) {
		e.Column = s.names[len(record)]
	}
	return e
}
