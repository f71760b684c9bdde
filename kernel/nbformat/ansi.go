package nbformat

import (
	"fmt"
	"html"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// escape matches the control sequences of terminals: those with parameters and a final letter, and window titles,
// which end with a bell.
var escape = regexp.MustCompile(`\x1b\[([0-9;:]*)([A-Za-z])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b.`)

// look is the style of a piece of terminal text.
type look struct {
	colour, background             string
	bold, faint, italic, underline bool
}

// ansiToHTML converts a terminal's colours to HTML spans. Other control sequences are dropped.
func ansiToHTML(text string) string {
	var b strings.Builder
	var now look
	write := func(piece string) {
		style := now.style()
		switch {
		case piece == "":
		case style == "":
			b.WriteString(html.EscapeString(piece))
		default:
			fmt.Fprintf(&b, `<span style="%s">%s</span>`, style, html.EscapeString(piece))
		}
	}
	for {
		m := escape.FindStringSubmatchIndex(text)
		if m == nil {
			write(text)
			return b.String()
		}
		write(text[:m[0]])
		if m[4] >= 0 && text[m[4]:m[5]] == "m" {
			now.change(text[m[2]:m[3]])
		}
		text = text[m[1]:]
	}
}

// PlainText removes the control sequences from a text.
func PlainText(text string) string { return escape.ReplaceAllString(text, "") }

// begun matches a control sequence at the end of a text that may continue.
var begun = regexp.MustCompile(`\x1b(\[[0-9;:]*|\][^\x07\x1b]*\x1b?)?$`)

// longestSequence is the number of bytes after which a sequence without an end is taken for text.
const longestSequence = 4096

// PlainWriter removes the control sequences from what is written to it. It keeps a sequence that is not complete until
// the next call.
type PlainWriter struct {
	To   io.Writer
	kept []byte
}

// Write writes the text without control sequences.
func (w *PlainWriter) Write(p []byte) (int, error) {
	text := append(w.kept, p...)
	end := len(text)
	if at := begun.FindIndex(text); at != nil && end-at[0] < longestSequence {
		end = at[0]
	}
	w.kept = append([]byte(nil), text[end:]...)
	if _, err := w.To.Write(escape.ReplaceAll(text[:end], nil)); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (l look) style() string {
	var parts []string
	add := func(on bool, style string) {
		if on {
			parts = append(parts, style)
		}
	}
	add(l.colour != "", "color:"+l.colour)
	add(l.background != "", "background:"+l.background)
	add(l.bold, "font-weight:bold")
	add(l.faint, "opacity:.6")
	add(l.italic, "font-style:italic")
	add(l.underline, "text-decoration:underline")
	return strings.Join(parts, ";")
}

// change applies the parameters of one control sequence, such as 1;31.
func (l *look) change(parameters string) {
	codes := strings.FieldsFunc(parameters, func(r rune) bool { return r == ';' || r == ':' })
	if len(codes) == 0 {
		*l = look{}
	}
	for i := 0; i < len(codes); i++ {
		n, _ := strconv.Atoi(codes[i])
		switch {
		case n == 0:
			*l = look{}
		case n == 1:
			l.bold = true
		case n == 2:
			l.faint = true
		case n == 3:
			l.italic = true
		case n == 4:
			l.underline = true
		case n == 22:
			l.bold, l.faint = false, false
		case n == 23:
			l.italic = false
		case n == 24:
			l.underline = false
		case n == 38 || n == 48:
			colour, used := extended(codes[i+1:])
			i += used
			l.set(n == 48, colour)
		case n >= 30 && n <= 39 || n >= 90 && n <= 97:
			l.set(false, basic(n-30))
		case n >= 40 && n <= 49 || n >= 100 && n <= 107:
			l.set(true, basic(n-40))
		}
	}
}

func (l *look) set(background bool, colour string) {
	if background {
		l.background = colour
	} else {
		l.colour = colour
	}
}

// palette holds the sixteen colours of a terminal, in shades that are readable on white.
var palette = [16]string{
	"#3e424d", "#b22b31", "#007427", "#8a6300", "#0065ca", "#a03196", "#0f7b7d", "#6b7280",
	"#282c36", "#d02f36", "#008a2e", "#a67700", "#0079f2", "#b83cac", "#128f92", "#9aa1ad",
}

// basic is the colour of a code minus 30 (text) or minus 40 (background); empty for the default colour.
func basic(n int) string {
	switch {
	case n >= 0 && n < 8:
		return palette[n]
	case n >= 60 && n < 68:
		return palette[n-60+8]
	}
	return ""
}

// extended decodes one of 256 colours, or an RGB colour. It also returns the number of codes that it used.
func extended(codes []string) (colour string, used int) {
	n := make([]int, len(codes))
	for i, c := range codes {
		n[i], _ = strconv.Atoi(c)
		n[i] = max(0, min(n[i], 255))
	}
	switch {
	case len(n) >= 2 && n[0] == 5 && n[1] < 16:
		return palette[n[1]], 2
	case len(n) >= 2 && n[0] == 5 && n[1] < 232:
		level := func(v int) int { return []int{0, 95, 135, 175, 215, 255}[v%6] }
		c := n[1] - 16
		return fmt.Sprintf("#%02x%02x%02x", level(c/36), level(c/6), level(c)), 2
	case len(n) >= 2 && n[0] == 5:
		grey := 8 + 10*(n[1]-232)
		return fmt.Sprintf("#%02x%02x%02x", grey, grey, grey), 2
	case len(n) >= 4 && n[0] == 2:
		return fmt.Sprintf("#%02x%02x%02x", n[1], n[2], n[3]), 4
	}
	return "", len(codes)
}
