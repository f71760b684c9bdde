package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tvps/replicate/cluster"
	"tvps/replicate/cluster/slurm"
	"tvps/replicate/cluster/slurm/slurmtest"
)

// shortTasks is panel a of Figure 1 in several tasks.
var shortTasks = slices.Concat(longer[:len(longer):len(longer)], []string{"--set", "stack=1", "--task-time", "60ms",
	"--gpu-for", "none", "--backend", "go"})

// submitArgs are the arguments that submit it.
func (s *sandbox) submitArgs(more ...string) []string {
	args := slices.DeleteFunc(slices.Clone(shortTasks), func(a string) bool { return a == "--workers" || a == "2" })
	return slices.Concat([]string{"submit", "fig1"}, args, []string{"--results", s.results, "--out", s.out,
		"--folder", filepath.Join(s.out, "cluster")}, more)
}

func (s *sandbox) submitted() string { return filepath.Join(s.out, "cluster", "plan.json") }

// drawn returns the CSV of panel a, also of a figure below the folder of submit.
func (s *sandbox) drawn(t *testing.T) string {
	t.Helper()
	for _, folder := range []string{s.out, filepath.Join(s.out, "fig01")} {
		if text, err := os.ReadFile(filepath.Join(folder, "fig01-a.csv")); err == nil {
			return string(text)
		}
	}
	t.Fatal("panel a was not drawn")
	return ""
}

// TestSlurm: a figure that three nodes compute, one of which is lost meanwhile, has the table of a local one. No stored
// step is computed again.
func TestSlurm(t *testing.T) {
	c := slurmtest.Start(t)
	t.Setenv("SLURM_CONF", filepath.Join(c.Dir, "slurm.conf"))
	local, s := newSandbox(t), newSandbox(t)
	if code, _, stderr := local.run(t, fig1(longer, "--set", "stack=1")...); code != 0 {
		t.Fatal(stderr)
	}
	cmd, stdout, stderr := s.command(s.submitArgs("--wait")...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c.Wait(10*time.Minute, "some stored steps", func() bool { return s.stepsDone() > 5 })
	attempts, _, err := cluster.Attempts(s.submitted())
	if err != nil {
		t.Fatal(err)
	}
	lost := attempts[len(attempts)-1].Node
	c.StopNode(lost)
	stored := s.stepsDone()
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s%s", err, stdout, stderr)
	}
	if got, want := s.drawn(t), local.drawn(t); got != want {
		t.Errorf("the tables differ:\n%s\n%s", got, want)
	}
	if !strings.Contains(stdout.String(), "Claims") && !strings.Contains(stdout.String(), "claim") {
		t.Errorf("the verdicts are missing:\n%s", stdout)
	}
	nodes, steps := map[string]bool{}, 0
	attempts, _, err = cluster.Attempts(s.submitted())
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range attempts {
		nodes[a.Node] = true
		steps += a.Steps
	}
	if len(nodes) < 2 {
		t.Errorf("only the nodes %v did work", nodes)
	}
	t.Logf("%d attempts on %d nodes, %d stored steps when %s was lost", len(attempts), len(nodes), stored, lost)
	p, err := cluster.Read(s.submitted())
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, task := range p.Tasks {
		for _, r := range task.Runs {
			total += len(r.Seeds) * len(r.Steps)
		}
	}
	// Attempts that were killed have noted nothing: what they stored was not computed again.
	if steps > total {
		t.Errorf("%d steps were computed, of %d", steps, total)
	}
	st, err := slurm.ReadStatus(t.Context(), s.submitted(), p)
	if err != nil || st.Err() != nil || !st.Over() {
		t.Errorf("%v, %v", err, st.Err())
	}
	code, out, _ := s.run(t, s.submitArgs()...)
	if code != 0 || !strings.Contains(out, "nothing to submit") {
		t.Errorf("the second time: exit code %d, %s", code, out)
	}
}

// TestSlurmFailure: a task that cannot store its runs fails, `status` names task, node and log, and nothing is drawn.
func TestSlurmFailure(t *testing.T) {
	c := slurmtest.Start(t)
	t.Setenv("SLURM_CONF", filepath.Join(c.Dir, "slurm.conf"))
	s := newSandbox(t)
	if err := os.MkdirAll(s.results, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.results, "gaussian"), nil, 0o644); err != nil { // where its folder should be
		t.Fatal(err)
	}
	code, out, stderr := s.run(t, s.submitArgs("--wait", "--retries", "0")...)
	if code != 1 {
		t.Errorf("exit code %d, %s%s", code, out, stderr)
	}
	code, out, stderr = s.run(t, "status", "--plan", s.submitted())
	if code != 1 || strings.Count(stderr, "\n") != 1 {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	for _, part := range []string{"task 0 (cpu) failed on n", "cannot be written", "tvps-cpu-1-", "draw cancelled"} {
		if !strings.Contains(out, part) {
			t.Errorf("%q is missing in\n%s", part, out)
		}
	}
}
