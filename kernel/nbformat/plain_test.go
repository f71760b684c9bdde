package nbformat

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"tvps/ci/demand"
)

func TestPlainWriter(t *testing.T) {
	var b bytes.Buffer
	n, err := PlainWriter{&b}.Write([]byte("a\x1b[7;39;32m[id]\x1b[0m b\x1b]0;title\x07c\x1b]8;;x\x1b\\d é\x1b(e"))
	if want := "a[id] bcd ée"; b.String() != want || n != 47 || err != nil {
		t.Errorf("%q, want %q; %d bytes, %v", b.String(), want, n, err)
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
