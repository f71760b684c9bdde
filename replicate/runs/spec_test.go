package runs

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

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
	demand.Error(t, refused(func(j *Job) { j.Spec.Experiment = "a\xff" }), "UTF-8")
	demand.Error(t, refused(func(j *Job) { j.Spec.Settings["name"] = "\xff" }), "UTF-8")
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
	demand.NoError(t, os.Rename(store.donePath(spec(6)), store.donePath(spec(7))))
	demand.NoError(t, os.Rename(store.donePath(spec(8)), elsewhere))
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
	demand.Equal(t, cmp.Diff(before, demand.Files(t, store.dir)), "", "changes of the folder by listing it")
}

// Neither host nor user are named unless that is asked for; what a command says besides stays.
func TestProvenanceWithoutNames(t *testing.T) {
	args := os.Args
	defer func() { os.Args = args }()
	os.Args = []string{"/home/alice/go/bin/replicate", "fig1", "--results", "/home/alice/results", "--out=/scratch/alice/figs/",
		"--set", "a.data=~/cifar,seeds=3", "--params", "x:/home/alice/p.json,y:~alice/q", "--cwd", "~", "--results=res/a",
		"--stride", "1/2", "/"}
	want := []string{"replicate", "fig1", "--results", "results", "--out=figs", "--set", "a.data=cifar,seeds=3", "--params",
		"x:p.json,y:q", "--cwd", "~", "--results=res/a", "--stride", "1/2", "/"}
	p := NewProvenance("xla:cpu", map[string]string{"plugin": "1.2"})
	if p.Backend != "xla:cpu" || p.Versions["plugin"] != "1.2" || p.Versions["go"] != runtime.Version() ||
		p.Platform == "" || p.Start.IsZero() {
		t.Errorf("provenance %+v", p)
	}
	demand.List(t, p.Command, want, "the command")
	host, err := os.Hostname()
	demand.NoError(t, err)
	text := string(jsonLine(p))
	if strings.Contains(text, "alice") || strings.Contains(text, fmt.Sprintf("%q", host)) {
		t.Errorf("provenance %s", text)
	}
}

// The test binary has no module list of its own.
func TestVersionsAndCommitOfTheBuild(t *testing.T) {
	info := &debug.BuildInfo{
		Deps: []*debug.Module{
			{Path: "a", Version: "v1.2.3"},
			{Path: "b", Version: "v1.0.0", Replace: &debug.Module{Path: "/home/alice/fork", Version: "v1.0.1"}},
		},
		Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "true"}},
	}
	if got := moduleVersions(info); got["a"] != "v1.2.3" || got["b"] != "fork v1.0.1" {
		t.Errorf("versions %v", got)
	}
	if commit, dirty := stampedCommit(info); commit != "abc" || !dirty {
		t.Errorf("commit %q, dirty %t", commit, dirty)
	}
}

// The commit is only taken from the module's own repository, and a changed file makes it dirty. It does not change
// while the program runs.
func TestWorkingCommit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	before := NewProvenance("", nil).Commit
	t.Chdir(t.TempDir())
	demand.Write(t, "go.mod", "module tvps\n\ngo 1.26\n")
	for _, command := range []string{"init -q", "add .",
		"-c user.name=n -c user.email=e -c commit.gpgsign=false commit -q -m m"} {
		if output, ok := git(strings.Fields(command)...); !ok {
			t.Fatalf("git %s: %s", command, output)
		}
	}
	if commit, dirty := workingCommit(ownModule); len(commit) < 40 || dirty {
		t.Errorf("commit %q, dirty %t", commit, dirty)
	}
	demand.Equal(t, NewProvenance("", nil).Commit, before, "the commit from which the program was built")
	if commit, _ := workingCommit("example.com/stranger"); commit != "" {
		t.Errorf("took the commit of another module: %q", commit)
	}
	demand.Write(t, "new.go", "")
	if _, dirty := workingCommit(ownModule); !dirty {
		t.Error("a new file does not make it dirty")
	}
}

// The provenance of a result of several sessions names all commits.
func TestProvenanceOfSessions(t *testing.T) {
	store := open(t, t.TempDir())
	run := func(commit string, dirty bool, steps int) Provenance {
		template := Provenance{Command: []string{"replicate"}, Commit: commit, Dirty: dirty, Backend: "go"}
		report, err := Execute(t.Context(), store, []Job{testJob(5, upTo(steps), new(atomic.Int64))},
			Options{Provenance: template})
		demand.NoError(t, err)
		return report.Results[spec(5).ID()].Provenance
	}
	first := run("a", false, 2)
	time.Sleep(time.Millisecond)
	second := run("b", true, 4)
	third := run("b", true, 6)
	if !slices.Equal(third.Commits, []string{"a", "b-dirty"}) || third.Commit != "b" || !third.Dirty {
		t.Errorf("commits %q, last %q", third.Commits, third.Commit)
	}
	if !third.Start.Equal(first.Start) || third.Seconds <= second.Seconds || second.Seconds <= first.Seconds {
		t.Errorf("start %v and %v, seconds %g, %g, %g", first.Start, third.Start, first.Seconds,
			second.Seconds, third.Seconds)
	}
	if third.Seed != 5 || third.Config["epochs"] != "20" || third.Backend != "go" {
		t.Errorf("provenance %+v", third)
	}
}

func TestEmptyStore(t *testing.T) {
	if specs, err := open(t, t.TempDir()).Specs(); specs != nil || err != nil {
		t.Errorf("an empty folder holds %v, %v", specs, err)
	}
}
