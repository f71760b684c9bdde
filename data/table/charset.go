package table

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// errNotUTF8 says that a file is to be read again as Windows-1252.
var errNotUTF8 = errors.New("not UTF-8")

// decode finds the encoding of a text. It is UTF-8 without a byte order mark where the name is "".
func decode(file io.Reader, windows bool) (text io.Reader, name string) {
	r := bufio.NewReaderSize(file, 1<<16)
	head, _ := r.Peek(3)
	switch {
	case bytes.HasPrefix(head, []byte("\xEF\xBB\xBF")):
		name = "UTF-8 with a byte order mark"
	case bytes.HasPrefix(head, []byte("\xFF\xFE")), bytes.HasPrefix(head, []byte("\xFE\xFF")):
		name = "UTF-16"
	case windows:
		return transform.NewReader(r, charmap.Windows1252.NewDecoder()), "Windows-1252"
	default:
		return r, ""
	}
	return transform.NewReader(r, unicode.BOMOverride(transform.Nop)), name
}

// cleaner is a transformer that does what encoding/csv does not: lines end in \n alone, bytes that are not UTF-8 become
// U+FFFD and are counted, and a NUL byte is an error. A quote that is text becomes a NUL byte, which no text has: each
// without quotes, otherwise one in a field that does not begin with a quote.
type cleaner struct {
	transform.NopResetter
	quote   byte   // a quote if it may be text, otherwise 0
	starts  string // what a field may begin after; empty: all quotes are text
	before  byte   // what is before, apart from spaces
	inside  bool   // quotes
	texts   tally  // lines with quotes that are text, unless all are
	known   bool   // the encoding is certain: a byte order mark names it, or it is Windows-1252
	line    int
	good    int // characters of several bytes
	bad     int // bytes that were replaced
	badLine int // line of the first
}

func newCleaner(known, noQuotes bool, starts string) *cleaner {
	c := &cleaner{known: known, line: 1, starts: starts, before: '\n'}
	if noQuotes || starts != "" {
		c.quote = '"'
	}
	return c
}

// isText says whether the next quote is text. Otherwise it is the beginning or the end of a field, or half of a quote
// in one.
func (c *cleaner) isText() bool {
	if c.starts == "" {
		return true
	} else if !c.inside && c.before != '"' && strings.IndexByte(c.starts, c.before) < 0 {
		c.texts = c.texts.add(c.line)
		return true
	}
	c.inside = !c.inside
	return false
}

// notUTF8 says that what was read so far is rather Windows-1252 than UTF-8 with some bad bytes.
func (c *cleaner) notUTF8() bool { return !c.known && c.bad > c.good }

// plain says that a byte stays as it is.
func (c *cleaner) plain(b byte) bool { return (b-' ' < utf8.RuneSelf-' ' || b == '\t') && b != c.quote }

func (c *cleaner) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	for nSrc < len(src) {
		rest, room := src[nSrc:], dst[nDst:]
		if len(room) < utf8.UTFMax {
			return nDst, nSrc, transform.ErrShortDst
		}
		n := 0
		for most := min(len(rest), len(room)); n < most && c.plain(rest[n]); n++ {
		}
		if n > 0 {
			if run := bytes.TrimRight(rest[:n], " "); len(run) > 0 && c.quote != 0 {
				c.before = run[len(run)-1]
			}
			nDst += copy(room, rest[:n])
			nSrc += n
			continue
		}
		if !atEOF && (!utf8.FullRune(rest) || rest[0] == '\r' && (len(rest) == 1 || len(rest) == 2 && rest[1] == '\r')) {
			return nDst, nSrc, transform.ErrShortSrc
		}
		r, size := utf8.DecodeRune(rest)
		switch {
		case r == utf8.RuneError && (size == 1 || c.known): // a decoder writes it in full
			if c.bad++; c.bad == 1 {
				c.badLine = c.line
			}
			if c.notUTF8() && c.bad > c.good+100 {
				return nDst, nSrc, errNotUTF8
			}
		case r >= utf8.RuneSelf:
			c.good++
		case r == 0:
			return nDst, nSrc, &Error{Line: c.line, Problem: "a NUL byte, which text does not have",
				Fix: "give CSV or Parquet; UTF-16 needs a byte order mark"}
		case r == '"' && c.quote != 0 && c.isText():
			r = 0
		case bytes.HasPrefix(rest, []byte("\r\n")):
			r, size = '\n', 2
		case bytes.HasPrefix(rest, []byte("\r\r\n")): // of a text file written twice on Windows
			r, size = '\n', 3
		case r == '\r': // of an old Macintosh
			r = '\n'
		}
		if r == '\n' {
			c.line++
		}
		c.before = byte(r)
		nDst += utf8.EncodeRune(room, r)
		nSrc += size
	}
	if atEOF && c.notUTF8() {
		return nDst, nSrc, errNotUTF8
	}
	return nDst, nSrc, nil
}
