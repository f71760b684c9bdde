package nbformat

import (
	"bytes"
	"testing"
)

func TestPlainWriter(t *testing.T) {
	var b bytes.Buffer
	n, err := PlainWriter{&b}.Write([]byte("a\x1b[7;39;32m[id]\x1b[0m b\x1b]0;title\x07c\x1b]8;;x\x1b\\d é\x1b(e"))
	if want := "a[id] bcd ée"; b.String() != want || n != 47 || err != nil {
		t.Errorf("%q, want %q; %d bytes, %v", b.String(), want, n, err)
	}
}
