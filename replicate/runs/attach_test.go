package runs

import (
	"context"
	"path/filepath"
	"testing"

	"tvps/ci/demand"
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
	for range 2 {
		if _, err := Merge(t.Context(), into, []*Store{from}); err != nil {
			t.Fatal(err)
		}
		if got := string(into.Attached(spec(0), "film.svg")); got != "<svg/>" {
			t.Errorf("merged %q", got)
		}
		// The second merge must not replace it.
		demand.Write(t, from.attachmentPath(spec(0), "film.svg"), "other")
	}
}
