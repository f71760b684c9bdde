package runs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"tvps/ci/demand"

	"github.com/klauspost/compress/zstd"
)

// taken returns the bytes that fn allocates, in MB.
func taken(fn func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	fn()
	runtime.ReadMemStats(&after)
	return (after.TotalAlloc - before.TotalAlloc) >> 20
}

// streamed compresses the start and then n MB of one byte, without a declared size.
func streamed(t *testing.T, start []byte, n int, fill byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := zstd.NewWriter(&out, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		t.Fatal(err)
	}
	chunk := bytes.Repeat([]byte{fill}, 1<<20)
	w.Write(start)
	for range n {
		w.Write(chunk)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestBombs: small files that decompress to gigabytes, or say so, are damaged files, in little memory, for every reader
// of result files.
func TestBombs(t *testing.T) {
	encoder, _ := codec()
	header := jsonLine(headerLine{Format: format, Spec: spec(0)})
	head := encoder.EncodeAll(header, nil)
	declared := append(bytes.Clone(head), 0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0xc0, 1, 0, 0) // one segment of 3 GB
	for name, file := range map[string][]byte{
		"rows":          append(bytes.Clone(head), streamed(t, nil, 480, '\n')...),
		"first line":    streamed(t, []byte(`{"format":1`), 480, ' '),
		"declared size": declared,
		"many frames":   bytes.Repeat(encoder.EncodeAll(make([]byte, 1<<20), nil), 600),
	} {
		if len(file) > 100<<10 {
			t.Errorf("%s: %d bytes", name, len(file))
		}
		store := open(t, t.TempDir())
		if err := store.checkWritable("test"); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(store.donePath(spec(0)), file, 0o644); err != nil {
			t.Fatal(err)
		}
		if mb := taken(func() {
			if _, err := store.Read(spec(0)); !errors.As(err, new(*DamagedError)) {
				t.Errorf("%s: Read: %v", name, err)
			}
			store.explainer()(spec(1))
			if _, problems, err := store.Finished(); err != nil || len(problems) > 1 {
				t.Errorf("%s: Finished: %v, %v", name, problems, err)
			}
			report, err := Merge(t.Context(), open(t, t.TempDir()), []*Store{store})
			if err != nil || len(report.Problems) == 0 || report.Added > 0 {
				t.Errorf("%s: Merge: %+v, %v", name, report, err)
			}
		}); mb > 60 {
			t.Errorf("%s: %d bytes took %d MB", name, len(file), mb)
		}
	}
}

// TestLargeTexts: a text has at most maxFile bytes, however large its file is; the limit is not taken at once for a
// file that decompresses to less.
func TestLargeTexts(t *testing.T) {
	encoder, _ := codec()
	padding := make([]byte, 5<<20) // a frame that zstd skips
	file := append(binary.LittleEndian.AppendUint32([]byte{0x50, 0x2a, 0x4d, 0x18}, uint32(len(padding))), padding...)
	if mb := taken(func() {
		if text, err := decompress(encoder.EncodeAll([]byte("text"), bytes.Clone(file))); err != nil || string(text) != "text" {
			t.Errorf("%q, %v", text, err)
		}
	}); mb > 40 {
		t.Errorf("a short text took %d MB", mb)
	}
	_, err := decompress(append(file, bytes.Repeat(encoder.EncodeAll(make([]byte, 1<<20), nil), maxFile>>20+1)...))
	demand.Error(t, err, fmt.Sprintf("decompress to more than %d", maxFile))
}

// TestLargeFiles: files above the limit are refused unread; the first line of an unfinished run is limited.
func TestLargeFiles(t *testing.T) {
	store := open(t, t.TempDir())
	if err := store.checkWritable("test"); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{store.donePath(spec(0)), store.partialPath(spec(0)), store.failedPath(spec(0)),
		store.attachmentPath(spec(0), "film.svg")} {
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, 1<<40); err != nil {
			t.Skip("no sparse files here: ", err)
		}
	}
	if mb := taken(func() {
		_, err := store.Read(spec(0))
		demand.Error(t, err, "damaged", "more than 256 MB")
		_, err = readPartial(store.partialPath(spec(0)), spec(0))
		demand.Error(t, err, "cannot be read", "more than 256 MB")
		if store.Attached(spec(0), "film.svg") != nil {
			t.Error("an attachment of a terabyte is read")
		}
		if state := store.State(spec(0), []int{0}); state.Steps > 0 || !strings.Contains(state.Message, "more than 256 MB") {
			t.Errorf("state %v", state)
		}
		_, problems, err := store.Unfinished()
		if err != nil || len(problems) != 1 {
			t.Fatalf("%v, %v", problems, err)
		}
		demand.Error(t, problems[0], "first line has more than 1 MB")
	}); mb > 20 {
		t.Errorf("took %d MB", mb)
	}
}

// TestFirstLine: a line may lack its end, and has at most maxLine bytes.
func TestFirstLine(t *testing.T) {
	for _, n := range []int{0, 1, maxLine - 1} {
		line, err := firstLine(strings.NewReader(strings.Repeat("x", n)))
		if err != nil || len(line) != n {
			t.Errorf("%d bytes: %d, %v", n, len(line), err)
		}
	}
	_, err := firstLine(io.MultiReader(strings.NewReader(strings.Repeat("x", maxLine)), strings.NewReader("\n")))
	demand.Error(t, err, "more than 1 MB")
	if _, err := readFile(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

// contentOf returns the lines of a second frame with the right number of rows and checksum.
func contentOf(lines string) []byte {
	return append([]byte(lines), jsonLine(endLine{Rows: strings.Count(lines, "\n") - 1, SHA256: digest([]byte(lines))})...)
}

// TestContentThatNoRunHas: rows with a right checksum that are not those of a finished run.
func TestContentThatNoRunHas(t *testing.T) {
	first := func(steps string) string {
		return fmt.Sprintf(`{"spec":{"experiment":"test","learner":"ours","seed":0,"settings":{}},"steps":%s}`+"\n", steps)
	}
	row := func(t int, metric string) string {
		return fmt.Sprintf(`{"t":%d,"metric":%q,"value":1}`+"\n", t, metric)
	}
	good := first("[1,3]") + row(1, "a") + row(1, "b") + row(3, "a")
	if r, err := decodeContent(contentOf(good)); err != nil || len(r.Rows) != 3 {
		t.Fatalf("%+v, %v", r, err)
	}
	for lines, words := range map[string]string{
		first("[1,3]") + row(1, "a") + row(2, "a"):               "row of step 2 is not of the steps",
		first("[1,3]") + row(3, "a") + row(1, "a"):               "row of step 1 is not of the steps",
		first("[]") + row(0, "a"):                                "row of step 0 is not of the steps",
		first("[1,3]") + row(1, "a") + row(3, "a") + row(1, "b"): "row of step 1 is not of the steps",
		first("[1,3]") + row(1, ""):                              "row 1 has no metric",
		first("[1,3]") + row(1, "a") + "null\n":                  "row 2 has no metric",
		first("[1,3]") + row(1, "a") + row(1, "a"):               "step 1 reports a twice",
		first("[3,1]") + row(3, "a"):                             "step 1 follows step 3",
		first("[1,1]") + row(1, "a"):                             "step 1 follows step 1",
		first("[1,3]") + row(1, "a") + "\n":                      "row 2 cannot be read",
		"[]\n":                                                   "spec cannot be read",
	} {
		t.Run(words, func(t *testing.T) {
			_, err := decodeContent(contentOf(lines))
			demand.Error(t, err, words)
		})
	}
}
