package usage

import (
	"strings"
	"testing"
)

func TestShown(t *testing.T) {
	for text, want := range map[string]string{
		"plain é, 日本\n\tx": "plain é, 日本\n\tx", "\x1b]0;title\x07": `\x1b]0;title\x07`, "a\rb": `a\x0db`, "\u009b2J": `\x9b2J`,
		"a\u202eb\u2066c\u200f": `a\u202eb\u2066c\u200f`,
	} {
		var b strings.Builder
		if n, err := (shownTo{&b, Shown}).Write([]byte(text)); n != len(text) || err != nil {
			t.Errorf("%q: wrote %d, %v", text, n, err)
		}
		if got := b.String(); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
