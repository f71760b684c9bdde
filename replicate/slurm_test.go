//go:build unix

package main

import (
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
)

// submitArgs are the arguments that submit panel a of Figure 1 as workers for single seeds, on the Go backend.
func (s *sandbox) submitArgs(more ...string) []string {
	return slices.Concat([]string{"submit", "fig1"}, longerPlan, []string{"--backend", "go", "--workers", "3",
		"--results", s.results, "--out", s.out, "--folder", s.jobs()}, more)
}

// jobs is the folder of scripts and logs.
func (s *sandbox) jobs() string { return filepath.Join(s.out, "cluster") }

// onSlurm starts a cluster, and returns it with a sandbox that uses it. Tests that have one run at the same time: they
// mostly wait.
func onSlurm(t *testing.T) (*slurm, *sandbox) {
	t.Helper()
	t.Parallel()
	c, s := startSlurm(t), newSandbox(t)
	s.env = []string{"SLURM_CONF=" + c.path("slurm.conf")}
	return c, s
}

// logs returns the logs of all jobs.
func (s *sandbox) logs() string {
	paths, _ := filepath.Glob(filepath.Join(s.jobs(), "logs", "*.log"))
	var all strings.Builder
	for _, path := range paths {
		text, _ := os.ReadFile(path)
		fmt.Fprintf(&all, "%s:\n%s", filepath.Base(path), text)
	}
	return all.String()
}

