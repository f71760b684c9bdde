package main

import (
	"archive/zip"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"tvps/ci/demand"
	"tvps/figures"
	"tvps/replicate/claims"
	"tvps/replicate/lab"
	"tvps/replicate/robots"
	"tvps/replicate/runs"
	"tvps/replicate/supervised"
	"tvps/replicate/usage"
)

// TestErrors: a usage error ends with exit code 2, a failure with 1, each with one sentence.
func TestErrors(t *testing.T) {
	const huge = "9223372036854775807"
	s := newSandbox(t)
	file := filepath.Join(t.TempDir(), "file")
	demand.Write(t, file, "the user's")
	belowFile, none := filepath.Join(file, "folder"), filepath.Join(s.tmp, "none")
	noRun := []string{"--scale", "tiny", "--backend", "go", "--results", s.tmp, "--out", belowFile}
	for _, c := range []struct {
		args  []string
		code  int
		words []string
	}{
		{[]string{"fig15"}, 2, []string{`"fig15"`, `did you mean "fig1"`}},
		{[]string{"doctr"}, 2, []string{`did you mean "doctor"`}},
		{[]string{"data", "cifar"}, 2, []string{`did you mean "cifar10"`}},
		{[]string{"fig1", "now"}, 2, []string{"takes no argument", `"now"`}},
		{[]string{"drift", "-", "--time", "day"}, 2, []string{"standard input", "save the table"}},
		{[]string{"fig1", "--scael", "tiny"}, 2, []string{"--scael", `did you mean "--scale"`, "replicate fig1 --help"}},
		{[]string{"fig1", "--scale", "huge"}, 2, []string{`no scale "huge" (tiny, small, medium, paper)`}},
		{[]string{"fig1", "--stride", "x"}, 2, []string{"stride"}},
		{[]string{"fig1", "--stride", "3", "--set", "stride=5"}, 2, []string{"--stride", "--set stride=", "leave one out"}},
		{fig1(miniature, "--stride", "-2"), 2, []string{"stride=-2", "positive"}},
		{fig1(miniature, "--seeds", "0-"), 2, []string{"--seeds", "0-7"}},
		{fig1(miniature, "--seeds", "1,1"), 2, []string{"seed 1 twice"}},
		{fig1(miniature, "--scale", "smal"), 2, []string{`did you mean "small"`}},
		{fig1(miniature, "--panel", "x"), 2, []string{`no panel "x"`}},
		{fig1(miniature, "--set", "epohcs=3"), 2, []string{`did you mean "epochs"`}},
		{fig1(miniature, "--series", "our"), 2, []string{`did you mean "ours"`}},
		{fig1(miniature, "--workers", "0"), 2, []string{"--workers 0"}},
		{fig1(miniature, "--backend", "xla:cp"), 2, []string{`"xla:cp"`, "did you mean"}},
		{fig1(miniature, "--results", belowFile), 1, []string{belowFile, "--results"}},
		{fig1(miniature, "--results", file), 1, []string{file, "is a file", "--results"}},
		{fig1(miniature, "--out", belowFile), 2, []string{belowFile, "is below a file"}},
		{[]string{"status", "fig15"}, 2, []string{`"fig15"`, `did you mean "fig1"`}},
		{[]string{"pretrain", "--width", "0"}, 2, []string{"width is 0"}},
		{[]string{"pretrain", "--out", file}, 2, []string{file, "is a file"}},
		{[]string{"submit", "fig1", "--out", file}, 2, []string{file, "is a file"}},
		{[]string{"fig2", "--workers", huge}, 2, []string{"--workers", "1 to 1024"}},
		{[]string{"submit", "fig1", "--sbatch", "account=x"}, 2, []string{"--sbatch", "--account=NAME"}},
		{[]string{"submit", "fig1", "--workers", huge}, 2, []string{"--workers", "1 to 1024"}},
		{[]string{"all", "--workers", huge}, 2, []string{"--workers", "1 to 1024"}},
		{[]string{"weights", "t.csv", "--time", "day", "-o", "w.csv.gz"}, 2, []string{"w.csv.gz", ".parquet or .csv"}},
		{[]string{"drift", "t.csv", "--time", "day", "--json", "-"}, 2, []string{"--json -", "name a file"}},
		{[]string{"weights", "t.csv", "--time", "day", "--gap", "2"}, 2, []string{"--gap", "--kind auto", "neither"}},
		{[]string{"weights", "t.csv", "--time", "day", "--kind", "auto", "--workers", huge}, 2, []string{"1 to 1024"}},
		{[]string{"backtest", "t.csv", "--time", "day", "--label", "y", "--workers", huge}, 2, []string{"1 to 1024"}},
		{[]string{"drift", "t.csv", "--time", "day", "another.csv"}, 2, []string{"one table", "2"}},
		{[]string{"pretrain", "--epochs", "1"}, 1, []string{"full CIFAR-10", "TVPS_DATA"}},
		{[]string{"verify", "--judged", "--seeds", "0"}, 2, []string{"leave out --judged"}},
		{[]string{"verify", "--tables", s.tmp}, 2, []string{"has no run of a drawn figure"}},
		{slices.Concat([]string{"verify"}, noRun), 1, []string{belowFile, "--out"}},
		{[]string{"verify", "--results", none}, 2, []string{none, "there is no results folder", "--results"}},
		{[]string{"fig1", "--stored", "--results", none}, 2, []string{none, "there is no results folder", "--results"}},
		{[]string{"status", "fig1", "--results", file}, 2, []string{file, "is a file"}},
		{[]string{"all", "--set", "epohcs=3"}, 2, []string{"fig01", `did you mean "epochs"`}},
		{slices.Concat([]string{"all"}, noRun[2:]), 2, []string{belowFile, "is below a file"}},
	} {
		t.Run(strings.Join(c.args[:min(2, len(c.args))], " ")+" "+c.args[len(c.args)-1], func(t *testing.T) {
			s.refuse(t, c.code, c.args, c.words...)
		})
	}
}

