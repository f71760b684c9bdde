package runs

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"tvps/ci/demand"

	"github.com/google/go-cmp/cmp"
)

// The golden value keeps stored results valid: change it only when every
// stored run must be computed again.
func TestIDIsStable(t *testing.T) {
	if got, want := spec(0).ID(), "9ee228d2a3860ece"; got != want {
		t.Errorf("ID = %s, want %s", got, want)
	}
	empty := Spec{Experiment: "e", Learner: "l"}
	made := Spec{Experiment: "e", Learner: "l", Settings: map[string]string{}}
	if empty.ID() != made.ID() {
		t.Error("nil and empty settings have different IDs")
	}
}

func TestIDChangesWithEachField(t *testing.T) {
	changes := map[string]func(*Spec){
		"nothing":       func(*Spec) {},
		"experiment":    func(s *Spec) { s.Experiment = "other" },
		"learner":       func(s *Spec) { s.Learner = "recent" },
		"seed":          func(s *Spec) { s.Seed = 1 },
		"setting":       func(s *Spec) { s.Settings["lr"] = "0.2" },
		"new setting":   func(s *Spec) { s.Settings["clip"] = "" },
		"fewer":         func(s *Spec) { delete(s.Settings, "lr") },
		"value as name": func(s *Spec) { s.Settings = map[string]string{"epochs": "0.1", "lr": "20"} },
	}
	seen := map[string]string{}
	for name, change := range changes {
		s := spec(0)
		change(&s)
		if other, ok := seen[s.ID()]; ok {
			t.Errorf("%q and %q have the same ID", name, other)
		}
		seen[s.ID()] = name
	}
}

// What cannot be stored is refused before a step is computed.
func TestJobsThatCannotBeKept(t *testing.T) {
	refused := func(change func(*Job)) error {
		t.Helper()
		job := testJob(0, upTo(1), nil) // which cannot count
		change(&job)
		_, err := Execute(t.Context(), open(t, t.TempDir()), []Job{job}, Options{})
		return err
	}
	for _, name := range []string{"", "..", "a/b", ".hidden", "a\xff", "../up"} {
		if refused(func(j *Job) { j.Spec.Experiment = name }) == nil {
			t.Errorf("experiment %q passes", name)
		}
	}
	demand.Error(t, refused(func(j *Job) { j.Spec.Settings["name"] = "\xff" }), "UTF-8")
	demand.Error(t, refused(func(j *Job) { j.Steps = nil }), "steps")
}

func TestSpecsAreInOrderWithoutDamage(t *testing.T) {
	store := open(t, t.TempDir())
	of := func(learner string, seed int64) Spec { return Spec{Experiment: "other", Learner: learner, Seed: seed} }
	want := []Spec{of("a", 10), of("b", 1), of("b", 9), of("b", 10), of("c", 3), of("d", 0), spec(2), spec(3),
		spec(4), spec(11)}
	for _, s := range append(slices.Clone(want), spec(5), spec(6), spec(8)) {
		execute(t, store, nil, stepJob(s, upTo(1), stepOf(testJob(0, nil, new(atomic.Int64)))))
	}
	demand.Write(t, store.donePath(spec(5)), "not zstd")
	elsewhere := filepath.Join(store.dir, "other", filepath.Base(store.donePath(spec(8))))
	if err := errors.Join(os.Rename(store.donePath(spec(6)), store.donePath(spec(7))),
		os.Rename(store.donePath(spec(8)), elsewhere)); err != nil {
		t.Fatal(err)
	}
	begun(t, store, spec(9), upTo(3), Provenance{})
	for _, name := range []string{"test/." + spec(1).ID() + fileSuffix, "test/x.lock", "other/test-0.jsonl.zst",
		"test/" + spec(2).ID() + ".shards/1of2.partial.jsonl", // of an older program
		".hidden/x.jsonl.zst", "note.txt"} {
		path := filepath.Join(store.dir, name)
		demand.NoError(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o644)))
	}
	before := demand.Files(t, store.dir)
	specs, err := store.Specs()
	if diff := cmp.Diff(append(want, spec(9)), specs, cmp.Transformer("ID", Spec.ID)); diff != "" || err != nil {
		t.Error(diff, err)
	}
	demand.Write(t, store.partialPath(spec(9)), "{}\n")
	before["test/"+spec(9).ID()+partialSuffix] = "{}\n"
	if specs, err = store.Specs(); len(specs) != len(want) || err != nil {
		t.Errorf("%v, %v", specs, err)
	}
	if diff := cmp.Diff(before, demand.Files(t, store.dir)); diff != "" {
		t.Errorf("listing changed the folder: %s", diff)
	}
}

func TestView(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	demand.Write(t, file, "")
	for path, word := range map[string]string{filepath.Join(dir, "none"): "there is no", file: "is a file",
		filepath.Join(file, "below"): "there is no"} {
		_, err := View(path)
		demand.Error(t, err, path, word)
	}
	if _, err := os.Stat(filepath.Join(dir, "none")); err == nil {
		t.Error("View made the folder")
	}
	store, err := View(dir)
	if err != nil || store.Dir() != dir {
		t.Fatal(err)
	}
	if specs, err := store.Specs(); specs != nil || err != nil {
		t.Errorf("an empty folder holds %v, %v", specs, err)
	}
}
