package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tvps/ci/demand"
	"tvps/replicate/runs"
)

// toyRuns stores runs of "toy/ours" with 4 steps each in a new folder.
func toyRuns(t *testing.T, change float64, seeds ...int64) (folder string) {
	t.Helper()
	folder = t.TempDir()
	store, err := runs.Open(folder)
	demand.NoError(t, err)
	var jobs []runs.Job
	for _, seed := range seeds {
		step := func(_ context.Context, t int) ([]runs.Row, error) {
			return []runs.Row{{T: t, Metric: "accuracy", Value: .5 + change}}, nil
		}
		jobs = append(jobs, runs.Job{Spec: toy(seed), Steps: []int{1, 2, 3, 4},
			Batch: runs.Alone(seed, func(context.Context) (runs.StepFunc, func(), error) { return step, nil, nil })})
	}
	if report, err := runs.Execute(t.Context(), store, jobs, runs.Options{}); err != nil || report.Err() != nil {
		t.Fatal(err, report.Err())
	}
	return folder
}

func toy(seed int64) runs.Spec {
	return runs.Spec{Experiment: "toy", Learner: "ours", Seed: seed, Settings: map[string]string{"epochs": "20"}}
}

func toyFile(folder string, seed int64) string {
	return filepath.Join(folder, "toy", toy(seed).ID()+".jsonl.zst")
}

// TestFolderErrors: export rejects wrong arguments and creates no folder.
func TestFolderErrors(t *testing.T) {
	s := newSandbox(t)
	have, empty := toyRuns(t, 0, 0), t.TempDir()
	file := toyFile(have, 0)
	none, link := filepath.Join(t.TempDir(), "none"), filepath.Join(t.TempDir(), "link")
	demand.NoError(t, os.Symlink(have, link))
	for _, c := range []struct {
		args  []string
		code  int
		words []string
	}{
		{[]string{"export", "all"}, 2, []string{"takes no argument", `"all"`}},
		{[]string{"export", "--results", none}, 2, []string{"there is no results folder " + none, "--results"}},
		{[]string{"export", "--results", file}, 2, []string{file, "is a file"}},
		{[]string{"export", "--results", have, "--out", filepath.Join(none, "t.csv")}, 1, []string{none, "--out"}},
		{[]string{"export", "--results", have, "--out", empty}, 2, []string{empty + " is a folder", "name a file"}},
	} {
		t.Run(c.args[0]+" "+filepath.Base(c.args[len(c.args)-1]), func(t *testing.T) {
			s.refuse(t, c.code, c.args, c.words...)
		})
	}
	if len(demand.Files(t, empty)) != 0 || len(demand.Files(t, have)) != 1 {
		t.Error("a failed command left files")
	}
	if _, err := os.Stat(none); err == nil {
		t.Error("a failed command created a folder")
	}
}

func TestExport(t *testing.T) {
	s := newSandbox(t)
	have, out := toyRuns(t, 0, 0, 1), t.TempDir()
	table := s.quiet(t, "export", "--results", have)
	if !strings.HasPrefix(table, "experiment,learner,seed,t,metric,value,") || strings.Count(table, "\n") != 9 {
		t.Fatal(table)
	}
	for file, head := range map[string]string{"t.csv": table, "t.parquet": "PAR1"} {
		path := filepath.Join(out, file)
		if stdout := s.quiet(t, "export", "--results", have, "--out", path); stdout != path+": runs: 2, rows: 8\n" {
			t.Error(stdout)
		}
		if data := string(demand.Read(t, path)); !strings.HasPrefix(data, head) {
			t.Errorf("%s has %.20q", file, data)
		}
	}
}

// TestExportOfDamagedFolder: a damaged file is reported, the table has all other runs, and the exit code is 1.
func TestExportOfDamagedFolder(t *testing.T) {
	s := newSandbox(t)
	have := toyRuns(t, 0, 0, 1)
	out := filepath.Join(t.TempDir(), "t.csv")
	demand.NoError(t, os.Truncate(toyFile(have, 0), 100))
	before := demand.Files(t, have)
	code, stdout, stderr := s.run(t, "export", "--results", have, "--out", out)
	if code != 1 || stdout != out+": runs: 1, rows: 4\n" ||
		strings.Count(demand.Files(t, filepath.Dir(out))["t.csv"], "\ntoy,ours,1,") != 4 {
		t.Errorf("exit code %d, %s", code, stdout)
	}
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], toyFile(have, 0)+" is damaged") {
		t.Fatalf("stderr %q", stderr)
	}
	oneSentence(t, lines[1]+"\n", "problems: 1", "left out of the table")
	if fmt.Sprint(before) != fmt.Sprint(demand.Files(t, have)) {
		t.Error("the folder was changed")
	}
}

// TestExportToNamedPipe: an existing path that is no regular file is written to, not replaced.
func TestExportToNamedPipe(t *testing.T) {
	s := newSandbox(t)
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := demand.Pipe(pipe); err != nil {
		t.Skip("no named pipes here: ", err)
	}
	read := make(chan string)
	go func() {
		text, _ := os.ReadFile(pipe)
		read <- string(text)
	}()
	s.succeed(t, "export", "--results", toyRuns(t, 0, 0), "--out", pipe)
	select {
	case text := <-read:
		if strings.Count(text, "\n") != 5 {
			t.Errorf("the pipe delivered %q", text)
		}
	case <-time.After(10 * time.Second):
		t.Error("the pipe delivered nothing")
	}
}

// TestWriteFileIsAtomic: a table that cannot be completed leaves the old file unchanged.
func TestWriteFileIsAtomic(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	demand.Write(t, path, "old")
	err := writeFile(path, func(w io.Writer) error {
		w.Write([]byte("new"))
		return errors.New("interrupted")
	})
	demand.Error(t, err, "interrupted")
	if files := demand.Files(t, filepath.Dir(path)); len(files) != 1 || files["table"] != "old" {
		t.Errorf("files %v", files)
	}
}

// TestFigureOfCopiedFolders: a figure whose seeds were computed in two folders is drawn from a copy of both without
// computing anything, and equals the figure of one folder.
func TestFigureOfCopiedFolders(t *testing.T) {
	whole, parts := newSandbox(t), []*sandbox{newSandbox(t), newSandbox(t)}
	whole.succeed(t, fig1(miniature, "--seeds", "0,1")...)
	for i, part := range parts {
		part.succeed(t, fig1(miniature, "--seeds", fmt.Sprint(i))...)
	}
	s := newSandbox(t)
	for _, part := range parts {
		for name, text := range demand.Files(t, part.results) {
			demand.Write(t, filepath.Join(s.results, name), text)
		}
	}
	_, stderr := s.succeed(t, fig1(miniature, "--seeds", "0,1")...)
	demand.Words(t, stderr, "8 runs, all stored")
	if got := s.csv(t); got != whole.csv(t) {
		t.Errorf("the figure differs:\n%s", got)
	}
}
