package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/data/artifact"

	"github.com/gofrs/flock"
)

// Two workers compute each step of each run once, the longest runs first, and draw nothing. The figure of the stored
// runs is that of one process.
func TestWorkers(t *testing.T) {
	s := newSandbox(t)
	args := fig1(longer, "--no-draw", "--workers", "1")
	first, _, firstErr := s.command(args...)
	demand.NoError(t, first.Start())
	demand.Soon(t, "a step", func() bool { return s.stepsDone() > 0 })
	shown, _ := s.succeed(t, slices.Concat([]string{"status", "fig1"}, longerPlan)...)
	if !regexp.MustCompile(`ours seed 0 +\w+ +running: \d+ of 25 steps, on \S+, process \d+`).MatchString(shown) {
		t.Errorf("status does not show where a run is computed:\n%s", shown)
	}
	demand.Words(t, shown, "1 running", "of 200 steps missing")
	second, _, secondErr := s.command(args...)
	demand.NoError(t, second.Start())
	if err := first.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, firstErr)
	}
	if err := second.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, secondErr)
	}
	if _, err := os.Stat(s.out); err == nil {
		t.Error("a worker drew")
	}
	own := regexp.MustCompile(`(?m)^gaussian/(\S+ seed \d): done in`)
	var all []string
	for _, text := range []string{firstErr.String(), secondErr.String()} {
		done := own.FindAllStringSubmatch(text, -1)
		if len(done) == 0 || !strings.HasPrefix(done[0][1], "ours") {
			t.Errorf("a worker did not compute the longest run first: %q", done)
		}
		for _, run := range done {
			all = append(all, run[1])
		}
	}
	if slices.Sort(all); len(all) != 8 || len(slices.Compact(all)) != 8 {
		t.Errorf("runs computed: %q", all)
	}
	s.env = []string{"PJRT_PLUGIN_LIBRARY_PATH=/nowhere"} // drawing opens no backend
	before := demand.Files(t, s.results)
	s.succeed(t, fig1(longer, "--stored")...)
	if after := demand.Files(t, s.results); !maps.Equal(after, before) {
		t.Errorf("--stored changed the results: %d files, before %d", len(after), len(before))
	}
	demand.Equal(t, s.csv(t), uninterrupted(t), "the table")
}

// TestRunsOfThePaper: CLUSTER.md says how many runs and steps all figures have at the paper's scale.
func TestRunsOfThePaper(t *testing.T) {
	s := newSandbox(t)
	shown := s.quiet(t, "status", "all", "--scale", "paper") // before there is a results folder
	sentence := regexp.MustCompile(`: (\d+) runs with (\d+),(\d+) steps`)
	said := sentence.FindStringSubmatch(string(demand.Read(t, "CLUSTER.md")))
	if said == nil {
		t.Fatal("CLUSTER.md does not say how many runs there are")
	}
	demand.Words(t, shown, fmt.Sprintf("scale paper: %s missing; %s%s of ", said[1], said[2], said[3]),
		"there is no folder "+s.results)
	if _, err := os.Stat(s.results); err == nil {
		t.Error("status made the results folder")
	}
}

// A worker that cannot start ends with exit code 2 and one sentence, before it locks a run.
func TestWorkerThatCannotStart(t *testing.T) {
	s := newSandbox(t)
	file, nowhere := filepath.Join(t.TempDir(), "file"), filepath.Join(t.TempDir(), "nowhere")
	demand.Write(t, file, "text")
	s.env = []string{"TVPS_DATA=" + nowhere,
		"PJRT_PLUGIN_LIBRARY_PATH=" + nowhere + "/plugin.so"} // so that nothing trains where a check is missing
	images := []string{"fig1", "--no-draw", "--panel", "b", "--scale", "small"}
	for _, c := range []struct{ args, words []string }{
		{fig1(miniature, "--no-draw", "--backend", "xla:cpu"), []string{nowhere}},
		{fig1(miniature, "--no-draw", "--results", file), []string{file, "is a file"}},
		{fig1(miniature, "--no-draw", "--results", filepath.Join(file, "below")), []string{"cannot be used"}},
		{[]string{"all", "--no-draw", "--stored"}, []string{"--stored", "--no-draw"}},
		{[]string{"all", "--no-draw", "--tables", nowhere}, []string{"--tables", "--no-draw"}},
		{[]string{"fig2", "--no-draw", "--out", nowhere}, []string{"--out", "--no-draw"}},
		{[]string{"fig2", "--no-draw", "--compact"}, []string{"--compact", "--no-draw"}},
		{fig1(miniature, "--no-draw", "--only", "image", "--backend", "xla:cpu"), []string{`"image"`, `did you mean "images"`}},
		{fig1(miniature, "--only", "images", "--backend", "xla:cpu"), []string{"--only images", "--no-draw"}},
		{images, []string{"TVPS_DATA"}},
		{append(images, "--set", "width=8", "--set", "checkpoint=split"), []string{"TVPS_DATA"}},
		{[]string{"all", "--no-draw", "--scale", "tiny", "--set", "epohcs=3"},
			[]string{"fig01", `"epochs"`}},
	} {
		s.refuse(t, 2, c.args, c.words...)
	}
	s.env = nil
	images = append(images, "--backend", "go")
	s.refuse(t, 2, append(images, "--set", "width=8", "--set", "checkpoint=split"), "full CIFAR-10", "TVPS_DATA")
	s.refuse(t, 2, images, "full CIFAR-10", "--set data=sample")
	if _, err := os.Stat(s.results); err == nil {
		t.Error("there is a results folder")
	}
}

