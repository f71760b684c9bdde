package nbformat

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tvps/ci/demand"
)

// However a text is split, the result is that of the whole text.
func TestPlainWriter(t *testing.T) {
	text := "a\x1b[7;39;32m[id]\x1b[0m b\x1b]0;title\x07c\x1b]8;;x\x1b\\d é\x1b(e"
	const want = "a[id] bcd ée"
	for first := range len(text) {
		for second := first; second < len(text); second++ {
			var b bytes.Buffer
			w := &PlainWriter{To: &b}
			for _, piece := range []string{text[:first], text[first:second], text[second:]} {
				if n, err := w.Write([]byte(piece)); n != len(piece) || err != nil {
					t.Fatal(n, err)
				}
			}
			if b.String() != want {
				t.Fatalf("split at %d and %d: %q, want %q", first, second, b.String(), want)
			}
		}
	}
	var b bytes.Buffer
	w := &PlainWriter{To: &b}
	long := "\x1b]" + strings.Repeat("x", longestSequence)
	w.Write([]byte(long))
	if b.Len() < longestSequence {
		t.Errorf("a sequence without an end keeps all that follows: %d bytes", b.Len())
	}
}

// A page contains pictures from the notebook's folder, but nothing from outside, also not through a link.
func TestEmbedStaysInFolder(t *testing.T) {
	out := t.TempDir()
	dir := filepath.Join(out, "notebooks")
	for file, text := range map[string]string{
		filepath.Join(dir, "in.png"): "inside", filepath.Join(out, "secret.png"): "secret",
	} {
		demand.Write(t, file, text)
	}
	for link, target := range map[string]string{
		"same.png": "in.png", "link.png": filepath.Join("..", "secret.png"), "absolute.png": filepath.Join(out, "secret.png"),
		"up": "..",
	} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Skip("no symbolic links:", err)
		}
	}
	for name, there := range map[string]bool{
		"in.png": true, "same.png": true, "link.png": false, "absolute.png": false, "up/secret.png": false,
		"../secret.png": false, "./in.png": true, filepath.Join(out, "secret.png"): false,
	} {
		if got := embed(name, nil, dir); (got != "") != there {
			t.Errorf("%s: %q, embedded %v", name, got, there)
		}
	}
}
