package nbformat

import (
	"fmt"
	"html"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// escape matches the control sequences of terminals: those with parameters and a final letter, and window titles,
// which end with a bell.
var escape = regexp.MustCompile(`\x1b\[([0-9;:]*)([A-Za-z])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b.`)

// ansiToHTML converts a terminal's colours to HTML spans. Other control sequences are dropped.
func ansiToHTML(text string) string {
	var b strings.Builder
	now := look{}
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

// look is the style of a piece of terminal text: CSS values by property.
type look map[string]string

func (l look) style() string {
	var parts []string
	for _, property := range slices.Sorted(maps.Keys(l)) {
		parts = append(parts, property+":"+l[property])
	}
	return strings.Join(parts, ";")
}

// change applies the parameters of one control sequence, such as 1;31.
func (l look) change(parameters string) {
	codes := strings.FieldsFunc(parameters, func(r rune) bool { return r == ';' || r == ':' })
	if len(codes) == 0 {
		clear(l)
	}
	for i := 0; i < len(codes); i++ {
		n, _ := strconv.Atoi(codes[i])
		switch style, known := styles[n]; {
		case n == 0:
			clear(l)
		case n == 38 || n == 48: // one of 256 colours (5;N) or an RGB colour (2;R;G;B), which are not shown
			delete(l, styles[n+1].property)
			if i++; i < len(codes) && codes[i] == "5" {
				i++
			} else {
				i += 3
			}
		case known && style.value == "":
			delete(l, style.property)
		case known:
			l[style.property] = style.value
		}
	}
}

// styles are CSS for the codes of a terminal. An empty value restores the default.
var styles = map[int]struct{ property, value string }{
	1: {"font-weight", "bold"}, 3: {"font-style", "italic"}, 4: {"text-decoration", "underline"},
	22: {"font-weight", ""}, 23: {"font-style", ""}, 24: {"text-decoration", ""},
	39: {"color", ""}, 49: {"background", ""},
}

// palette holds the sixteen colours of a terminal, in shades that are readable on white.
var palette = [16]string{
	"#3e424d", "#b22b31", "#007427", "#8a6300", "#0065ca", "#a03196", "#0f7b7d", "#6b7280",
	"#282c36", "#d02f36", "#008a2e", "#a67700", "#0079f2", "#b83cac", "#128f92", "#9aa1ad",
}

func init() {
	for i, colour := range palette {
		code := 30 + i
		if i >= 8 {
			code = 90 + i - 8
		}
		styles[code] = struct{ property, value string }{"color", colour}
		styles[code+10] = struct{ property, value string }{"background", colour}
	}
}
