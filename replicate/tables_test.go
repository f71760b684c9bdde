package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"tvps/ci/demand"
	"tvps/data/random"
	"tvps/replicate/tables"
	"tvps/replicate/tables/drift"
)

// tableOf writes a table, a row for each i, and returns its name.
func tableOf(t *testing.T, header string, rows int, row func(i int) string) (file string) {
	t.Helper()
	text := header + "\n"
	for i := range rows {
		text += row(i) + "\n"
	}
	file = filepath.Join(t.TempDir(), "t.csv")
	demand.Write(t, file, text)
	return file
}

// succeeds runs a command on a table and reads what --json wrote.
func (s *sandbox) succeeds(t *testing.T, found any, args ...string) (stdout, stderr string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "found.json")
	stdout, stderr = s.succeed(t, append(args, "--json", file)...)
	demand.NoError(t, json.Unmarshal(demand.Read(t, file), found))
	return stdout, stderr
}

type answer string

func (a answer) String() string         { return string(a) }
func (a answer) WritePage(string) error { return errors.New("no space left on device") }

// TestAnswerBeforeFiles: minutes of computing are not lost when the page cannot be written.
func TestAnswerBeforeFiles(t *testing.T) {
	var out strings.Builder
	cmd := &cobra.Command{}
	cmd.SetOut(&out)
	cmd.SetContext(t.Context())
	f := tableFlags{}
	err := f.page(cmd, tableOf(t, "day", 1, strconv.Itoa), t.TempDir(),
		func() (pageResult, error) { return answer("drifted\n"), nil })
	if err == nil || out.String() != "drifted\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
}

// TestWeightsCommand: a table in; a file of weights, one of diagnostics and a summary out.
func TestWeightsCommand(t *testing.T) {
	file := tableOf(t, "day,x,y", 120, func(i int) string {
		return fmt.Sprintf("2024-01-%02d,%d,%s", 1+i/10, i*37%11, []string{"a", "b"}[i*37%11%2])
	})
	var found struct {
		Kind string
		Rows int
	}
	out := filepath.Join(t.TempDir(), "w.csv")
	stdout, stderr := newSandbox(t).succeeds(t, &found, "weights", file, "--time", "day", "--label", "y", "--at", "2024-01-10",
		"-o", out, "--permutations", "0", "--updates", "1")
	const read = "100 rows, 2024-01-01 to 2024-01-10 in 10 times"
	if !strings.HasPrefix(stderr, read) || !strings.Contains(stdout, read) ||
		!strings.Contains(stdout, "conditional weights for 2024-01-10") || found.Kind != "conditional" || found.Rows != 100 {
		t.Errorf("%+v, %s", found, stdout)
	}
	weights, err := os.ReadFile(out)
	if err != nil || strings.Count(string(weights), "\n") != 101 ||
		!strings.HasPrefix(string(weights), "row,weight,log_omega,spread\n1,") {
		t.Errorf("%v, %.200s", err, weights)
	}
}

