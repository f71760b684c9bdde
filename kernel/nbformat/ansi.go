package nbformat

import (
	"io"
	"regexp"
)

// escape matches the control sequences of terminals: those with parameters and a final letter, and window titles,
// which end with a bell.
var escape = regexp.MustCompile(`\x1b\[[0-9;:]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b.`)

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
