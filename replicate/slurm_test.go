package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"tvps/ci/demand"
	"tvps/data/artifact"
	"tvps/replicate/cluster"
	"tvps/replicate/cluster/slurmtest"
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
	local.succeed(t, fig1(longer, "--set", "stack=1")...)
	cmd, stdout, stderr := s.command(s.submitArgs("--wait")...)
	demand.NoError(t, cmd.Start())
	c.Wait(10*time.Minute, "some stored steps", func() bool { return s.stepsDone() > 5 })
	attempts, err := cluster.Attempts(s.submitted())
	demand.NoError(t, err)
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
	attempts, err = cluster.Attempts(s.submitted())
	demand.NoError(t, err)
	for _, a := range attempts {
		nodes[a.Node] = true
		steps += a.Steps
	}
	if len(nodes) < 2 {
		t.Errorf("only the nodes %v did work", nodes)
	}
	t.Logf("%d attempts on %d nodes, %d stored steps when %s was lost", len(attempts), len(nodes), stored, lost)
	p, err := cluster.Read(s.submitted())
	demand.NoError(t, err)
	total := p.Cost().Steps
	// Attempts that were killed have noted nothing: what they stored was not computed again.
	if steps > total {
		t.Errorf("%d steps were computed, of %d", steps, total)
	}
	st, err := cluster.ReadStatus(t.Context(), s.submitted(), p)
	if err != nil || st.Err() != nil || !st.Over() {
		t.Errorf("%v, %v", err, st.Err())
	}
	out, _ := s.succeed(t, s.submitArgs()...)
	demand.Words(t, out, "nothing to submit")
}

// TestSlurmAgents: two groups of three agents are interrupted, and continue on two nodes at their episode. The table is
// that of agents that were never interrupted.
func TestSlurmAgents(t *testing.T) {
	if !demand.Nightly {
		t.Skip("TVPS_NIGHTLY is not set")
	}
	c := slurmtest.Start(t)
	t.Setenv("SLURM_CONF", filepath.Join(c.Dir, "slurm.conf"))
	cache, err := artifact.CacheDir() // with XLA and MuJoCo
	demand.NoError(t, err)
	local, s := newSandbox(t), newSandbox(t)
	local.cache, s.cache = cache, cache
	agents := []string{"--panel", "a", "--scale", "tiny", "--series", "sac", "--seeds", "0-5", "--set", "episodes=80",
		"--set", "threads=0"} // so a group takes a whole node of two processors
	local.succeed(t, slices.Concat([]string{"fig10"}, agents, []string{"--results", local.results, "--out", local.out})...)
	submit := func(more ...string) (int, string) {
		code, out, stderr := s.run(t, slices.Concat([]string{"submit", "fig10"}, agents, []string{"--gpu-for", "none",
			"--results", s.results, "--out", s.out, "--task-time", "3s", "--folder", filepath.Dir(s.submitted())}, more)...)
		return code, out + stderr
	}
	if code, text := submit(); code != 0 {
		t.Fatal(text)
	}
	c.Wait(10*time.Minute, "evaluation of the agents", func() bool { return s.agentSteps() >= 6 })
	s.succeed(t, "cancel", "--plan", s.submitted())
	c.Wait(time.Minute, "end of the jobs", func() bool {
		out, err := c.Command("squeue", "-h", "-a", "-t", "running,completing").Output()
		return err == nil && len(out) == 0
	})
	saved, _ := filepath.Glob(filepath.Join(s.results, "claw", "*.state"))
	done := s.agentSteps()
	if len(saved) == 0 || len(saved) > 2 || done >= 6*10 {
		t.Fatalf("%d checkpoints after %d steps, want one of each unfinished group\n%s", len(saved), done, s.logs())
	}
	if code, text := submit("--wait"); code != 0 {
		t.Fatal(text)
	}
	attempts, err := cluster.Attempts(s.submitted())
	demand.NoError(t, err)
	p, err := cluster.Read(s.submitted())
	demand.NoError(t, err)
	computed, missing, ofAgents := 0, p.Cost().Steps, 0
	nodes := map[string]bool{}
	for _, a := range attempts {
		computed += a.Steps
		if p.Tasks[a.Task].Runs[0].Series == "sac" {
			nodes[a.Node] = true
		}
	}
	for _, task := range p.Tasks {
		for _, r := range task.Runs {
			if r.Series == "sac" {
				ofAgents += len(r.Seeds) * len(r.Steps)
			}
		}
	}
	continued := regexp.MustCompile(`claw/sac: seeds \[(.*)\] continue at episode [1-9]`)
	var seeds []string
	for _, m := range continued.FindAllStringSubmatch(s.logs(), -1) {
		seeds = append(seeds, m[1])
	}
	if slices.Sort(seeds); !slices.Equal(seeds, []string{"0 1 2", "3 4 5"}) {
		t.Errorf("the seeds %q continued, want those of two groups", seeds)
	}
	if len(nodes) != 2 || ofAgents != 6*10-done || computed != missing {
		t.Errorf("%d steps on the nodes %v, of %d missing ones, %d of them of agents that had %d", computed, nodes,
			missing, ofAgents, done)
	}
	want := demand.Read(t, filepath.Join(local.out, "fig10-a.csv"))
	got, err := os.ReadFile(filepath.Join(s.out, "fig10", "fig10-a.csv"))
	if err != nil || string(got) != string(want) {
		t.Errorf("the tables differ (%v):\n%s\n%s", err, got, want)
	}
}

