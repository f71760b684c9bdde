package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tvps/data/artifact"
)

// TestBacktestCommand: the verdict is the last line, --json has it, a second call computes nothing, and weights takes
// the verdict's kind with --kind auto; mistakes are exit code 2 and write nothing.
func TestBacktestCommand(t *testing.T) {
	s := newSandbox(t)
	cache, err := artifact.CacheDir() // with the XLA plugin: the Go backend takes minutes
	if err != nil {
		t.Fatal(err)
	}
	s.cache = cache
	dir := t.TempDir()
	file, out, weights := filepath.Join(dir, "t.csv"), filepath.Join(dir, "b.json"), filepath.Join(dir, "w.csv")
	text := "t,x,y\n"
	for i := range 400 {
		x := i * 37 % 101
		text += fmt.Sprintf("%d,%d,%v\n", i/40, x, x > 50 == (i < 200))
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	page := filepath.Join(dir, "page")
	common := []string{file, "--time", "t", "--label", "y", "--json", out, "--results", filepath.Join(dir, "results"),
		"--updates", "20"}
	for _, c := range []struct {
		args  []string
		words []string
	}{
		{[]string{"--model", "tree"}, []string{"tree", "logistic, mlp"}},
		{[]string{"--kinds", "jont"}, []string{"jont", "joint"}},
		{[]string{"--baselines", "lats"}, []string{"lats", "last"}},
		{[]string{"--workers", "0"}, []string{"--workers 0"}},
		{[]string{"--last", "9"}, []string{"t.csv", "--last from 4 to 8"}},
		{[]string{"--bin", "3 blocks"}, []string{"3 blocks", "finer --bin"}},
	} {
		code, stdout, stderr := s.run(t, slices.Concat([]string{"backtest", "--out", page}, common, c.args)...)
		if code != 2 || stdout != "" {
			t.Errorf("%v: exit code %d, %s", c.args, code, stdout)
		}
		oneSentence(t, stderr, c.words...)
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%v wrote %s", c.args, out)
		}
	}
	args := slices.Concat([]string{"backtest", "--out", page}, common,
		[]string{"--baselines", "last", "--kinds", "covariate", "--last", "6"})
	code, stdout, stderr := s.run(t, args...)
	if code != 0 {
		t.Fatalf("exit code %d, %s", code, stderr)
	}
	var found struct {
		Tested  int
		Verdict struct{ Sentence, Rule string }
	}
	written, err := os.ReadFile(out)
	if err == nil {
		err = json.Unmarshal(written, &found)
	}
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	if page, err := os.ReadFile(filepath.Join(page, "index.html")); err != nil ||
		!strings.Contains(string(page), found.Verdict.Rule) || !strings.Contains(string(page), "covariate-forgetting") {
		t.Errorf("the page: %v", err)
	}
	if err != nil || found.Tested != 4 || found.Verdict.Rule != "last" ||
		lines[len(lines)-1] != found.Verdict.Sentence {
		t.Errorf("%v, %+v; the last line is %q", err, found, lines[len(lines)-1])
	}
	if code, again, stderr := s.run(t, args...); code != 0 || again != stdout || !strings.Contains(stderr, "all stored") {
		t.Errorf("the second call: exit code %d, %s%s", code, again, stderr)
	}
	code, stdout, stderr = s.run(t, slices.Concat([]string{"weights"}, common,
		[]string{"--kind", "auto", "-o", weights, "--at", "8"})...)
	if content, err := os.ReadFile(weights); err != nil || code != 0 || !strings.Contains(stdout, "back test: ") ||
		strings.Count(string(content), "\n") != 361 {
		t.Errorf("--kind auto: exit code %d, %s%s", code, stdout, stderr)
	}
}