// TestDriftCommand: a table in; a page, a JSON file and a summary that begins with the verdict out.
func TestDriftCommand(t *testing.T) {
	file := tableOf(t, "day,x,y,z", 400, func(i int) string { // y: x is above 5; from row 200 on: is not
		return fmt.Sprintf("2024-01-%02d,%d,%d,%d", 1+i/40, i*37%11, (i*37%11/6+i/200)%2, i*41%13)
	})
	var found struct {
		Verdict struct{ Sentence string }
		Blocks  []struct{ Name string }
	}
	out := filepath.Join(t.TempDir(), "page")
	stdout, _ := newSandbox(t).succeeds(t, &found, "drift", file, "--time", "day", "--label", "y", "--permutations", "999",
		"--updates", "1", "--out", out)
	if first, _, _ := strings.Cut(stdout, "\n"); found.Verdict.Sentence != first || !strings.Contains(first, "drift") ||
		!strings.Contains(stdout, "400 rows in 10 blocks of time, the first from 2024-01-01 on, the last from 2024-01-10; ") ||
		len(found.Blocks) != 10 || found.Blocks[9].Name != "2024-01-10" {
		t.Errorf("%+v, %s", found, stdout)
	}
	for _, want := range []string{"<h1>Drift of t.csv</h1>", template.HTMLEscapeString(found.Verdict.Sentence), "map-3", "x and y",
		"<b>yes</b>", "How much each past block resembles the present"} {
		if page := string(demand.Read(t, filepath.Join(out, "index.html"))); !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if script := demand.Read(t, filepath.Join(out, "echarts.min.js")); !strings.Contains(string(script), "5.6.0") {
		t.Error("the charts' script is of another version")
	}
}

// TestFewRows: the page does without the chart of tests over time if all stretches have too few rows.
func TestFewRows(t *testing.T) {
	dir := t.TempDir()
	r := drift.Result{Tests: &drift.Tests{}, Columns: &drift.Columns{}, Blocks: []tables.Block{{Name: "1"}, {Name: "2"}},
		Maps: []drift.Map{{In: tables.InX, Worth: [][]float64{{1, 1}, {1, 1}}}}}
	r.Finding = &tables.Finding{}
	demand.NoError(t, driftPage{&r}.WritePage(dir))
	if page := demand.Read(t, filepath.Join(dir, "index.html")); !strings.Contains(string(page), "0 of 0 tests") ||
		strings.Contains(string(page), "Difference from") {
		t.Error("the page has charts of no tests")
	}
}

// TestForeignPage: a page that another program wrote, or another command, is kept.
func TestForeignPage(t *testing.T) {
	file := tableOf(t, "day,x,y", 200, func(i int) string { return fmt.Sprintf("%d,%d,%d", i/20, i*37%11, i%2) })
	for _, c := range [][3]string{
		{"drift", "index.html", `<meta name="generator" content="tvps backtest"><title>Drift of continents</title>`},
		{"backtest", "index.html", "<title>Back test of an engine</title>"},
	} {
		s := newSandbox(t)
		path := filepath.Join(s.out, c[1])
		demand.Write(t, path, c[2])
		code, _, stderr := s.run(t, c[0], file, "--time", "day", "--label", "y", "--out", s.out, "--updates", "1")
		if kept := demand.Files(t, s.out); code != 2 || len(kept) != 1 || kept[c[1]] != c[2] ||
			!strings.Contains(stderr, path) || !strings.Contains(stderr, "so it is kept") {
			t.Errorf("%s: exit code %d, %s, the files are %q", c[0], code, stderr, kept)
		}
	}
}

// TestOwnName: a program that is installed under another name says that name, and advises no `go run`.
func TestOwnName(t *testing.T) {
	s := newSandbox(t)
	for _, c := range []struct {
		args []string
		want string
	}{{nil, "\n  tvps fig1 "}, {[]string{"fig99"}, "tvps: there is no command or figure"}} {
		cmd, stdout, stderr := s.command(c.args...)
		cmd.Env = append(cmd.Env, envMain+"=/usr/local/bin/tvps")
		_ = cmd.Run()
		if text := stdout.String() + stderr.String(); !strings.Contains(text, c.want) || strings.Contains(text, "go run") {
			t.Errorf("%q: %s", c.args, text)
		}
	}
}

// TestBacktestCommand: the verdict is the first line, --json has it, a second call computes nothing, and weights takes
// the verdict's kind with --kind auto.
func TestBacktestCommand(t *testing.T) {
	s := newSandbox(t)
	file := tableOf(t, "t,x,y", 400, func(i int) string {
		x := i * 37 % 101
		return fmt.Sprintf("%d,%d,%v", i/40, x, x > 50 == (i < 200))
	})
	var found struct {
		Tested  int
		Verdict struct{ Sentence, Rule string }
	}
	common := []string{file, "--time", "t", "--label", "y", "--results", s.results, "--updates", "1"}
	args := slices.Concat([]string{"backtest"}, common,
		[]string{"--out", s.out, "--rules", "last", "--kinds", "covariate", "--last", "6"})
	stdout, _ := s.succeeds(t, &found, args...)
	if found.Tested != 4 || found.Verdict.Rule != "last" || !strings.HasPrefix(stdout, found.Verdict.Sentence+"\n") {
		t.Errorf("%+v; %s", found, stdout)
	}
	if page, err := os.ReadFile(filepath.Join(s.out, "index.html")); err != nil ||
		!strings.Contains(string(page), found.Verdict.Rule) || !strings.Contains(string(page), "covariate-forgetting") {
		t.Errorf("the page: %v", err)
	}
	if again, stderr := s.succeeds(t, &found, args...); again != stdout || !strings.Contains(stderr, "all stored") {
		t.Errorf("the second call: %s%s", again, stderr)
	}
	weights := filepath.Join(t.TempDir(), "w.csv")
	stdout, _ = s.succeeds(t, &struct{}{}, slices.Concat([]string{"weights"}, common,
		[]string{"--kind", "auto", "-o", weights, "--at", "8"})...)
	if content, err := os.ReadFile(weights); err != nil || !strings.Contains(stdout, "back test: ") ||
		strings.Count(string(content), "\n") != 361 {
		t.Errorf("--kind auto: %v, %s", err, stdout)
	}
}

// TestAutoCommittee: where a back test advises a committee, weights --kind auto says that no weights do what it does,
// and writes those of the best rule.
func TestAutoCommittee(t *testing.T) {
	s := newSandbox(t)
	rng := random.New(0, "committee")
	file := tableOf(t, "t,a,b,c,d,e,f,g,h,y", 320, func(i int) (row string) { // the rule turns slowly, blocks are small
		var x [8]float64
		for j := range x {
			x[j] = rng.NormFloat64()
			row += fmt.Sprintf(",%.3f", x[j])
		}
		turned := float64(i/20) / 16
		up := rng.Float64() < 1/(1+math.Exp(-3*(math.Cos(turned)*x[0]+math.Sin(turned)*x[1])))
		return fmt.Sprintf("%d%s,%v", i/20, row, up)
	})
	var found struct {
		Advice struct{ Committee bool } `json:"back-test"`
	}
	stdout, _ := s.succeeds(t, &found, "weights", file, "--time", "t", "--label", "y", "--results", s.results,
		"--updates", "1", "--kind", "auto", "-o", filepath.Join(t.TempDir(), "w.csv"))
	lines := strings.Split(stdout, "\n")
	if !found.Advice.Committee || !strings.HasPrefix(lines[0], "back test: Train several models") ||
		lines[1] != "No weights of rows do what these models do; the weights written are the best ones." ||
		!strings.Contains(stdout, "equal (window: the last 4 times) weights") {
		t.Errorf("%+v: %s", found, stdout)
	}
}

// TestRowsWithoutWeight: `weights` says how many rows of the table have no line, and what the label was read as.
func TestRowsWithoutWeight(t *testing.T) {
	file := tableOf(t, "day,x,y", 28, func(i int) string {
		return fmt.Sprintf("2024-02-%02d,%d,%s", i+1, i*i%7, []string{"a", "b", "b"}[i%3])
	})
	stdout, stderr := newSandbox(t).succeed(t, "weights", file, "--time", "day", "--label", "y", "--kind", "none",
		"--permutations", "0", "--at", "2024-02-20", "-o", filepath.Join(t.TempDir(), "w.csv"))
	demand.Words(t, stdout+stderr, "y: 2 classes", "no line for 8 rows of the table: join by row")
}
