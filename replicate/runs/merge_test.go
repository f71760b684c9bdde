package runs

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tvps/ci/demand"

	"github.com/google/go-cmp/cmp"
)

// finishedWith stores a run with these steps, which took 2 seconds each.
func finishedWith(t *testing.T, store *Store, s Spec, steps []int, provenance Provenance) {
	t.Helper()
	demand.NoError(t, store.checkWritable(s.Experiment))
	rows := map[int][]Row{}
	for _, step := range steps {
		rows[step] = rowsAt(int(s.Seed), step)
	}
	provenance = provenance.following(nil, 2*float64(len(steps)))
	demand.NoError(t, store.save(newResult(s, provenance, rows)))
}

// session is one that began at the given minute, from a commit of that name.
func session(minute int, commit string) Provenance {
	return Provenance{Commit: commit, Start: time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC)}
}

// merge fails the test on an error, or on problems that are not wanted.
func merge(t *testing.T, problems int, into *Store, from ...*Store) MergeReport {
	t.Helper()
	report, err := Merge(t.Context(), into, from)
	demand.NoError(t, err)
	if len(report.Problems) != problems {
		t.Errorf("%d problems, want %d: %v", len(report.Problems), problems, report.Problems)
	}
	return report
}

func counts(r MergeReport) [3]int { return [3]int{r.Added, r.Extended, r.Unchanged} }

// After a merge of interrupted runs only steps that none of them had are computed. The result has the bytes of an
// uninterrupted run and the provenance of all.
func TestMergeContinues(t *testing.T) {
	a, b, into := open(t, t.TempDir()), open(t, t.TempDir()), open(t, t.TempDir())
	begun(t, into, spec(0), []int{0, 1}, session(5, "into"))
	begun(t, a, spec(0), []int{1, 2}, session(1, "a"))
	begun(t, a, spec(0), nil, session(2, "no step of it"))
	begun(t, a, spec(0), []int{4, 3}, session(3, "a2"))
	begun(t, b, spec(0), []int{9, 6}, session(4, "b"))
	tear(t, b.partialPath(spec(0)))
	if got := counts(merge(t, 0, into, a, b)); got != [3]int{0, 1, 0} {
		t.Errorf("added, extended, unchanged %v", got)
	}
	part, err := into.unfinished(spec(0))
	demand.NoError(t, err)
	var commits []string
	for _, s := range part.sessions {
		commits = append(commits, s.Commit)
	}
	if part.seconds != 7 || part.damaged || !slices.Equal(commits, []string{"into", "a2", "b"}) {
		t.Errorf("merged steps took %g s in the sessions %q", part.seconds, commits)
	}
	var count atomic.Int64
	report := execute(t, into, nil, testJob(0, upTo(10), &count))
	if count.Load() != 3 {
		t.Errorf("%d steps computed after the merge, want 3", count.Load())
	}
	if !bytes.Equal(secondFrame(t, into, spec(0)), uninterrupted(t, 0, upTo(10))) {
		t.Error("other bytes than the uninterrupted run")
	}
	p := report.Results[spec(0).ID()].Provenance
	if !slices.Equal(p.Commits, []string{"into", "a", "a2", "b"}) || !p.Start.Equal(session(1, "").Start) ||
		p.Seconds < 7 {
		t.Errorf("provenance %+v", p)
	}
}

// A run that is finished in any folder is finished after the merge, with the steps of unfinished ones. The time of a
// file counts in proportion to the steps taken from it.
func TestMergeOfFinishedAndUnfinished(t *testing.T) {
	for name, prepare := range map[string]func(into, from *Store){
		"finished into under way": func(into, from *Store) {
			begun(t, into, spec(0), []int{0, 1, 2}, session(0, "a"))
			finishedWith(t, from, spec(0), []int{2, 3, 4, 5}, session(1, "b"))
		},
		"both, in both": func(into, from *Store) {
			begun(t, into, spec(0), []int{0, 1, 2}, session(0, "a"))
			begun(t, from, spec(0), []int{0, 1, 2}, session(0, "a"))
			finished, partial := open(t, t.TempDir()), into.partialPath(spec(0))
			finishedWith(t, finished, spec(0), []int{3, 4, 5}, session(1, "b"))
			demand.NoError(t, os.Rename(finished.donePath(spec(0)), into.donePath(spec(0))))
			finishedWith(t, from, spec(0), []int{3, 4, 0}, session(1, "c"))
			_, err := os.Stat(partial)
			demand.NoError(t, err)
		},
	} {
		into, from := open(t, t.TempDir()), open(t, t.TempDir())
		prepare(into, from)
		if got := counts(merge(t, 0, into, from)); got != [3]int{0, 1, 0} {
			t.Errorf("%s: added, extended, unchanged %v", name, got)
		}
		if !bytes.Equal(secondFrame(t, into, spec(0)), uninterrupted(t, 0, upTo(6))) {
			t.Errorf("%s: other bytes than the uninterrupted run", name)
		}
		result, err := into.load(spec(0))
		demand.NoError(t, err)
		p := result.Provenance
		if p.Seconds != 9 || p.Commit != "b" || !slices.Equal(p.Commits, []string{"a", "b"}) ||
			!p.Start.Equal(session(0, "").Start) {
			t.Errorf("%s: provenance %+v", name, p)
		}
		if files := demand.Files(t, into.dir); len(files) != 1 {
			t.Errorf("%s: %d files are left", name, len(files))
		}
	}
}

