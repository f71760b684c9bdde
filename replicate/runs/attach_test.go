package runs

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
)

// An attachment is stored with its run, is not listed as a run, and is copied when runs are merged.
func TestAttachments(t *testing.T) {
	from, into := open(t, filepath.Join(t.TempDir(), "res[1]")), open(t, filepath.Join(t.TempDir(), "*"))
	batch := batchOf(func(_ context.Context, _ []int64, members []Spec, files Files) (GroupStep, func(), error) {
		return func(_ context.Context, at int) ([][]Row, error) {
			return [][]Row{rowsAt(0, at)}, files.Attach(members[0], "film.svg", []byte("<svg/>"))
		}, nil, nil
	}, 0)
	execute(t, from, nil, Job{Spec: spec(0), Steps: upTo(2), Batch: batch})
	if got := string(from.Attached(spec(0), "film.svg")); got != "<svg/>" {
		t.Errorf("attached %q", got)
	}
	if got := from.Attached(spec(1), "film.svg"); got != nil {
		t.Errorf("attached %q to a run that is not there", got)
	}
	if list, problems, err := from.Finished(); err != nil || len(list) != 1 || len(problems) > 0 {
		t.Errorf("%d runs listed, %v, %v", len(list), problems, err)
	}
	path := from.attachmentPath(spec(0), "film.svg")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole { // a changed byte is never read back as content, and is not copied
		changed := bytes.Clone(whole)
		changed[i] ^= 1
		if got, ok := attachment(changed); ok {
			t.Errorf("byte %d changed: read as %q", i, got)
		}
	}
	if got, ok := attachment([]byte("<svg></svg>\n")); ok {
		t.Errorf("an attachment without a checksum is read as %q", got)
	}
	if err := os.WriteFile(path, bytes.Replace(whole, []byte("<svg/>"), []byte("<svh/>"), 1), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Merge(t.Context(), into, []*Store{from}); err != nil || from.Attached(spec(0), "film.svg") != nil ||
		into.Attached(spec(0), "film.svg") != nil {
		t.Errorf("a damaged attachment is read or copied, %v", err)
	}
	if err := os.WriteFile(path, whole, 0o644); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := Merge(t.Context(), into, []*Store{from}); err != nil {
			t.Fatal(err)
		}
		if got := string(into.Attached(spec(0), "film.svg")); got != "<svg/>" {
			t.Errorf("merged %q", got)
		}
		// The second merge must not replace it.
		if err := os.WriteFile(from.attachmentPath(spec(0), "film.svg"), []byte("other"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
