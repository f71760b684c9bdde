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
