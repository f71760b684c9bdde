package runs

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tvps/ci/demand"

	"github.com/google/go-cmp/cmp"
)

// stored computes run 0 with 10 steps in a new folder.
func stored(t *testing.T) *Store {
	t.Helper()
	store := open(t, t.TempDir())
	execute(t, store, nil, testJob(0, upTo(10), new(atomic.Int64)))
	return store
}

func wantRows(seed int, steps []int) (rows []Row) {
	for _, t := range steps {
		rows = append(rows, rowsAt(seed, t)...)
	}
	return rows
}

func TestRoundTrip(t *testing.T) {
	want := &Result{
		Spec: spec(3),
		Provenance: Provenance{Config: map[string]string{"a": "b"}, Commit: "c", Command: []string{"x"},
			Start: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), Seconds: 1.5},
		Steps: upTo(10),
		Rows:  wantRows(3, upTo(10)),
	}
	store := open(t, t.TempDir())
	demand.NoError(t, store.checkWritable("test"))
	demand.NoError(t, store.save(want))
	got, err := store.Read(spec(3))
	demand.NoError(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := store.Read(spec(4)); !errors.Is(err, ErrMissing) {
		t.Errorf("a run that is not stored: %v", err)
	}
}

func TestDamagedFileIsRecomputed(t *testing.T) {
	store := stored(t)
	want := secondFrame(t, store, spec(0))
	path := store.donePath(spec(0))
	demand.Write(t, path, demand.Read(t, path)[:100])
	if state := store.State(spec(0), upTo(10)); state.Kind != Missing || !strings.Contains(state.Message, "damaged") {
		t.Errorf("state is %v", state)
	}
	var out bytes.Buffer
	var count atomic.Int64
	report := execute(t, store, &out, testJob(0, upTo(10), &count))
	if report.Computed != 1 || count.Load() != 10 {
		t.Errorf("computed %d runs, %d steps", report.Computed, count.Load())
	}
	demand.Words(t, out.String(), path+" is damaged")
	if !bytes.Equal(secondFrame(t, store, spec(0)), want) {
		t.Error("the recomputed run has other bytes")
	}
}

// A file that is cut is damaged; one with a changed bit is damaged or has the same content.
func TestEveryByteCounts(t *testing.T) {
	store := stored(t)
	file := demand.Read(t, store.donePath(spec(0)))
	want, err := decodeResult(file)
	demand.NoError(t, err)
	for at := range file {
		if _, err := decodeResult(file[:at]); err == nil {
			t.Errorf("cut to %d of %d bytes it passes", at, len(file))
		}
		for bit := range 8 {
			altered := bytes.Clone(file)
			altered[at] ^= 1 << bit
			got, err := decodeResult(altered)
			if err == nil && !cmp.Equal(got, want) { // zstd ignores one reserved bit
				t.Errorf("bit %d of byte %d flipped: it passes with other content", bit, at)
			}
		}
	}
}

// The checksum detects what zstd's own cannot: edited rows in a file that was compressed again.
func TestEditedRows(t *testing.T) {
	_, content, _ := bytes.Cut(unpacked(t, stored(t)), []byte("\n"))
	_, err := decodeContent(content)
	demand.NoError(t, err)
	lines := bytes.SplitAfter(content, []byte("\n"))
	for i := range lines {
		if len(lines[i]) == 0 {
			continue
		}
		dropped := slices.Concat(slices.Concat(lines[:i]...), slices.Concat(lines[i+1:]...))
		if _, err := decodeContent(dropped); err == nil {
			t.Errorf("without line %d it passes", i)
		}
	}
	if _, err := decodeContent(bytes.Replace(content, []byte(`"t":5`), []byte(`"t":6`), 1)); err == nil {
		t.Error("with an edited row it passes")
	}
}

func unpacked(t *testing.T, store *Store) []byte {
	t.Helper()
	file := demand.Read(t, store.donePath(spec(0)))
	_, decoder := codec()
	text, err := decoder.DecodeAll(file, nil)
	demand.NoError(t, err)
	return text
}

