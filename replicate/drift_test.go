package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDriftCommand: a table in; a page, a JSON file and a summary that ends in the verdict out; mistakes are exit
// code 2 and write nothing.
func TestDriftCommand(t *testing.T) {
	s := newSandbox(t)
	dir := t.TempDir()
	file, out, result := filepath.Join(dir, "t.csv"), filepath.Join(dir, "page"), filepath.Join(dir, "d.json")
	text := "day,x,y\n"
	for i := range 200 {
		text += fmt.Sprintf("2024-01-%02d,%d,%s\n", 1+i/20, i*37%11, []string{"a", "b"}[i*37%11%2])
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args  []string
		words []string
	}{
		{[]string{}, []string{"--time is missing"}},
		{[]string{"--time", "day", "--permutations", "5"}, []string{"--permutations 5", "from 10"}},
		{[]string{"--time", "day", "another.csv"}, []string{"one table", "2"}},
		{[]string{"--time", "date"}, []string{"t.csv", `no column "date"`}},
		{[]string{"--time", "day", "--bin", "month"}, []string{"one time", "2024-01"}},
		{[]string{"--time", "day", "--label", "z"}, []string{`no column "z"`}},
	} {
		args := append([]string{"drift", file, "--out", out, "--json", result, "--backend", "go"}, c.args...)
		code, stdout, stderr := s.run(t, args...)
		if code != 2 || stdout != "" {
			t.Errorf("%v: exit code %d, %s", c.args, code, stdout)
		}
		oneSentence(t, stderr, c.words...)
		for _, path := range []string{filepath.Join(out, "index.html"), result} {
			if _, err := os.Stat(path); err == nil {
				t.Errorf("%v left %s", c.args, path)
			}
		}
	}
	code, stdout, stderr := s.run(t, "drift", file, "--time", "day", "--drop", "y", "--permutations", "10",
		"--updates", "30", "--out", out, "--json", result, "--backend", "go")
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	if code != 0 || !strings.HasPrefix(lines[len(lines)-1], "drift: ") ||
		!strings.Contains(stdout, "200 rows in 5 blocks") {
		t.Fatalf("exit code %d, %s%s", code, stdout, stderr)
	}
	var found struct {
		Verdict struct{ Sentence string }
		Blocks  []struct{ Name string }
	}
	written, err := os.ReadFile(result)
	if err != nil || json.Unmarshal(written, &found) != nil || found.Verdict.Sentence != lines[len(lines)-1] ||
		len(found.Blocks) != 5 || found.Blocks[4].Name != "2024-01-09" {
		t.Errorf("%v, %+v", err, found)
	}
	for name, want := range map[string]string{"index.html": "<h1>Drift of t.csv</h1>", "echarts.min.js": "5.6.0"} {
		if page, err := os.ReadFile(filepath.Join(out, name)); err != nil || !strings.Contains(string(page), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}