// TestHelp: without a command twelve lines say where to begin; --help has every command.
func TestHelp(t *testing.T) {
	for command, want := range map[string]string{"": "Begin with one of these:", "--help": "\nYour own tables:\n  drift ",
		"fig1 --help": "Usage:\n  replicate fig1 [flags]", "data": "Usage:\n  replicate data [flags]"} {
		stdout := newSandbox(t).quiet(t, strings.Fields(command)...)
		demand.Words(t, stdout, want)
		if lines := strings.Count(stdout, "\n"); command == "" && lines > 12 {
			t.Errorf("%d lines without a command", lines)
		}
	}
	help := newSandbox(t).quiet(t, "--help")
	for _, cmd := range root(paperCatalog).Commands() {
		if cmd.Flags().Lookup("tables") == nil && strings.Contains(cmd.UsageString(), "--tables") {
			t.Errorf("the help of %s names --tables, which it has not", cmd.Name())
		}
		if !strings.Contains(help, " "+cmd.Name()+" ") && cmd.Name() != "fig14" && cmd.Name() != "help" {
			t.Errorf("--help lacks %s", cmd.Name())
		}
	}
}

// TestTerminal: Figure 1 of the gallery takes at most 30 lines, the page's address the last; three of its seeds say
// what the gallery's larger sample says.
func TestTerminal(t *testing.T) {
	s := newSandbox(t)
	gallery := filepath.Join("..", "figures", "gallery")
	stored := []string{"fig1", "--stored", "--tables", gallery, "--results", filepath.Join(s.tmp, "none"), "--out", s.tmp,
		"--backend", "xla:cpu"}
	stdout, _ := s.succeed(t, stored...)
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	if len(lines) > 30 || lines[len(lines)-1] != "Page: "+filepath.Join(s.tmp, "index.html") {
		t.Errorf("%d lines:\n%s", len(lines), stdout)
	}
	for _, want := range []string{"  a  Drifting Gaussian: Everything 64.6%, ", "12 claims: 7 hold, ",
		"  + holds          +28.4 points              On the Gaussian, Ours is better than Everything\n"} {
		if !strings.Contains(stdout, want) || strings.Contains(stdout, "gallery: ") {
			t.Errorf("no %q, or the gallery next to itself, in\n%s", want, stdout)
		}
	}
	files := filepath.Join(s.tmp, "compact")
	stdout, _ = s.succeed(t, append(stored, "--panel", "a", "--seeds", "0,1,2", "--compact", "--out", files)...)
	demand.Words(t, stdout, "gallery: holds. On the Gaussian, Ours is better than Everything", "\nFiles: "+files+"\n")
	_, _, stderr := s.run(t, append(stored, "--scale", "medium")...)
	demand.Words(t, stderr, "80 of 132 runs not stored", "tables of the scale medium are in "+filepath.Join(gallery, "medium"))
}

