package table

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unsafe"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/transform"
)

// sample is the size of the text at the beginning by which delimiter and header are judged.
const sample = 1 << 18

// records reads the rows of a CSV file, the header first.
type records struct {
	csv         *csv.Reader
	text        *bufio.Reader
	cleaner     *cleaner
	limit       *rowLimit
	o           *Options
	compression string
	encoding    string
	windows     bool // it is Windows-1252
	delim       byte
	above       int      // lines before the text of csv
	start       []byte   // the beginning of the text
	names       []string // of the columns, when the header was read
	want        []int    // those that are read
	builders    []*builder
	trailing    bool    // each row has an empty field more than the header
	lines       []int32 // of each row
	fields      [][]byte
	raw         []byte // text of the last row, below lines that are none
}

// records opens the text of a CSV file: it decodes it, skips lines, and finds the delimiter.
func (in *input) records(compression string, windows bool) (*records, error) {
	s := &records{o: &in.o, compression: compression, windows: windows, delim: in.o.Delim}
	if d, c := in.o.Delim, in.o.Comment; d == '"' || c == '"' || d != 0 && d == c {
		return s, &Error{Problem: "the delimiter and the sign of comments must differ, and neither can be a quote"}
	}
	var file, decoded io.Reader = io.NewSectionReader(in.r, 0, in.size), nil
	var err error
	switch compression {
	case "gzip":
		file, err = gzip.NewReader(file)
	case "zstd":
		file, err = zstd.NewReader(file, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
	}
	if err != nil {
		return s, fmt.Errorf("%s: %w", compression, err) // not io.EOF
	}
	if most := in.limits.expanded(in.size); compression != "" {
		file = &rowLimit{r: file, left: int(most), err: &Error{Problem: fmt.Sprintf("the %s data expand to more than %d "+
			"bytes, too much for the file's size", compression, most), Fix: "unpack the file if you trust it"}}
	}
	decoded, s.encoding = decode(file, windows)
	s.cleaner = newCleaner(s.encoding != "", in.o.NoQuotes)
	s.limit = &rowLimit{r: transform.NewReader(decoded, s.cleaner), limit: in.limits.Record, left: math.MaxInt, err: errLongRow}
	s.text = bufio.NewReaderSize(s.limit, sample)
	skip := in.o.Skip
	first, _ := s.text.Peek(len("sep=;\n")) // Excel's own way to name a delimiter
	if skip == 0 && bytes.HasPrefix(first, []byte("sep=")) && bytes.HasSuffix(first, []byte("\n")) {
		skip, s.delim = 1, cmp.Or(s.delim, first[len("sep=")])
	}
	for ; s.above < skip; s.above++ {
		s.limit.reset()
		if _, err := s.text.ReadString('\n'); err == io.EOF {
			return s, &Error{Problem: fmt.Sprintf("the file has fewer than %s", plural(skip+1, "line")), Fix: "skip fewer"}
		} else if err != nil {
			return s, err
		}
	}
	s.limit.left = math.MaxInt
	start, err := s.text.Peek(sample)
	if err != nil && err != io.EOF {
		return s, err
	}
	if s.start = bytes.Clone(start); s.delim == 0 {
		s.delim = s.sniff()
	}
	s.csv = newCSV(s.text, s.delim, s.o.Comment)
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
	for {
		s.limit.left = math.MaxInt
		s.raw, _ = s.text.Peek(1 << 16) // as encoding/csv reads from text itself, it stays there while a row is shorter
		s.limit.reset()
		from := s.csv.InputOffset()
		record, err := s.csv.Read()
		s.raw = s.raw[:min(int(s.csv.InputOffset()-from), len(s.raw))]
		if err != nil {
			return nil, 0, s.failed(record, err)
		}
		s.fields = s.fields[:0]
		for _, text := range record {
			field := unsafe.Slice(unsafe.StringData(text), len(text))
			if n := len(field); n > 0 && (field[0] <= ' ' || field[n-1] <= ' ') {
				field = bytes.Trim(field, blanks)
			}
			if s.o.NoQuotes && bytes.IndexByte(field, 0) >= 0 {
				field = bytes.ReplaceAll(field, []byte{0}, []byte{'"'})
			}
			s.fields = append(s.fields, field)
		}
		if len(record) == 1 && len(s.fields[0]) == 0 && len(s.names) != 1 {
			continue // a line of spaces; in a table of one column it may also be a quoted empty text
		}
		line, _ := s.csv.FieldPos(0)
		return s.fields, line + s.above, nil
	}
}

// quoted says whether a field of the last row is in quotes, although not all are. It is not known, and so false, in a
// row of several lines, or of very many bytes.
func (s *records) quoted(field int) bool {
	raw := bytes.TrimLeft(s.raw, "\n")
	if end := bytes.IndexByte(raw, '\n'); end >= 0 && end != len(raw)-1 {
		return false
	}
	starts := func(field int) bool {
		_, at := s.csv.FieldPos(field)
		return at <= len(raw) && raw[at-1] == '"'
	}
	for i, text := range s.fields {
		if len(text) > 0 && !starts(i) {
			return starts(field)
		}
	}
	return false
}

// rows calls use for all rows that follow, as many as the header has fields; it stops when there are more than most.
func (s *records) rows(most int64, use func(s *records, line int, fields [][]byte) error) error {
	for int64(len(s.lines)) <= most {
		fields, line, err := s.next()
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		s.lines = append(s.lines, int32(line))
		if len(s.lines) == 1 {
			s.trailing = true
			s.trailing = s.fits(fields)
		}
		if !s.fits(fields) {
			return s.ragged(fields, line)
		}
		if err := use(s, line, fields); err != nil {
			return err
		}
	}
	return nil
}

// delimiter is the delimiter in words.
func (s *records) delimiter() string {
	return cmp.Or(map[byte]string{'\t': "tab", ' ': "space"}[s.delim], string(rune(s.delim)))
}

// fits says whether a row has the right number of fields.
func (s *records) fits(fields [][]byte) bool {
	n := len(s.names)
	return !s.trailing && len(fields) == n || s.trailing && len(fields) == n+1 && len(fields[n]) == 0
}

// ragged is the error of a row with a wrong number of fields.
func (s *records) ragged(fields [][]byte, line int) error {
	e := &Error{Row: len(s.lines), Line: line, Problem: fmt.Sprintf("%s, but the header has %d",
		plural(len(fields), "field"), len(s.names)), Fix: "complete the row, or take it out"}
	switch {
	case s.o.Comment == 0 && len(fields[0]) > 0 && fields[0][0] == '#':
		e.Fix = "give --comment '#' if lines with # are comments"
	case s.trailing && len(fields) == len(s.names):
		e.Problem = "the row has no delimiter at its end, unlike those above"
	case len(fields) > len(s.names):
		e.Fix = "quote fields that contain the delimiter " + s.delimiter()
	}
	return e
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
	case err == nil, err == io.EOF, err == errNotUTF8, errors.As(err, &e):
		return err
	case err == errLongRow:
		return &Error{Row: row, Problem: "a row is longer than " + plural(s.limit.limit, "byte"),
			Fix: "check the ends of lines and the quotes"}
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

// head reads the first rows of the text's beginning, as far as they can be read, and the line of each.
func (s *records) head(delim byte) (rows [][]string, lines []int) {
	r := newCSV(bytes.NewReader(s.start), delim, s.o.Comment)
	for len(rows) < 200 {
		fields, err := r.Read()
		if err != nil || len(rows) > 0 && len(s.start) == sample && r.InputOffset() == sample {
			break
		}
		line, _ := r.FieldPos(0)
		if len(fields) > 1 || strings.Trim(fields[0], " \t") != "" {
			rows, lines = append(rows, fields), append(lines, line+s.above)
		}
	}
	return rows, lines
}

// sniff finds the delimiter that splits most rows into as many fields as the header, and, of those, the one with more
// fields. A table of one column has a comma.
func (s *records) sniff() byte {
	best, bestShare, bestFields := byte(','), 0., 1
	for _, delim := range []byte(",;\t|") { // the preferred one first
		rows, _ := s.head(delim)
		same, fields := 0., 0
		for _, row := range rows[headerBelow(rows):] {
			if fields = cmp.Or(fields, len(row)); len(row) == fields && fields > 1 {
				same++
			}
		}
		share := same / float64(len(rows))
		if share > bestShare || share == bestShare && fields > bestFields {
			best, bestShare, bestFields = delim, share, fields
		}
	}
	return best
}

// headerBelow finds the header if it is not the first row: below titles, which have fewer fields, or below other names:
// at least two of its columns have numbers or dates in all rows below. It is 0 if the first row seems to be the header.
func headerBelow(rows [][]string) int {
	typed := func(text string) bool { return text != "" && strings.IndexByte("0123456789+-.", text[0]) >= 0 }
	for k := 1; k < len(rows)-1; k++ {
		fields := len(rows[k])
		ragged := func(row []string) bool { return len(row) != fields }
		if fields < 2 || slices.ContainsFunc(rows[k], typed) || slices.ContainsFunc(rows[k:], ragged) {
			continue
		}
		columns := 0
		for c, name := range rows[k] {
			text := func(row []string) bool { return !typed(row[c]) && row[c] != "" }
			if name != "" && !slices.ContainsFunc(rows[k+1:], text) {
				columns++
			}
		}
		wide := func(row []string) bool { return len(row) >= fields }
		if columns >= 2 || !slices.ContainsFunc(rows[:k], wide) {
			return k
		}
	}
	return 0
}

// advise names the flag that helps against an error of a table whose header is not the first row.
func (s *records) advise(err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	rows, lines := s.head(s.delim)
	k := headerBelow(rows)
	switch {
	case k == 0 || e.Row > k || e.Err != nil:
	case s.o.Comment == 0 && strings.HasPrefix(rows[0][0], "#"):
		e.Fix = "give --comment '#' if lines with # are comments"
	default:
		e.Fix = fmt.Sprintf("give --skip %d if the header is below line %d", lines[k-1], lines[k-1])
	}
	return err
}

// rowLimit fails if a row is longer than limit. What is left is set again for each row, but not for a whole file.
type rowLimit struct {
	r           io.Reader
	limit, left int
	err         error
}

var errLongRow = errors.New("long row")

// reset allows the next row, and a byte to see the end of the file.
func (l *rowLimit) reset() { l.left = min(l.limit, math.MaxInt-1) + 1 }

func (l *rowLimit) Read(p []byte) (int, error) {
	if l.left == 0 {
		return 0, l.err
	}
	n, err := l.r.Read(p[:min(len(p), l.left)])
	l.left -= n
	return n, err
}
