package runs

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"tvps/ci/demand"
)

// Small files that decompress to gigabytes, or say so, and large files are refused, by every reader.
func TestLargeFiles(t *testing.T) {
	encoder, _ := codec()
	head := encoder.EncodeAll(jsonLine(headerLine{Format: format, Spec: spec(0)}), nil)
	for name, file := range map[string][]byte{
		"frames":        append(head, bytes.Repeat(encoder.EncodeAll(make([]byte, 1<<20), nil), maxFile>>20)...),
		"declared size": append(head, 0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0xc0, 1, 0, 0), // one segment of 3 GB
	} {
		_, err := decodeResult(file)
		if err == nil || !strings.Contains(err.Error(), "it does not decompress") {
			t.Errorf("%s: %v", name, err)
		}
	}
	store := open(t, t.TempDir())
	if err := store.checkWritable("test"); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{store.donePath(spec(0)), store.partialPath(spec(0)), store.failedPath(spec(0)),
		store.attachmentPath(spec(0), "film.svg")} {
		demand.Write(t, path, "")
		if err := os.Truncate(path, 1<<40); err != nil {
			t.Skip("no sparse files here: ", err)
		}
	}
	_, err := store.Read(spec(0))
	demand.Error(t, err, "cannot be read", "more than")
	if store.Attached(spec(0), "film.svg") != nil {
		t.Error("an attachment of a terabyte is read")
	}
	if state := store.State(spec(0), []int{0}); state.Steps > 0 || !strings.Contains(state.Message, "more than") {
		t.Errorf("state %v", state)
	}
	_, problems, err := store.Unfinished()
	if err != nil || len(problems) != 1 {
		t.Fatalf("%v, %v", problems, err)
	}
	demand.Error(t, problems[0], "first line has more than 1 MB")
}
