package runs

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tvps/ci/demand"
)

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