// TestHelpNamesLearners: a figure's help lists its learners and no others.
func TestHelpNamesLearners(t *testing.T) {
	for command, learners := range map[string][]string{
		"fig1": supervised.Protocol.Learners(), "fig2": robots.Protocol.Learners()} {
		slices.Sort(learners)
		demand.Words(t, newSandbox(t).quiet(t, command, "--help"), "own: "+strings.Join(learners, ", ")+"\n")
	}
}

// TestShowConfig: --show-config lists every setting of every chosen panel and computes nothing.
func TestShowConfig(t *testing.T) {
	s := newSandbox(t)
	stdout := s.quiet(t, "fig1", "--scale", "paper", "--panel", "a,c", "--set", "c.epochs=33", "--show-config")
	a, c, found := strings.Cut(stdout, "Panel c")
	if !found || !strings.Contains(a, "Panel a: Drifting Gaussian, scale paper") ||
		strings.Contains(stdout, "Panel b") {
		t.Errorf("panels:\n%s", stdout)
	}
	setup, err := paperCatalog.Setup("gaussian", "paper", nil)
	demand.NoError(t, err)
	for _, f := range setup.Fields() {
		if !strings.Contains(a, "  "+f.Name+" ") || !strings.Contains(a, f.Doc) {
			t.Errorf("panel a lacks %s", f.Name)
		}
	}
	if !strings.Contains(c, "33") || strings.Contains(a, "33") {
		t.Error("c.epochs=33 must apply to panel c alone")
	}
	if _, err := os.Stat(s.results); err == nil {
		t.Error("it created the results folder")
	}
}

// TestStatus: runs are missing before the figure is made and done after it.
func TestStatus(t *testing.T) {
	s := newSandbox(t)
	demand.NoError(t, os.Mkdir(s.results, 0o755))
	status := append([]string{"status", "fig1"}, miniature...)
	stdout := s.quiet(t, status...)
	demand.Words(t, stdout, "4 missing", "gaussian/ours seed 0")
	s.succeed(t, fig1(miniature)...)
	stdout = s.quiet(t, status...)
	demand.Words(t, stdout, "scale tiny: 4 done")
	stdout = s.quiet(t, append(status, "--stride", "1")...)
	demand.Words(t, stdout, "partial: 3 of 6 steps")
	stdout = s.quiet(t, append(status, "--set", "epochs=3")...)
	demand.Words(t, stdout, "4 missing")
	damaged := filepath.Join(s.results, "gaussian", "0.jsonl.zst")
	demand.Write(t, damaged, "cut")
	stdout = s.quiet(t, status...)
	demand.Words(t, stdout, "damaged, counts as missing: "+damaged)
}