// scancel cancels jobs as submit says, and waits until nothing is left of the jobs.
func scancel(t *testing.T, c *slurm, said string) {
	t.Helper()
	ids := regexp.MustCompile("`scancel (.*)` ends").FindStringSubmatch(said)
	if out, err := c.command("scancel", strings.Fields(ids[1])...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	c.ended(time.Minute)
}

// ended waits until no job is left.
func (c *slurm) ended(limit time.Duration) {
	c.wait(limit, "end of the jobs", func() bool {
		out, err := c.command("squeue", "-h", "-a", "-t", "pending,running,completing").Output()
		return err == nil && len(out) == 0
	})
}

// submitted submits, waits until the jobs have ended, and returns what submit printed.
func (s *sandbox) submitted(t *testing.T, c *slurm, args ...string) string {
	t.Helper()
	stdout, _ := s.succeed(t, args...)
	c.ended(15 * time.Minute)
	return stdout
}

// nodes lists those on which workers have started, by their logs.
func (s *sandbox) nodes() []string {
	var nodes []string
	for _, m := range regexp.MustCompile(`(?m)^tvps-fig1 on (n\d), start`).FindAllStringSubmatch(s.logs(), -1) {
		nodes = append(nodes, m[1])
	}
	slices.Sort(nodes)
	return slices.Compact(nodes)
}

// TestSlurm: a figure that workers on three nodes compute, one of which is lost meanwhile, has the table of a local
// one. status shows where runs are computed.
func TestSlurm(t *testing.T) {
	c, s := onSlurm(t)
	want := uninterrupted(t)
	stdout, _ := s.succeed(t, s.submitArgs()...)
	c.wait(10*time.Minute, "some stored steps on all nodes", func() bool { return s.stepsDone() > 5 && len(s.nodes()) == 3 })
	shown, _ := s.succeed(t, slices.Concat([]string{"status", "fig1"}, longerPlan)...)
	if !regexp.MustCompile(`running: \d+ of 25 steps, on \S+, job \d+_\d`).MatchString(shown) {
		t.Errorf("status shows no running run:\n%s", shown)
	}
	demand.Words(t, shown, "of 200 steps missing")
	c.stopNode("n2")
	c.ended(15 * time.Minute)
	demand.Equal(t, s.csv(t), want, "the table")
	demand.Words(t, stdout, "tvps-fig1: 3 workers", "scancel ")
	demand.Words(t, s.logs(), "tvps-fig1-draw", "laim")
}

// TestSlurmCancelAndSubmitAgain: after scancel nothing of the workers is left, and a second submit computes the rest.
func TestSlurmCancelAndSubmitAgain(t *testing.T) {
	c, s := onSlurm(t)
	want := uninterrupted(t)
	stdout, _ := s.succeed(t, s.submitArgs()...)
	c.wait(10*time.Minute, "some stored steps", func() bool { return s.stepsDone() > 5 })
	scancel(t, c, stdout)
	done := s.stepsDone()
	stdout = s.submitted(t, c, s.submitArgs()...)
	if got := s.csv(t); got != want || done == 0 {
		t.Errorf("the tables differ after %d steps:\n%s\n%s\n%s", done, got, want, stdout)
	}
}

// TestSlurmTimeLimit: with a time limit shorter than a run the workers go back to the queue and continue.
func TestSlurmTimeLimit(t *testing.T) {
	if !demand.Nightly {
		t.Skip("TVPS_NIGHTLY is not set")
	}
	c, s := onSlurm(t)
	slow := []string{"--series", "ours", "--set", "max-updates=2000", "--set", "g-updates=2000", "--seeds", "0"}
	local := newSandbox(t)
	local.succeed(t, fig1(longer, slow...)...)
	s.submitted(t, c, s.submitArgs(append(slow, "--time", "1", "--sbatch=--signal=B:USR1@30")...)...)
	if got, want := s.csv(t), local.csv(t); got != want {
		t.Errorf("the tables differ:\n%s\n%s", got, want)
	}
	if logs := s.logs(); !strings.Contains(logs, "start 2") {
		t.Errorf("no worker started again:\n%s", logs)
	}
}

// TestSlurmBadNode: on a node without the plugin workers end with exit code 2 and one sentence, and Slurm does not
// start them again; the other nodes compute everything.
func TestSlurmBadNode(t *testing.T) {
	c, s := onSlurm(t)
	cache, err := artifact.CacheDir() // with XLA
	demand.NoError(t, err)
	local := newSandbox(t)
	local.cache, s.cache = cache, cache
	local.succeed(t, fig1(miniature, "--backend", "xla:cpu")...)
	bad := filepath.Join(s.tmp, "bad.sh")
	demand.Write(t, bad, "if [[ ${SLURMD_NODENAME-} == n2 ]]; then export PJRT_PLUGIN_LIBRARY_PATH=/nowhere; fi\n")
	s.env = append(s.env, "BASH_ENV="+bad)
	stdout := s.submitted(t, c, slices.Concat([]string{"submit", "fig1"}, miniature, []string{"--workers", "4",
		"--results", s.results, "--out", s.out, "--folder", s.jobs(), "--sbatch=--cpus-per-task=2"})...)
	if got, want := s.csv(t), local.csv(t); got != want {
		t.Errorf("the tables differ:\n%s\n%s\n%s", got, want, stdout)
	}
	ended := regexp.MustCompile(`tvps-fig1 on n2, start 1\nreplicate: .*/nowhere.*\n(tvps-|$)`)
	refused := len(ended.FindAllString(s.logs(), -1))
	if n := strings.Count(s.logs(), " on n2,"); n == 0 || n != refused {
		t.Fatalf("%d workers on n2, of which %d ended with one sentence\n%s", n, refused, s.logs())
	}
	out, err := c.command("scontrol", "show", "job").Output()
	demand.NoError(t, err)
	if n := strings.Count(string(out), "ExitCode=2:0"); n != refused || strings.Contains(string(out), "Restarts=1") {
		t.Errorf("%d jobs ended with exit code 2, want %d\n%s", n, refused, out)
	}
}

// TestSubmit submits to a program that answers as Slurm does.
func TestSubmit(t *testing.T) {
	s, bin := newSandbox(t), t.TempDir()
	demand.NoError(t, os.WriteFile(filepath.Join(bin, "sbatch"), []byte("#!/bin/sh\necho 41"), 0o755))
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	stdout, _ := s.succeed(t, s.submitArgs("--time", "1:00", "--sbatch=--account=physics")...)
	demand.Words(t, stdout, "job 41  tvps-fig1: 3 workers\n", "tvps-fig1-draw: draws")
	shown, _ := s.succeed(t, printed(t, stdout, "shows the runs")...)
	demand.Words(t, shown, "8 missing; 200 of 200 steps missing")
	script := demand.Read(t, filepath.Join(s.jobs(), "tvps-fig1.sbatch"))
	demand.Words(t, string(script), "#SBATCH --account=physics\n#SBATCH --time=1:00\n",
		" fig1 --no-draw --results "+s.results, " --set=n=30 ", " --only others --backend go ")
	for _, c := range []struct{ args, words []string }{
		{s.submitArgs("--sbatch", "a\nrm x"), []string{"--sbatch"}},
		{s.submitArgs("--folder", "a\nb"), []string{"--folder"}},
		{s.submitArgs("--workers", "0"), []string{"--workers"}},
		{s.submitArgs("--gpu-backend", "tpu"), []string{`"tpu"`}},
		{[]string{"submit"}, []string{"a figure or all"}},
		{[]string{"submit", "fig15"}, []string{`"fig15"`}},
		{[]string{"submit", "all", "--scale", "tiny", "--panel", "a", "--results", s.results}, []string{"--panel"}},
	} {
		s.refuse(t, 2, c.args, c.words...)
	}
	images, _ := s.succeed(t, "submit", "fig1", "--scale", "tiny", "--dry-run", "--results", s.results, "--folder", s.jobs(),
		"--gpu-sbatch=--partition=gpu")
	demand.Words(t, images, "--only images --backend xla:cuda ", "#SBATCH --gres=gpu:1\n#SBATCH --partition=gpu\n",
		"tvps-fig1-images.sbatch", "fig1 --no-draw")
	demand.Equal(t, strings.Count(images, "# ==> "), 3, "scripts in\n%s", images)
}

// TestSubmitNothing: where all runs are stored, submit prints the command that draws them.
func TestSubmitNothing(t *testing.T) {
	s := newSandbox(t)
	s.succeed(t, fig1(longer, "--no-draw")...)
	stdout, _ := s.succeed(t, s.submitArgs()...)
	demand.Words(t, stdout, "nothing to submit: 8 done")
	s.succeed(t, printed(t, stdout, "draws")...)
	if s.csv(t) == "" {
		t.Error("no table")
	}
}

// printed returns the arguments of the command that a text shows in backquotes before a word.
func printed(t *testing.T, text, word string) []string {
	t.Helper()
	found := regexp.MustCompile("`go run ./replicate ([^`]*)` " + word).FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("no command before %q in %s", word, text)
	}
	return strings.Fields(found[1])
}
