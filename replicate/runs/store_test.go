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
	if err := store.checkWritable("test"); err != nil {
		t.Fatal(err)
	}
	if err := store.save(want); err != nil {
		t.Fatal(err)
	}
	got, err := store.load(spec(3))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := store.load(spec(4)); !errors.Is(err, ErrMissing) {
		t.Errorf("a run that is not stored: %v", err)
	}
}

func TestDamagedFileIsQuarantinedAndRecomputed(t *testing.T) {
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
	if !strings.Contains(out.String(), path+" is damaged") {
		t.Errorf("the output does not name the file:\n%s", &out)
	}
	if !bytes.Equal(secondFrame(t, store, spec(0)), want) {
		t.Error("the recomputed run has other bytes")
	}
	moved, _ := filepath.Glob(filepath.Join(store.dir, "quarantine", "*.zst"))
	notes, _ := filepath.Glob(filepath.Join(store.dir, "quarantine", "*.reason.txt"))
	if len(moved) != 1 || len(notes) != 1 {
		t.Errorf("quarantine holds %q and %q", moved, notes)
	}
}

// A file that is cut is damaged; one with a changed bit is damaged or has the same content.
func TestEveryByteCounts(t *testing.T) {
	store := stored(t)
	file := demand.Read(t, store.donePath(spec(0)))
	want, err := decodeResult(file)
	if err != nil {
		t.Fatal(err)
	}
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
	if _, err := decodeContent(content); err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Many owners lock the same run, each removing the lock file: never two at once.
func TestClaimExcludes(t *testing.T) {
	store := open(t, t.TempDir())
	if err := store.checkWritable("test"); err != nil {
		t.Fatal(err)
	}
	var inside, claimed atomic.Int64
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 300 {
				release, err := store.claim(spec(0), claimPauses...)
				if err != nil {
					t.Error(err)
				}
				if release == nil {
					continue
				}
				if inside.Add(1) != 1 {
					t.Error("two owners at once")
				}
				claimed.Add(1)
				runtime.Gosched()
				inside.Add(-1)
				release()
			}
		})
	}
	wait.Wait()
	if claimed.Load() < 300 {
		t.Errorf("claimed %d times only", claimed.Load())
	}
}

// Undamaged frames of two runs, of another run than the name's, or of another format.
func TestForeignFile(t *testing.T) {
	store := stored(t)
	if err := os.Rename(store.donePath(spec(0)), store.donePath(spec(1))); err != nil {
		t.Fatal(err)
	}
	var damaged *DamagedError
	if _, err := store.load(spec(1)); !errors.As(err, &damaged) || damaged.MovedTo == "" || !errors.Is(err, ErrMissing) {
		t.Errorf("another run's file: %v", err)
	}
	encoder, _ := codec()
	mixed := encoder.EncodeAll(jsonLine(headerLine{Format: format, Spec: spec(0)}), nil)
	mixed = encoder.EncodeAll(encodeContentOf(spec(1)), mixed)
	if _, err := decodeResult(mixed); err == nil || !strings.Contains(err.Error(), "different runs") {
		t.Errorf("parts of two runs: %v", err)
	}
	newer := encoder.EncodeAll(jsonLine(headerLine{Format: format + 1, Spec: spec(2)}), nil)
	demand.Write(t, store.donePath(spec(2)), newer)
	var later *FormatError
	_, err := store.load(spec(2))
	if !errors.As(err, &later) || later.Path != store.donePath(spec(2)) || later.Format != format+1 ||
		errors.Is(err, ErrMissing) {
		t.Errorf("a newer format: %v", err)
	}
	if _, err := os.Stat(store.donePath(spec(2))); err != nil {
		t.Errorf("the newer file was moved: %v", err)
	}
}

func encodeContentOf(spec Spec) []byte {
	line := jsonLine(contentLine{Spec: spec})
	return append(line, jsonLine(endLine{SHA256: digest(line)})...)
}

func TestExplain(t *testing.T) {
	store := open(t, t.TempDir())
	with := func(seed int, learner string, settings map[string]string) Spec {
		return Spec{Experiment: "test", Learner: learner, Seed: int64(seed), Settings: settings}
	}
	for _, s := range []Spec{
		with(0, "ours", map[string]string{"epochs": "20", "lr": "0.1", "clip": "min"}),
		with(0, "ours", map[string]string{"epochs": "99", "lr": "9", "clip": "no"}),
		with(1, "ours", map[string]string{"epochs": "5", "lr": "0.1", "clip": "seed"}),
		with(0, "recent", map[string]string{"epochs": "5", "lr": "0.1", "clip": "learner"}),
	} {
		execute(t, store, nil, stepJob(s, upTo(1), stepOf(testJob(0, nil, new(atomic.Int64)))))
	}
	for want, settings := range map[string]map[string]string{
		"epochs 20 -> 5":                               {"epochs": "5", "lr": "0.1", "clip": "min"},
		"epochs 20 -> 5, lr 0.1 -> (none)":             {"epochs": "5", "clip": "min"},
		"clip min -> no, epochs 20 -> 99, lr 0.1 -> 9": {"epochs": "99", "lr": "9", "clip": "no"},
	} {
		if got := store.explainer()(with(0, "ours", settings)); got != want {
			t.Errorf("explainer: %v = %q, want %q", settings, got, want)
		}
	}
	var out bytes.Buffer
	changed := with(0, "ours", map[string]string{"epochs": "5", "lr": "0.1", "clip": "min"})
	execute(t, store, &out, stepJob(changed, upTo(1), stepOf(testJob(0, nil, new(atomic.Int64)))))
	if !strings.Contains(out.String(), "test/ours is new: epochs 20 -> 5 (1 run)") {
		t.Errorf("Execute does not explain:\n%s", &out)
	}
}

func TestUnusableFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	demand.Write(t, file, "")
	for _, dir := range []string{file, filepath.Join(file, "below")} {
		var unusable *FolderError
		if _, err := Open(dir); !errors.As(err, &unusable) || unusable.Dir != dir {
			t.Errorf("Open: %v", err)
		}
	}
	dir := t.TempDir()
	demand.Write(t, filepath.Join(dir, "test"), "")
	wantUnwritable(t, dir)
}

func TestReadOnlyFolder(t *testing.T) {
	store := stored(t)
	for _, dir := range []string{filepath.Join(store.dir, "test"), store.dir} {
		if err := os.Chmod(dir, 0o555); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(dir, 0o755) })
	}
	if os.WriteFile(filepath.Join(store.dir, "probe"), nil, 0o644) == nil {
		t.Skip("this user may write into read-only folders")
	}
	execute(t, store, nil, testJob(0, upTo(10), new(atomic.Int64))) // cached: fine
	wantUnwritable(t, store.dir)
}

func wantUnwritable(t *testing.T, dir string) {
	t.Helper()
	var count atomic.Int64
	_, err := Execute(t.Context(), open(t, dir), []Job{testJob(1, upTo(1), &count)}, Options{})
	if !errors.As(err, new(*FolderError)) || count.Load() != 0 {
		t.Errorf("Execute: %v, after %d steps", err, count.Load())
	}
	demand.Error(t, err, "cannot be written")
}
