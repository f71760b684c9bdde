package table

import (
	"bufio"
	"encoding/binary"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

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