// TestWorkerWithoutRuns: a worker whose kind of runs a figure lacks says so.
func TestWorkerWithoutRuns(t *testing.T) {
	s := newSandbox(t)
	if stdout, stderr := s.succeed(t, fig1(miniature, "--no-draw", "--only", "images")...); stdout != "" ||
		stderr != "there are no runs for --only images here\n" {
		t.Errorf("%q, %q", stdout, stderr)
	}
}

// On a file system that does not lock files a worker cannot start, either.
func TestWorkerWithoutLocks(t *testing.T) {
	s := newSandbox(t)
	cmd, stdout, _ := s.command(fig1(miniature, "--no-draw")...)
	traced := exec.Command("strace", append([]string{"-f", "-qq", "-o", "/dev/null", "-e", "trace=flock", "-e",
		"inject=flock:error=ENOLCK"}, cmd.Args...)...)
	traced.Env = cmd.Env
	out, err := traced.CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("strace is not installed")
	}
	if code := traced.ProcessState.ExitCode(); code != 2 || stdout.Len() > 0 {
		t.Errorf("exit code %d, %s", code, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	oneSentence(t, lines[len(lines)-1]+"\n", "does not lock files", "mount it with locks")
	if files := demand.Files(t, s.results); len(files) > 0 {
		t.Errorf("files %v", files)
	}
}

// A worker takes the runs of images alone, or the others; it waits for a checkpoint that another process trains.
func TestWorkerWaitsForACheckpoint(t *testing.T) {
	s := newSandbox(t)
	cache, err := artifact.CacheDir() // with the plugin
	demand.NoError(t, err)
	demand.NoError(t, os.MkdirAll(s.cache, 0o755))
	entries, err := os.ReadDir(cache)
	demand.NoError(t, err)
	for _, e := range entries {
		if e.Name() != "checkpoints" && e.Name() != "features" {
			demand.NoError(t, os.Symlink(filepath.Join(cache, e.Name()), filepath.Join(s.cache, e.Name())))
		}
	}
	checkpoint := filepath.Join(s.cache, "checkpoints", "resnet18-w16-split3.safetensors")
	demand.NoError(t, os.MkdirAll(filepath.Dir(checkpoint), 0o755))
	lock := flock.New(checkpoint + ".lock")
	if ok, err := lock.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	args := []string{"fig1", "--no-draw", "--only", "images", "--panel", "a,b", "--scale", "tiny", "--seeds", "3",
		"--backend", "xla:cpu", "--series", "recent", "--set", "steps=6", "--set", "first=2", "--set", "stride=1",
		"--set", "n=8", "--set", "b.images=100", "--set", "test-n=20", "--set", "max-updates=1", "--set", "batch=8",
		"--set", "b.checkpoint=split"}
	cmd, _, _ := s.command(args...)
	log := filepath.Join(s.tmp, "log")
	file, err := os.Create(log)
	demand.NoError(t, err)
	defer file.Close()
	cmd.Stderr = file
	demand.NoError(t, cmd.Start())
	demand.Soon(t, "waiting", func() bool { return strings.Contains(string(demand.Read(t, log)), "waiting for another") })
	demand.Write(t, checkpoint, string(demand.Read(t, filepath.Join("..", "gomlx_models", "resnet", "checkpoints",
		"resnet18-w16-split0.safetensors"))))
	demand.NoError(t, lock.Unlock())
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, demand.Read(t, log))
	}
	if files, _ := filepath.Glob(filepath.Join(s.results, "*", "*.zst")); len(files) != 2 ||
		!strings.Contains(files[0], "cifar10a") {
		t.Errorf("files %q\n%s", files, demand.Read(t, log))
	}
	// A damaged one is not replaced without a word: all runs of its network would be others.
	demand.Write(t, checkpoint, "damaged")
	s.refuse(t, 2, args, "resnet18-w16-split3.safetensors", "is damaged", "pretrain")
}
