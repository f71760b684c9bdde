package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"tvps/ci/demand"
	"tvps/replicate/cluster"
)

// plan writes the plan of a figure's missing runs and returns its file.
func (s *sandbox) plan(t *testing.T, args []string, more ...string) (string, cluster.Plan) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plan.json")
	stdout, _ := s.succeed(t, slices.Concat([]string{"plan", "fig1", "--backend", "go", "--results", s.results,
		"--format", "json", "--out", path}, args, more)...)
	demand.Words(t, stdout, "Plan: "+path)
	p, err := cluster.Read(path)
	demand.NoError(t, err)
	return path, p
}

// work computes a task and returns the exit code.
func (s *sandbox) work(t *testing.T, plan string, task int) (code int, stderr string) {
	t.Helper()
	code, stdout, stderr := s.run(t, "work", "--plan", plan, "--task", fmt.Sprint(task), "--results", s.results)
	if stdout != "" {
		t.Errorf("work prints %q", stdout)
	}
	return code, stderr
}

// The tasks of a plan compute what the figure would, and --stored draws it without training.
func TestPlanWorkAndStored(t *testing.T) {
	local, s := newSandbox(t), newSandbox(t)
	local.succeed(t, fig1(miniature)...)
	path, p := s.plan(t, miniature)
	if len(p.Tasks) != 1 || p.Cost().Runs != 4 || p.Cost().Steps != 12 || p.Tasks[0].Backend != "go" {
		t.Fatalf("%d tasks with %+v", len(p.Tasks), p.Cost())
	}
	if entries, _ := os.ReadDir(s.results); len(entries) > 0 {
		t.Error("planning wrote results")
	}
	os.Mkdir(s.results, 0o755)
	code, _, stderr := s.run(t, fig1(miniature, "--stored")...)
	if code != 1 || !strings.Contains(stderr, "4 of 4 runs not stored") || !strings.Contains(stderr, "Ours, seeds 0") {
		t.Errorf("--stored without runs: %d, %q", code, stderr)
	}
	if code, stderr = s.work(t, path, 0); code != 0 {
		t.Fatal(stderr)
	}
	if !regexp.MustCompile(`(?m)^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ gaussian/ours`).MatchString(stderr) {
		t.Errorf("no line with its time: %q", stderr)
	}
	attempts, err := cluster.Attempts(path)
	if err != nil || len(attempts) != 1 || attempts[0].Exit != 0 || attempts[0].Steps != 12 || attempts[0].Of != 12 ||
		attempts[0].End.IsZero() || attempts[0].Job != "" || attempts[0].Node != "" {
		t.Errorf("attempts %+v, %v", attempts, err)
	}
	s.env = []string{"PJRT_PLUGIN_LIBRARY_PATH=/nowhere"} // no backend is opened
	before := demand.Files(t, s.results)
	s.succeed(t, fig1(miniature, "--stored")...)
	if got, want := s.csv(t), local.csv(t); got != want {
		t.Errorf("the table is %q, on one machine %q", got, want)
	}
	if after := demand.Files(t, s.results); !maps.Equal(after, before) {
		t.Errorf("--stored changed the results: %d files, before %d", len(after), len(before))
	}
	s.env = nil
	if _, p = s.plan(t, miniature); len(p.Tasks) != 0 || p.Stored != 4 {
		t.Errorf("%d tasks are left, %d runs stored", len(p.Tasks), p.Stored)
	}
	args := []string{"plan", "fig1", "--backend", "go", "--results", s.results}
	stdout, _ := s.succeed(t, append(args, miniature...)...)
	demand.Words(t, stdout, "Nothing is missing: 4 runs stored.")
}

// TERM ends the worker with 130, also if it comes several times, as from `scancel` and from the batch script; a second
// call continues, and no finished step is computed again.
func TestWorkAfterTerm(t *testing.T) {
	s := newSandbox(t)
	withoutWorkers := slices.Delete(slices.Clone(longer), 12, 14) // the number of parallel runs
	path, p := s.plan(t, withoutWorkers)
	cmd, _, errs := s.command("work", "--plan", path, "--task", "0", "--results", s.results)
	demand.NoError(t, cmd.Start())
	demand.Soon(t, "the first steps", func() bool { return s.stepsDone() > 3 })
	for range 20 {
		cmd.Process.Signal(syscall.SIGTERM)
		time.Sleep(time.Millisecond)
	}
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 130 {
		t.Fatalf("exit code %d, %q", code, errs)
	}
	if code, stderr := s.work(t, path, 0); code != 0 {
		t.Fatal(stderr)
	}
	attempts, err := cluster.Attempts(path)
	if err != nil || len(attempts) != 2 || attempts[0].Exit != 130 || attempts[1].Exit != 0 {
		t.Fatalf("attempts %+v, %v", attempts, err)
	}
	if a, b := attempts[0].Steps, attempts[1].Steps; a < 3 || a+b != p.Cost().Steps {
		t.Errorf("%d steps, then %d, of %d", a, b, p.Cost().Steps)
	}
	s.succeed(t, fig1(longer, "--stored")...)
	if s.csv(t) != uninterrupted(t) {
		t.Errorf("the table differs from that of one machine")
	}
}