// TestDoctorFindsDamagedData: the exit code is 1 and the file is named.
func TestDoctorFindsDamagedData(t *testing.T) {
	s := newSandbox(t)
	data := t.TempDir()
	path := filepath.Join(data, "data_batch_1.bin")
	demand.Write(t, path, "cut")
	for dir, word := range map[string]string{data: path, filepath.Join(data, "none"): "TVPS_DATA"} {
		s.env = []string{"TVPS_DATA=" + dir}
		code, stdout, stderr := s.run(t, "doctor", "--backend", "go")
		if code != 1 || !strings.Contains(stdout, word) {
			t.Errorf("exit code %d, %s", code, stdout)
		}
		oneSentence(t, stderr, "checks failed", "fig1 cannot run")
	}
}

// TestDoctorAndCLEAR: without features the stand-in is named; a set without a bucket is wrong.
func TestDoctorAndCLEAR(t *testing.T) {
	s, incomplete := newSandbox(t), t.TempDir()
	const miniature = "../data/clear/testdata/clear10-public.zip"
	whole, err := zip.OpenReader(miniature)
	demand.NoError(t, err)
	defer whole.Close()
	demand.NoError(t, errors.Join(os.CopyFS(incomplete, whole),
		os.RemoveAll(filepath.Join(incomplete, "features/moco_b0/3"))))
	for path, words := range map[string][]string{
		"": {"a stand-in, not CLEAR, is used", "data/README.md"}, miniature: {"features in " + miniature},
		incomplete: {incomplete + " has 9 buckets", "get the complete archive"}, "none": {"cannot use TVPS_CLEAR"},
	} {
		s.env = []string{"TVPS_CLEAR=" + path}
		_, stdout, _ := s.run(t, "doctor", "--backend", "go")
		demand.Words(t, stdout, words...)
	}
}

// TestInterruption: a figure that was interrupted by Ctrl-C or kill -9 and continued has the same bytes as an
// uninterrupted one.
func TestInterruption(t *testing.T) {
	args := fig1(longer)
	want := uninterrupted(t)
	for name, signal := range map[string]os.Signal{"Ctrl-C": os.Interrupt, "kill -9": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			s := newSandbox(t)
			cmd, _, stderr := s.command(args...)
			demand.NoError(t, cmd.Start())
			demand.Soon(t, "ten steps", func() bool { return s.stepsDone() >= 10 })
			demand.NoError(t, cmd.Process.Signal(signal))
			if err := cmd.Wait(); err == nil {
				t.Fatal("it finished before it could be interrupted")
			}
			if signal == os.Interrupt {
				lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
				oneSentence(t, lines[len(lines)-1]+"\n", "interrupted with", "of 8 runs finished", "start again")
				demand.Equal(t, cmd.ProcessState.ExitCode(), 130, "exit code")
			}
			if _, err := os.Stat(s.out + "/fig01-a.csv"); err == nil {
				t.Error("it drew an incomplete figure")
			}
			s.succeed(t, args...)
			demand.Equal(t, s.csv(t), want, "the table of an interrupted figure")
		})
	}
}

// TestEndsWithParent: with usage.WithParent the program is interrupted when the process that started it is killed.
func TestEndsWithParent(t *testing.T) {
	s := newSandbox(t)
	cmd, _, _ := s.command(fig1(longer)...)
	said := filepath.Join(s.tmp, "said")
	shell := exec.Command("sh", append([]string{"-c", `"$@" 2> "$SAID" & wait`, "sh"}, cmd.Args...)...)
	shell.Env = append(cmd.Env, usage.WithParent+"=1", "SAID="+said)
	demand.NoError(t, shell.Start())
	demand.Soon(t, "a step", func() bool { return s.stepsDone() >= 1 })
	demand.NoError(t, shell.Process.Kill())
	_ = shell.Wait() // killed
	demand.Soon(t, "the end of a program whose parent was killed", func() bool {
		return strings.Contains(string(demand.Read(t, said)), "of 8 runs finished")
	})
}

