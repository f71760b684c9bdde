package cluster

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"tvps/ci/demand"
)

// TestJobs: arrays are split at MaxArraySize, and each job waits for the stages whose results its tasks need.
func TestJobs(t *testing.T) {
	p, o := plan(t, 12)
	type short struct {
		name         string
		first, count int
		after        string
	}
	var got []short
	for _, j := range Jobs(&p, o) {
		got = append(got, short{j.Name, j.First, j.Count, strings.Join(j.After, " ")})
	}
	want := []short{{"features-1", 0, 1, ""}, {"cpu-1", 1, 10, "features-1"}, {"cpu-2", 11, 2, "features-1"},
		{"draw", 0, 0, "features-1 cpu-1 cpu-2"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestScript: every kind of script is one that bash reads, with the options that were asked for.
func TestScript(t *testing.T) {
	p, o := plan(t, 12)
	p.Arguments = []string{"--set", "b.epochs=5; rm x"}
	p.Tasks[12].Stage, p.Tasks[12].GPU = StageGPU, true
	o.MaxRunning, o.GPUPartition, o.Account = 4, "a100", "physics"
	o.Lines, o.Environ = []string{"--constraint=haswell"}, map[string]string{"TVPS_DATA": "/it's here"}
	o.Time = 90 * time.Minute
	scripts := map[string]string{}
	for _, j := range Jobs(&p, o) {
		text, err := j.Script()
		demand.NoError(t, err)
		scripts[j.Name] = string(text)
		check := exec.Command("bash", "-n")
		check.Stdin = strings.NewReader(string(text))
		if out, err := check.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s\n%s", j.Name, err, out, text)
		}
	}
	for name, lines := range map[string][]string{
		"cpu-1": {"#SBATCH --array=0-9%4", "#SBATCH --time=1:30:00", "#SBATCH --signal=B:TERM@120",
			"#SBATCH --account=physics", "#SBATCH --constraint=haswell", `export TVPS_DATA='/it'\''s here'`,
			"task=$((1 + SLURM_ARRAY_TASK_ID))", "#SBATCH --kill-on-invalid-dep=yes", "#SBATCH --requeue"},
		"gpu-1": {"#SBATCH --gres=gpu:1", "#SBATCH --partition=a100"},
		"draw":  {"fig1 --stored --scale tiny --set 'b.epochs=5; rm x' --results"},
	} {
		demand.Words(t, scripts[name], lines...)
	}
	if strings.Contains(scripts["cpu-1"], "gres") || strings.Contains(scripts["cpu-1"], "a100") {
		t.Errorf("a task without a GPU asks for one:\n%s", scripts["cpu-1"])
	}
}

// TestQuote: a shell reads back the words.
func TestQuote(t *testing.T) {
	words := []string{"plain", "", "it's", "a b", `$HOME "x" \`, "new\nline", "ü"}
	out, err := exec.Command("bash", "-c", "printf '%s|' "+quote(words...)).Output()
	if err != nil || string(out) != strings.Join(words, "|")+"|" {
		t.Errorf("%q, %v", out, err)
	}
}

// TestParse reads what squeue prints: other jobs, also of the same number or name, and pending parts of arrays.
func TestParse(t *testing.T) {
	jobs := []Submitted{{Name: "cpu-1", ID: 12, First: 1, Count: 3}, {Name: "draw", ID: 13}}
	queue := parseQueue("12|0|RUNNING|n1|None|tvps-cpu-1\n12|2|PENDING||Resources|tvps-cpu-1\n"+
		"13|N/A|PENDING||Dependency|tvps-draw\n13|N/A|RUNNING|n2|None|draw\n99|N/A|RUNNING|n2|None|tvps-draw\nslurm\n", jobs)
	want := []queued{{12, 0, "RUNNING", "n1", "None"}, {12, 2, "PENDING", "", "Resources"}, {13, -1, "PENDING", "", "Dependency"}}
	if !reflect.DeepEqual(queue, want) {
		t.Errorf("%+v, want %+v", queue, want)
	}
}

// fakeSlurm puts programs with these shell scripts first on PATH, and returns a folder for what they note.
func fakeSlurm(t *testing.T, scripts map[string]string) string {
	dir := t.TempDir()
	for name, text := range scripts {
		demand.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\ncd "+quote(dir)+"\n"+text+"\n"), 0o755))
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return dir
}

// TestCancel: another job of the same number is not cancelled.
func TestCancel(t *testing.T) {
	dir := fakeSlurm(t, map[string]string{
		"squeue":  "echo '12|0|RUNNING|n1|None|tvps-cpu-1'; echo '22|N/A|RUNNING|n1|None|precious'",
		"scancel": `echo "$@" >ids`,
	})
	plan := filepath.Join(dir, "plan.json")
	jobs := []Submitted{{Name: "cpu-1", ID: 12, First: 1, Count: 3}, {Name: "draw", ID: 22}}
	demand.NoError(t, writeJobs(plan, jobs))
	n, err := Cancel(t.Context(), plan)
	if got := demand.Read(t, filepath.Join(dir, "ids")); n != 1 || err != nil || string(got) != "12\n" {
		t.Errorf("%d jobs, %v: scancel %q", n, err, got)
	}
}

// TestSubmitFails: a site's sbatch prints more than the number. After the third job is refused the two before it are
// cancelled, although the queue does not list them yet.
func TestSubmitFails(t *testing.T) {
	dir := fakeSlurm(t, map[string]string{
		"sbatch": "echo x >>calls; n=$(wc -l <calls)\n[ $n -lt 3 ] || { echo no quota >&2; exit 1; }\n" +
			"echo 'Welcome to 3 clusters'; echo \"4$n;main\"; echo '12 of 500 hours are left'",
		"squeue": "true", "scancel": `echo "$@" >ids`,
	})
	p, o := plan(t, 12)
	jobs := Jobs(&p, o)
	demand.NoError(t, WriteScripts(jobs))
	if info, err := os.Stat(jobs[0].File()); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the script's mode is %v, %v", info.Mode(), err)
	}
	_, err := Submit(t.Context(), jobs)
	demand.Error(t, err, "no quota")
	if got := demand.Read(t, filepath.Join(dir, "ids")); string(got) != "41 42\n" {
		t.Errorf("scancel %q", got)
	}
}

// TestStarts: a worker that cannot start notes no attempt, and is given up after as many starts as one that fails;
// starts whose work was saved do not count.
func TestStarts(t *testing.T) {
	dir := fakeSlurm(t, map[string]string{"scontrol": `echo "$@" >requeued`, "sleep": "true"})
	for _, c := range []struct {
		restarts, saved int
		again           bool
	}{{0, 0, true}, {1, 0, false}, {2, 2, true}, {3, 2, false}} {
		p, o := plan(t, 1)
		o.Program = filepath.Join(dir, "none")
		for i := range c.saved {
			file := filepath.Join(AttemptsFolder(o.Plan), fmt.Sprintf("000000-%d.json", i))
			demand.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
			demand.Write(t, file, `{"task":0,"exit":130,"steps":1}`)
		}
		text, err := Jobs(&p, o)[0].Script()
		demand.NoError(t, err)
		script := exec.Command("bash")
		script.Stdin = bytes.NewReader(text)
		script.Env = append(os.Environ(), "SLURM_ARRAY_TASK_ID=0", "SLURMD_NODENAME=n1", "SLURM_JOB_ID=7",
			fmt.Sprint("SLURM_RESTART_COUNT=", c.restarts))
		out, _ := script.CombinedOutput()
		if code := script.ProcessState.ExitCode(); code != 127 {
			t.Errorf("exit code %d\n%s", code, out)
		}
		noted := filepath.Join(dir, "requeued")
		if _, err := os.Stat(noted); (err == nil) != c.again {
			t.Errorf("%+v: requeued %v\n%s", c, err == nil, out)
		}
		os.Remove(noted)
	}
}

// TestItem joins the queue and the attempts of a task.
func TestItem(t *testing.T) {
	now := time.Now()
	task := Task{ID: 2, Stage: StageCPU, Seconds: 3600}
	job := Submitted{Name: "cpu-1", ID: 12, First: 1, Count: 3}
	ended := func(exit, steps int) Attempt {
		return Attempt{Task: 2, Start: now, End: now, Exit: exit, Error: "no space", Steps: steps, Of: 10, Node: "n3"}
	}
	for name, c := range map[string]struct {
		attempts []Attempt
		queue    []queued
		state    TaskState
		node     string
		left     float64
		message  string
	}{
		"cancelled before its start": {state: Cancelled, left: 3600},
		"waits":                      {queue: []queued{{12, 1, "PENDING", "", "Resources"}}, state: Waiting, left: 3600, message: "Resources"},
		"waits again": {attempts: []Attempt{ended(130, 4)}, queue: []queued{{12, 1, "PENDING", "", "BeginTime"}},
			state: Waiting, node: "n3", left: 2160, message: "BeginTime"},
		"runs": {attempts: []Attempt{{Task: 2, Start: now, Steps: 4, Of: 10, Node: "n1"}},
			queue: []queued{{12, 1, "RUNNING", "n1", "None"}}, state: Running, node: "n1", left: 2160, message: "4 of 10 steps"},
		"done":   {attempts: []Attempt{ended(1, 4), ended(0, 6)}, state: Done, node: "n3"},
		"failed": {attempts: []Attempt{ended(1, 5)}, state: Failed, node: "n3", left: 1800, message: "no space"},
		"killed": {attempts: []Attempt{{Task: 2, Start: now, Of: 10, Node: "n1"}}, state: Failed, node: "n1",
			left: 3600, message: "ended without a word"},
	} {
		k := statusReader{path: "/none/plan.json", attempts: map[int][]Attempt{2: c.attempts},
			jobs: []Submitted{job}, queue: c.queue}
		got := k.task(task)
		if got.State != c.state || got.Node != c.node || got.Message != c.message || got.Seconds < c.left-1 ||
			got.Seconds > c.left+1 || got.Attempts != len(c.attempts) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// The reason of a failure is this program's sentence, not what Slurm says after it.
func TestLastError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	for text, want := range map[string]string{
		"replicate: an earlier try\nreplicate: no lock\nsrun: Terminating StepId=1.0\n\n": "no lock",
		"start\nslurmstepd: killed\n":                                  "slurmstepd: killed",
		strings.Repeat("loss 1\n", endOfLog) + "replicate: no lock\nx": "no lock",
		"replicate: no lock\n" + strings.Repeat("loss 1\n", endOfLog):  "loss 1",
		"": "",
	} {
		demand.Write(t, path, text)
		if got := lastError(path); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