// A run of only one folder keeps all of its provenance.
func TestMergeKeepsProvenance(t *testing.T) {
	from, into := open(t, t.TempDir()), open(t, t.TempDir())
	p := session(3, "c")
	p.Dirty, p.Commits, p.Command, p.Versions = true, []string{"a", "c-dirty"}, []string{"x"}, map[string]string{"go": "1"}
	finishedWith(t, from, spec(0), upTo(7), p)
	merge(t, 0, into, from)
	if diff := cmp.Diff(demand.Files(t, from.dir), demand.Files(t, into.dir)); diff != "" {
		t.Error(diff)
	}
}

// Random sets of steps, some twice, some finished: every order of the folders gives the same rows, a second merge
// changes no byte, and the missing steps are computed.
func TestMergeOfRandomPieces(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	want := uninterrupted(t, 0, upTo(12))
	for round := range 10 {
		var from []*Store
		var unmerged []map[string]string
		finished, held := false, map[int]bool{}
		for i := range 3 {
			store := open(t, t.TempDir())
			var steps []int
			for step := range 12 {
				if random.IntN(3) == 0 {
					steps = append(steps, step)
					held[step] = true
				}
			}
			if random.IntN(3) == 0 && len(steps) > 0 {
				finishedWith(t, store, spec(0), steps, session(i, "f"))
				finished = true
			} else {
				begun(t, store, spec(0), steps, session(i, "p"))
			}
			from, unmerged = append(from, store), append(unmerged, demand.Files(t, store.dir))
		}
		for _, order := range [][]int{{0, 1, 2}, {2, 0, 1}, {1, 2, 0}} {
			into := open(t, t.TempDir())
			for _, i := range order {
				merge(t, 0, into, from[i])
			}
			state := into.State(spec(0), upTo(12))
			if _, err := into.Read(spec(0)); state.Steps != len(held) || (err == nil) != finished {
				t.Fatalf("round %d: %v after a merge of %d steps", round, state, len(held))
			}
			before := demand.Files(t, into.dir)
			again := merge(t, 0, into, from...)
			if diff := cmp.Diff(before, demand.Files(t, into.dir)); diff != "" || again.Added+again.Extended != 0 {
				t.Fatalf("round %d: a second merge changes the folder: %+v\n%s", round, again, diff)
			}
			var count atomic.Int64
			execute(t, into, nil, testJob(0, upTo(12), &count))
			if int(count.Load()) != 12-len(held) {
				t.Errorf("round %d: %d steps computed after %d were merged", round, count.Load(), len(held))
			}
			if !bytes.Equal(secondFrame(t, into, spec(0)), want) {
				t.Errorf("round %d: other bytes than the uninterrupted run", round)
			}
		}
		for i, store := range from {
			if diff := cmp.Diff(unmerged[i], demand.Files(t, store.dir)); diff != "" {
				t.Errorf("round %d: a merged folder changed: %s", round, diff)
			}
		}
	}
}

// A step with different values in two files is an error that leaves out only its run. The sign of zero is part of a
// value, the provenance is not.
func TestMergeRefusesOtherValues(t *testing.T) {
	altered := func(change func(rows []Row) []Row) *Store {
		store := open(t, t.TempDir())
		execute(t, store, nil, testJob(1, upTo(3), new(atomic.Int64)),
			stepJob(spec(0), upTo(5), func(_ context.Context, t int) ([]Row, error) {
				if t == 3 {
					return change(rowsAt(0, t)), nil
				}
				return rowsAt(0, t), nil
			}))
		return store
	}
	for name, change := range map[string]func(rows []Row) []Row{
		"last bit":  func(rows []Row) []Row { rows[0].Value = math.Nextafter(rows[0].Value, 1); return rows },
		"zero":      func(rows []Row) []Row { rows[1].Value = 0; return rows },
		"metric":    func(rows []Row) []Row { rows[2].Metric += "2"; return rows },
		"none":      func(rows []Row) []Row { return nil },
		"one more":  func(rows []Row) []Row { return append(rows, Row{3, "more", 1}) },
		"unchanged": func(rows []Row) []Row { return rows },
	} {
		into, from := stored(t), altered(change)
		before := secondFrame(t, into, spec(0))
		report, err := Merge(t.Context(), into, []*Store{from})
		if err != nil || report.Added != 1 || !bytes.Equal(secondFrame(t, into, spec(0)), before) {
			t.Errorf("%s: report %+v, error %v", name, report, err)
		}
		if name == "unchanged" {
			if len(report.Problems) != 0 || report.Unchanged != 1 {
				t.Errorf("%s: report %+v", name, report)
			}
			continue
		}
		if len(report.Problems) != 1 || report.Unchanged+report.Extended != 0 {
			t.Errorf("%s: report %+v", name, report)
			continue
		}
		demand.Error(t, report.Problems[0], "test/ours seed 0", "step 3", into.donePath(spec(0)), from.donePath(spec(0)))

		empty := open(t, t.TempDir()) // two folders that differ from each other
		if report := merge(t, 1, empty, stored(t), from); counts(report) != [3]int{1, 0, 0} {
			t.Errorf("%s: report %+v", name, report)
		}
		if _, err := empty.load(spec(0)); !errors.Is(err, ErrMissing) {
			t.Errorf("%s: a half of the conflict is stored: %v", name, err)
		}
	}
}