// logs returns the logs of all tasks.
func (s *sandbox) logs() string {
	paths, _ := filepath.Glob(filepath.Join(filepath.Dir(s.submitted()), "logs", "*.log"))
	var all strings.Builder
	for _, path := range paths {
		text, _ := os.ReadFile(path)
		fmt.Fprintf(&all, "%s:\n%s", filepath.Base(path), text)
	}
	return all.String()
}

// agentSteps counts the complete steps of unfinished agents.
func (s *sandbox) agentSteps() int {
	paths, _ := filepath.Glob(filepath.Join(s.results, "claw", "*.partial.jsonl"))
	n := 0
	for _, path := range paths {
		if text, _ := os.ReadFile(path); bytes.Contains(text, []byte(`"learner":"sac"`)) {
			n += bytes.Count(text, []byte(`{"done":`))
		}
	}
	return n
}

// TestSubmit submits to programs that answer as a busy Slurm does: while a first submit waits for sbatch a second one
// is refused, and --wait outlives an answer of squeue that does not come. Only names that a shell can export are
// exported.
func TestSubmit(t *testing.T) {
	s, bin := newSandbox(t), t.TempDir()
	for name, text := range map[string]string{
		"scontrol": "echo 'MaxArraySize = 1001'",
		"sbatch":   `touch "$0.called"; sleep .5; echo 41`,
		"squeue":   `[ -e "$0.called" ] || { touch "$0.called"; echo 'Socket timed out on send/recv operation' >&2; exit 1; }`,
	} {
		demand.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755))
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	s.env = []string{"TVPS_x%%=() { :; }", "TVPS_note=two\nlines"}
	first, _, stderr := s.command(s.submitArgs("--wait")...)
	demand.NoError(t, first.Start())
	for range 500 {
		if _, err := os.Stat(filepath.Join(bin, "sbatch.called")); err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if code, _, second := s.run(t, s.submitArgs()...); code != 1 || !strings.Contains(second, "another submit is at work") {
		t.Errorf("a second submit: exit code %d, %s", code, second)
	}
	first.Wait() // its jobs are not in the queue, and nothing is drawn
	if text := stderr.String(); !strings.Contains(text, "Socket timed out") || !strings.Contains(text, "cancelled") {
		t.Errorf("%s", text)
	}
	scripts, _ := filepath.Glob(filepath.Join(filepath.Dir(s.submitted()), "*.sbatch"))
	if len(scripts) == 0 {
		t.Fatal("no script was written")
	}
	text := demand.Read(t, scripts[0])
	if bytes.Contains(text, []byte("x%%")) || !bytes.Contains(text, []byte("export TVPS_note='two\nlines'\n")) {
		t.Errorf("%s", text)
	}
	for _, flag := range []string{"--folder", "--sbatch", "--account"} {
		s.refuse(t, 2, s.submitArgs(flag, "a\nrm x"), flag)
	}
}