// Many owners lock the same run, each removing the lock file: never two at once.
func TestClaimExcludes(t *testing.T) {
	store := open(t, t.TempDir())
	demand.NoError(t, store.checkWritable("test"))
	var inside, claimed atomic.Int64
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 300 {
				held, err := store.claim(spec(0), claimPauses...)
				if err != nil {
					t.Error(err)
				}
				if held == nil {
					continue
				}
				if inside.Add(1) != 1 {
					t.Error("two owners at once")
				}
				claimed.Add(1)
				runtime.Gosched()
				inside.Add(-1)
				held.release()
			}
		})
	}
	wait.Wait()
	if claimed.Load() < 300 {
		t.Errorf("claimed %d times only", claimed.Load())
	}
}

// Undamaged frames of two runs, or of another run than the name's.
func TestForeignFile(t *testing.T) {
	store := stored(t)
	demand.NoError(t, os.Rename(store.donePath(spec(0)), store.donePath(spec(1))))
	var damaged *DamagedError
	if _, err := store.Read(spec(1)); !errors.As(err, &damaged) || !errors.Is(err, ErrMissing) {
		t.Errorf("another run's file: %v", err)
	}
	encoder, _ := codec()
	mixed := encoder.EncodeAll(jsonLine(headerLine{Format: format, Spec: spec(0)}), nil)
	mixed = encoder.EncodeAll(encodeContentOf(spec(1)), mixed)
	_, err := decodeResult(mixed)
	demand.Error(t, err, "different runs")
}

// A file of a newer version is kept, and its run is not computed.
func TestNewerFile(t *testing.T) {
	store := stored(t)
	encoder, _ := codec()
	newer := encoder.EncodeAll(jsonLine(headerLine{Format: format + 1, Spec: spec(0)}), nil)
	demand.NoError(t, os.WriteFile(store.donePath(spec(0)), newer, 0o644))
	report, err := Execute(t.Context(), store, []Job{testJob(0, upTo(10), new(atomic.Int64))}, Options{})
	demand.NoError(t, err)
	demand.Error(t, report.Err(), store.donePath(spec(0)), "newer version", "--results")
	demand.Equal(t, string(demand.Read(t, store.donePath(spec(0)))), string(newer), "file")
}

func encodeContentOf(spec Spec) []byte {
	line := jsonLine(contentLine{Spec: spec})
	return append(line, jsonLine(endLine{SHA256: digest(line)})...)
}

func TestReadOnlyFolder(t *testing.T) {
	store := stored(t)
	for _, dir := range []string{filepath.Join(store.dir, "test"), store.dir} {
		demand.NoError(t, os.Chmod(dir, 0o555))
		t.Cleanup(func() { os.Chmod(dir, 0o755) })
	}
	if os.WriteFile(filepath.Join(store.dir, "probe"), nil, 0o644) == nil {
		t.Skip("this user may write into read-only folders")
	}
	execute(t, store, nil, testJob(0, upTo(10), new(atomic.Int64))) // cached: fine
	var count atomic.Int64
	_, err := Execute(t.Context(), store, []Job{testJob(1, upTo(1), &count)}, Options{})
	if !errors.As(err, new(*FolderError)) || count.Load() != 0 {
		t.Errorf("Execute: %v, after %d steps", err, count.Load())
	}
	demand.Error(t, err, "cannot be written")
}

// Small files that decompress to gigabytes, or say so, and large files are refused, by every reader.
func TestLargeFiles(t *testing.T) {
	encoder, _ := codec()
	head := encoder.EncodeAll(jsonLine(headerLine{Format: format, Spec: spec(0)}), nil)
	for _, file := range map[string][]byte{
		"frames":        append(head, bytes.Repeat(encoder.EncodeAll(make([]byte, 1<<20), nil), maxFile>>20)...),
		"declared size": append(head, 0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0xc0, 1, 0, 0), // one segment of 3 GB
	} {
		_, err := decodeResult(file)
		demand.Error(t, err, "it does not decompress")
	}
	store := open(t, t.TempDir())
	demand.NoError(t, store.checkWritable("test"))
	for _, path := range []string{store.donePath(spec(0)), store.partialPath(spec(0)), store.failedPath(spec(0))} {
		demand.Write(t, path, "")
		if err := os.Truncate(path, 1<<40); err != nil {
			t.Skip("no sparse files here: ", err)
		}
	}
	_, err := store.Read(spec(0))
	demand.Error(t, err, "cannot be read", "more than")
	if state := store.State(spec(0), []int{0}); state.Steps > 0 || !strings.Contains(state.Message, "more than") {
		t.Errorf("state %v", state)
	}
	if specs, err := store.Specs(); err != nil || len(specs) != 0 {
		t.Errorf("%v, %v", specs, err)
	}
}