// A damaged file is named once and left in place. Other files of its run, and the steps before the damage, are merged.
func TestMergeOfDamagedFiles(t *testing.T) {
	flip := func(path string, at int) {
		data := demand.Read(t, path)
		data[(at+len(data))%len(data)] ^= 8
		demand.Write(t, path, data)
	}
	from, into := open(t, t.TempDir()), open(t, t.TempDir())
	finishedWith(t, from, spec(0), upTo(4), session(0, "a")) // damaged in its first line
	finishedWith(t, from, spec(1), upTo(4), session(0, "a")) // damaged at its end
	finishedWith(t, from, spec(2), upTo(4), session(0, "a"))
	begun(t, from, spec(1), []int{7}, session(0, "a"))
	begun(t, from, spec(3), upTo(4), session(0, "a")) // damaged in step 2
	begun(t, from, spec(4), upTo(4), session(0, "a")) // damaged in its first line
	flip(from.donePath(spec(0)), 2)
	flip(from.donePath(spec(1)), -3)
	flip(from.partialPath(spec(4)), 3)
	text := demand.Files(t, from.dir)["test/"+spec(3).ID()+partialSuffix]
	flip(from.partialPath(spec(3)), strings.Index(text, `{"t":2,"metric":"zero"`)+5)
	before := demand.Files(t, from.dir)
	report := merge(t, 4, into, from, from)
	if counts(report) != [3]int{3, 0, 0} {
		t.Errorf("report %+v", report)
	}
	for _, path := range []string{from.donePath(spec(0)), from.donePath(spec(1)), from.partialPath(spec(3)),
		from.partialPath(spec(4))} {
		if !slices.ContainsFunc(report.Problems, func(err error) bool {
			return strings.Contains(err.Error(),
				path+" is damaged")
		}) {
			t.Errorf("%s is not named in %v", path, report.Problems)
		}
	}
	for seed, steps := range []int{0, 1, 4, 2, 0} {
		if state := into.State(spec(seed), upTo(8)); state.Steps != steps {
			t.Errorf("seed %d: %v, want %d steps", seed, state, steps)
		}
	}
	if diff := cmp.Diff(before, demand.Files(t, from.dir)); diff != "" {
		t.Errorf("the merged folder changed: %s", diff)
	}

	flip(into.donePath(spec(2)), -3) // the folder's own file: moved to quarantine and replaced
	if report := merge(t, 5, into, from); counts(report) != [3]int{1, 0, 2} {
		t.Errorf("report %+v", report)
	}
	if _, err := into.load(spec(2)); err != nil {
		t.Error(err)
	}
	if moved, _ := filepath.Glob(filepath.Join(into.dir, quarantineFolder, "*.zst")); len(moved) != 1 {
		t.Errorf("quarantine holds %q", moved)
	}
}

// A run that a process is computing, in any of the folders, is not merged.
func TestMergeLeavesBusyRuns(t *testing.T) {
	for _, where := range []int{0, 1, 2} {
		stores := []*Store{open(t, t.TempDir()), stored(t), stored(t)}
		finishedWith(t, stores[2], spec(1), upTo(2), session(0, "a"))
		demand.NoError(t, stores[0].checkWritable("test"))
		release := claimed(t, stores[where], spec(0))
		report := merge(t, 1, stores[0], stores[1:]...)
		if counts(report) != [3]int{1, 0, 0} {
			t.Errorf("report %+v", report)
		}
		demand.Error(t, report.Problems[0], "test/ours seed 0", spec(0).ID(), "being computed in "+stores[where].dir)
		if _, err := stores[0].load(spec(0)); !errors.Is(err, ErrMissing) {
			t.Errorf("it was merged: %v", err)
		}
		release()
		if got := counts(merge(t, 0, stores[0], stores[1:]...)); got != [3]int{1, 0, 1} {
			t.Errorf("afterwards: %v", got)
		}
	}
}

func TestMergeInterrupted(t *testing.T) {
	into := open(t, t.TempDir())
	_, err := Merge(demand.Cancelled(), into, []*Store{stored(t)})
	demand.Error(t, err, "interrupted with 0 of 1 runs merged")
	if !errors.As(err, new(*InterruptedError)) || !errors.Is(err, context.Canceled) || len(demand.Files(t, into.dir)) != 0 {
		t.Errorf("error %v, files %v", err, demand.Files(t, into.dir))
	}
}
