package usage

import (
	"fmt"
	"io"
	"strings"
	"unicode"
)

// Shown returns text with its control characters but line ends and tabs as escapes, "\x1b" for ESC, and those that turn
// the direction of a text, "\u202e": names in a user's file must not steer the terminal.
func Shown(text string) string {
	if !strings.ContainsFunc(text, steers) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if unicode.Is(unicode.Bidi_Control, r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else if steers(r) {
			fmt.Fprintf(&b, `\x%02x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func steers(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r)
}

// shownTo is a writer that passes on what shown makes of each write.
type shownTo struct {
	io.Writer
	shown func(string) string
}

// Write writes text.
func (s shownTo) Write(text []byte) (int, error) {
	if _, err := io.WriteString(s.Writer, s.shown(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}
