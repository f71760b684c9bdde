package nbformat

import (
	"io"
	"regexp"
	"strings"

	terminal "github.com/buildkite/terminal-to-html/v3"
)

// escape matches the control sequences of terminals: those with parameters and a final letter, and window titles,
// which end with a bell.
var escape = regexp.MustCompile(`\x1b\[[0-9;:]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b.`)

// ansiToHTML converts a terminal's colours to HTML spans, whose classes page.html has. Other control sequences are
// dropped: they could move the cursor anywhere.
func ansiToHTML(text string) string {
	colours := escape.ReplaceAllStringFunc(text, func(sequence string) string {
		if strings.HasPrefix(sequence, "\x1b[") && strings.HasSuffix(sequence, "m") {
			return sequence
		}
		return ""
	})
	return terminal.Render([]byte(colours))
}

// PlainText removes the control sequences from a text.
func PlainText(text string) string { return escape.ReplaceAllString(text, "") }

// PlainWriter removes the control sequences from each text that is written to it.
type PlainWriter struct{ To io.Writer }

func (w PlainWriter) Write(p []byte) (int, error) {
	if _, err := w.To.Write(escape.ReplaceAll(p, nil)); err != nil {
		return 0, err
	}
	return len(p), nil
}
