package table

import (
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"golang.org/x/text/transform"
)

// TestCleaner: a text is cleaned in the same way wherever the reads of it end.
func TestCleaner(t *testing.T) {
	pieces := []string{"a", ",", `"`, "\n", "\r", "\r\n", "\r\r\n", "ü", "€", "😀", "\xFF", "\xE2\x82", "\uFFFD",
		strings.Repeat("long ", 900)}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var text strings.Builder
		for range 1 + rng.IntN(40) {
			text.WriteString(pieces[rng.IntN(len(pieces))])
		}
		want := strings.NewReplacer("\r\r\n", "\n", "\r\n", "\n", "\r", "\n", `"`, "\x00").Replace(text.String())
		bad := 0
		for i, r := range want {
			if r == '\uFFFD' && !strings.HasPrefix(want[i:], "\uFFFD") {
				bad++
			}
		}
		want = string([]rune(want))
		for i, wrap := range []func(io.Reader) io.Reader{iotest.OneByteReader, iotest.HalfReader, iotest.DataErrReader} {
			c := newCleaner(false, true, "")
			c.good = 1000 // that of a longer text
			got, err := io.ReadAll(transform.NewReader(wrap(strings.NewReader(text.String())), c))
			if err != nil || string(got) != want || c.bad != bad || c.line != 1+strings.Count(want, "\n") {
				t.Fatalf("reader %d: %q is cleaned to %q (%v), want %q; %d bad bytes, want %d, in %d lines", i, text.String(),
					got, err, want, c.bad, bad, c.line)
			}
		}
	}
}
