package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"tvps/ci/demand"
)

// envMain is the program's name when a test starts the test binary as the program itself.
const envMain = "REPLICATE_TEST_MAIN"

func TestMain(m *testing.M) {
	if name := os.Getenv(envMain); name != "" {
		os.Args[0] = name
		main()
	}
	os.Exit(m.Run())
}

// sandbox holds what the program runs with: empty folders, no data, the Go backend.
type sandbox struct {
	results, out, cache string
	tmp                 string // $TMPDIR
	env                 []string
}

func newSandbox(t *testing.T) *sandbox {
	t.Helper()
	dir := t.TempDir()
	tmp := filepath.Join(dir, "tmp")
	demand.NoError(t, os.Mkdir(tmp, 0o755))
	return &sandbox{
		results: filepath.Join(dir, "results"), out: filepath.Join(dir, "out"),
		cache: filepath.Join(dir, "cache"), tmp: tmp,
	}
}

// command prepares a call. Commands that compute get the sandbox's folders and backend.
func (s *sandbox) command(args ...string) (cmd *exec.Cmd, stdout, stderr *bytes.Buffer) {
	if len(args) > 0 && slices.Contains([]string{"fig1", "status"}, args[0]) {
		for _, f := range [][2]string{{"--backend", "go"}, {"--results", s.results}, {"--out", s.out}} {
			drawn := args[0] != "status" && !slices.Contains(args, "--no-draw")
			if !slices.Contains(args, f[0]) && (f[0] != "--out" || drawn) {
				args = append(args, f[0], f[1])
			}
		}
	}
	cmd = exec.Command(os.Args[0], args...)
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "TVPS_") }),
		append([]string{envMain + "=replicate", "TVPS_CACHE=" + s.cache, "TMPDIR=" + s.tmp}, s.env...)...)
	return cmd, stdout, stderr
}

// run calls the program and returns its exit code and what it printed.
func (s *sandbox) run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	cmd, out, errs := s.command(args...)
	if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// succeed calls the program, which must end with exit code 0, and returns what it printed.
func (s *sandbox) succeed(t *testing.T, args ...string) (stdout, stderr string) {
	t.Helper()
	code, stdout, stderr := s.run(t, args...)
	if code != 0 {
		t.Fatalf("%q: exit code %d, %s%s", args, code, stdout, stderr)
	}
	return stdout, stderr
}

// quiet calls the program, which must succeed without a word on stderr, and returns what it printed.
func (s *sandbox) quiet(t *testing.T, args ...string) string {
	t.Helper()
	stdout, stderr := s.succeed(t, args...)
	demand.Equal(t, stderr, "", "%q: stderr", args)
	return stdout
}

// refuse calls the program, which must print nothing but one sentence with all the words, and end with the exit code.
func (s *sandbox) refuse(t *testing.T, code int, args []string, words ...string) {
	t.Helper()
	got, stdout, stderr := s.run(t, args...)
	if got != code || stdout != "" {
		t.Errorf("%q: exit code %d, want %d; stdout %q", args, got, code, stdout)
	}
	oneSentence(t, stderr, words...)
}

// miniature is panel a with almost nothing to compute: 3 steps of 4 learners.
var miniature = []string{"--panel", "a", "--scale", "tiny", "--seeds", "0", "--set", "steps=7", "--set", "first=1",
	"--stride", "2", "--set", "n=30", "--set", "test-n=40", "--set", "epochs=2", "--set", "max-updates=3",
	"--set", "g-updates=3", "--set", "batch=16", "--set", "g-batch=16"}

// longer is panel a with a few seconds of training: the 8 runs of longerPlan in two workers.
var longer = slices.Concat(longerPlan, []string{"--workers", "2"})

// longerPlan has 2 seeds, 4 learners, 25 steps.
var longerPlan = []string{"--panel", "a", "--scale", "tiny", "--seeds", "0-1", "--set", "steps=26", "--set", "first=1",
	"--stride", "1", "--set", "n=30", "--set", "test-n=40", "--set", "max-updates=15", "--set", "g-updates=15",
	"--set", "batch=16", "--set", "g-batch=16"}

func fig1(args []string, more ...string) []string {
	return slices.Concat([]string{"fig1"}, args, more)
}

// wholeTable is what uninterrupted found.
var wholeTable struct {
	sync.Mutex
	csv string
}

// uninterrupted is the table of longer on one machine.
func uninterrupted(t *testing.T) string {
	t.Helper()
	wholeTable.Lock()
	defer wholeTable.Unlock()
	if wholeTable.csv == "" {
		s := newSandbox(t)
		s.succeed(t, fig1(longer)...)
		wholeTable.csv = s.csv(t)
	}
	return wholeTable.csv
}

// csv reads the table of panel a.
func (s *sandbox) csv(t *testing.T) string {
	t.Helper()
	text := demand.Read(t, filepath.Join(s.out, "fig01-a.csv"))
	return string(text)
}

// stepsDone counts the finished steps in the files of unfinished runs.
func (s *sandbox) stepsDone() int {
	paths, _ := filepath.Glob(filepath.Join(s.results, "*", "*.partial.jsonl"))
	n := 0
	for _, path := range paths {
		text, _ := os.ReadFile(path)
		n += bytes.Count(text, []byte(`{"step":`))
	}
	return n
}

// oneSentence fails the test unless stderr is one line with all the words.
func oneSentence(t *testing.T, stderr string, words ...string) {
	t.Helper()
	if strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "replicate: ") {
		t.Errorf("not one sentence: %q", stderr)
	}
	demand.Words(t, stderr, words...)
}
