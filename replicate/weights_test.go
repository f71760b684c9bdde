package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWeightsCommand: a table in, a file of weights, a file of diagnostics and a summary out; mistakes are exit code 2
// and write nothing.
func TestWeightsCommand(t *testing.T) {
	s := newSandbox(t)
	dir := t.TempDir()
	file, out, diagnostics := filepath.Join(dir, "t.csv"), filepath.Join(dir, "w.csv"), filepath.Join(dir, "w.json")
	text := "day,x,y\n"
	for i := range 120 {
		text += fmt.Sprintf("2024-01-%02d,%d,%s\n", 1+i/10, i*37%11, []string{"a", "b"}[i*37%11%2])
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args  []string
		words []string
	}{
		{[]string{}, []string{"--time is missing"}},
		{[]string{"--time", "day", "--kind", "joined"}, []string{"joined", "joint, covariate, conditional"}},
		{[]string{"--time", "day", "--kind", "conditional"}, []string{"--label"}},
		{[]string{"--time", "day", "another.csv"}, []string{"one table", "2"}},
		{[]string{"--time", "day", "--bin", "wek"}, []string{"--bin", "wek"}},
		{[]string{"--time", "date"}, []string{"t.csv", `no column "date"`}},
		{[]string{"--time", "day", "--at", "2024-02-01"}, []string{"2024-02-01"}},
	} {
		args := append([]string{"weights", file, "-o", out, "--json", diagnostics, "--backend", "go"}, c.args...)
		code, stdout, stderr := s.run(t, args...)
		if code != 2 || stdout != "" {
			t.Errorf("%v: exit code %d, %s", c.args, code, stdout)
		}
		oneSentence(t, stderr, c.words...)
		if left, _ := filepath.Glob(filepath.Join(dir, "w.*")); len(left) > 0 {
			t.Errorf("%v left %v", c.args, left)
		}
	}
	code, stdout, stderr := s.run(t, "weights", file, "--time", "day", "--label", "y", "--at", "2024-01-10", "-o", out, "--json",
		diagnostics, "--permutations", "0", "--updates", "30", "--backend", "go")
	if code != 0 || !strings.Contains(stdout, "100 rows of 10 times, 2024-01-01 to 2024-01-10") ||
		!strings.Contains(stdout, "conditional weights for 2024-01-10") {
		t.Fatalf("exit code %d, %s%s", code, stdout, stderr)
	}
	weights, err := os.ReadFile(out)
	if err != nil || strings.Count(string(weights), "\n") != 101 || !strings.HasPrefix(string(weights), "row,weight,log_omega,spread\n1,") {
		t.Errorf("%v, %.200s", err, weights)
	}
	var found struct {
		Kind, At string
		Rows     int
	}
	written, err := os.ReadFile(diagnostics)
	if err != nil || json.Unmarshal(written, &found) != nil || found.Kind != "conditional" || found.Rows != 100 {
		t.Errorf("%v, %+v", err, found)
	}
}