// TestAdvice: every typed error gets its advice, also inside another error.
func TestAdvice(t *testing.T) {
	full := errors.New("no space left")
	for _, c := range []struct {
		err  error
		want string
	}{
		{full, ""},
		{&runs.FolderError{Dir: "r", Problem: "is a file"}, ": choose another with --results"},
		{&runs.FolderError{Dir: "r", Problem: "cannot be written", Err: full},
			": make it writable or choose another with --results"},
		{&runs.FolderError{Dir: "r", Problem: "does not lock files", Err: full, Locks: true},
			": mount it with locks (Lustre: -o flock; NFS: without nolock and local_lock), or give each process a folder of " +
				"its own with --results and copy these together"},
		{&runs.WriteError{What: "result file", Path: "f", Err: syscall.ENOSPC}, ": free some space and start again"},
		{&runs.WriteError{What: "result file", Path: "f", Err: syscall.EACCES}, ": start again when it can be"},
		{&runs.InterruptedError{Done: 1, Total: 8}, ", start again to continue"},
	} {
		for _, err := range []error{c.err, usage.Error(fmt.Errorf("outer: %w", c.err))} {
			demand.Equal(t, advice(err), c.want, "%v: advice", err)
		}
	}
}

// verifyMiniature are the arguments of a verify that reads the runs of miniature and writes a file.
func (s *sandbox) verifyMiniature(file string) []string {
	args := []string{"verify", "--results", s.results, "--backend", "go", "--out", file}
	for i := 0; i < len(miniature); i += 2 {
		switch miniature[i] {
		case "--panel":
		case "--stride":
			args = append(args, "--set", "stride="+miniature[i+1])
		default:
			args = append(args, miniature[i:i+2]...)
		}
	}
	return args
}

// TestChosenSeries: settings stand before the verdicts that they change, and a command that makes a claim's numbers
// again trains all its learners, not those shown.
func TestChosenSeries(t *testing.T) {
	s := newSandbox(t)
	stdout := s.quiet(t, "fig1", "--panel", "a", "--stride", "5", "--series", "ours,recent", "--stored", "--tables",
		filepath.Join("..", "figures", "gallery"), "--results", s.tmp, "--backend", "xla:cpu")
	demand.Words(t, stdout, "\nWith stride=5: 6 claims: ")
	page := string(demand.Read(t, filepath.Join(s.out, figures.PageFile)))
	if n := strings.Count(page, " --series "); n != 1 { // of the figure itself
		t.Errorf("the page names the chosen series in %d commands", n)
	}
}

// TestVerifyCountsAsReadme: with the gallery's tables verify ends with the count of README.md.
func TestVerifyCountsAsReadme(t *testing.T) {
	s := newSandbox(t)
	stdout := s.quiet(t, "verify", "--tables", filepath.Join("..", "figures", "gallery"), "--out", filepath.Join(s.tmp, "verify.json"),
		"--results", s.tmp)
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	demand.Words(t, string(demand.Read(t, filepath.Join("..", "README.md"))), "**"+strings.TrimSuffix(lines[len(lines)-1], "."))
	demand.Words(t, stdout, "  On the Gaussian, Ours is better than Everything (Section 3.1.2)",
		"the paper: \"performs much better")
}

// TestVerify: at the scale tiny verify prints which runs of fig1 are stored, and that no claim is judged.
func TestVerify(t *testing.T) {
	s := newSandbox(t)
	file := filepath.Join(t.TempDir(), "new", "verify.json")
	demand.NoError(t, os.Mkdir(s.results, 0o755))
	stdout := s.quiet(t, s.verifyMiniature(file)...)
	demand.Words(t, stdout, "No run is stored", "--tables figures/gallery")
	s.succeed(t, fig1(miniature)...)
	stdout = s.quiet(t, s.verifyMiniature(file)...)
	demand.Words(t, stdout, lab.TinyNote+"\nFigure 1", "4 of 18 runs stored, seeds 0",
		" --set g-batch=16 --results "+s.results+" --backend go\n", "Table: "+file)
	var v claims.Verification
	if err := json.Unmarshal(demand.Read(t, file), &v); err != nil || v.Figures[0].Stored != 4 || len(v.Claims) > 0 {
		t.Errorf("the table: %v, %+v, %v", err, v.Figures, v.Claims)
	}
}