// What cannot be computed at all, or not here, ends with exit code 2 and one sentence.
func TestImpossibleWork(t *testing.T) {
	s := newSandbox(t)
	path, p := s.plan(t, miniature)
	text := filepath.Join(t.TempDir(), "text")
	demand.Write(t, text, "text")
	write := func(name string, change func(p *cluster.Plan)) string {
		changed := p
		changed.Tasks = slices.Clone(p.Tasks)
		changed.Tasks[0].Runs = slices.Clone(p.Tasks[0].Runs)
		change(&changed)
		file := filepath.Join(t.TempDir(), name)
		demand.NoError(t, changed.Write(file))
		return file
	}
	for _, c := range []struct {
		args, words []string
	}{
		{nil, []string{"--plan"}},
		{[]string{"--plan", path}, []string{"--task"}},
		{[]string{"--plan", path, "--task", "1"}, []string{"no task 1"}},
		{[]string{"--plan", path + "x", "--task", "0"}, []string{"planx.json", "no such file"}[1:]},
		{[]string{"--plan", text, "--task", "0"}, []string{text, "not a plan"}},
		{[]string{"--plan", path, "--task", "0", "--workers", "0"}, []string{"--workers"}},
		{[]string{"--plan", path, "--task", "0", "--backend", "tpu"}, []string{`"tpu"`}},
		{[]string{"--plan", path, "--task", "0", "--backend", "/nowhere/plugin.so"}, []string{"/nowhere/plugin.so"}},
		{[]string{"--task", "0", "--plan", write("a.json", func(p *cluster.Plan) {
			p.Tasks[0].Runs[0].Scenario = "gausian"
		})}, []string{"gausian"}},
		{[]string{"--task", "0", "--plan", write("b.json", func(p *cluster.Plan) { p.Tasks[0].Runs[0].Series = "our" })},
			[]string{`"ours"`}},
		{[]string{"--task", "0", "--plan", write("c.json", func(p *cluster.Plan) {
			p.Tasks[0].Runs[0].Settings = map[string]string{"epochs": "0"}
		})}, []string{"epochs=0"}},
		{[]string{"--task", "0", "--plan", write("d.json", func(p *cluster.Plan) {
			p.Tasks[0].Runs[0].Steps = []int{1000}
		})}, []string{"step 1000"}},
		{[]string{"--task", "0", "--plan", write("e.json", func(p *cluster.Plan) {
			r := &p.Tasks[0].Runs[0] // its checkpoint is not here
			r.Scenario, r.Settings, r.Steps = "cifar10b", map[string]string{"width": "64", "checkpoint": "split"}, []int{13}
		})}, []string{"checkpoint of width 64"}},
		{[]string{"--task", "0", "--plan", write("f.json", func(p *cluster.Plan) {
			p.Tasks[0] = cluster.Task{Stage: cluster.StagePretrain, CPUs: 1, MemoryMB: 1, Backend: "go", Pretrain: &cluster.Pretrain{Width: 64, Split: 3, Epochs: 1}}
		})}, []string{"full CIFAR-10"}},
	} {
		code, stdout, stderr := s.run(t, slices.Concat([]string{"work", "--results", s.results}, c.args)...)
		if code != 2 || stdout != "" {
			t.Errorf("%q: exit code %d, %q, %q", c.args, code, stdout, stderr)
		}
		demand.Words(t, stderr, c.words...)
	}
	for _, args := range [][]string{{"fig15"}, {"--format", "xml"}, {"--task-time", "1us"},
		{"--gpu-for", "imags"}, {"--gpu-backend", "tpu"}, {"--scale", "huge"}, {"--format", "k8s"}, {"--set", "x=1"}} {
		s.refuse(t, 2, append([]string{"plan"}, args...))
	}
}
