package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tvps/ci/demand"
)

// jobs returns two arrays of n workers and the job that draws, in a folder with a space and a quote.
func jobs(t *testing.T, n int) []slurmJob {
	folder := filepath.Join(t.TempDir(), "it's here")
	one := slurmJob{Scripts: folder, Folder: folder, Lines: []string{"--constraint=haswell", "--time=90"}}
	workers, images, draw := one, one, one
	workers.Name, workers.Workers, workers.Command = "tvps-fig1", n, []string{"/p", "fig1", "--set=b.epochs=5; rm x"}
	images.Name, images.Workers, images.Command = "tvps-fig1-images", n, []string{"/p", "fig1"}
	images.Lines = []string{"--gres=gpu:1", "--gres=gpu:a100:1"}
	draw.Name, draw.Command = "tvps-fig1-draw", []string{"/p", "fig1", "--stored"}
	return []slurmJob{workers, images, draw}
}

// written is jobs with their scripts.
func written(t *testing.T, n int) []slurmJob {
	t.Helper()
	all := jobs(t, n)
	for _, j := range all {
		demand.NoError(t, j.Write())
	}
	return all
}

// TestScript: every kind of script is one that bash reads, with the options that were asked for.
func TestScript(t *testing.T) {
	scripts := map[string]string{}
	for _, j := range jobs(t, 12) {
		text, err := j.Script()
		demand.NoError(t, err)
		scripts[j.Name] = string(text)
		check := exec.Command("bash", "-n")
		check.Stdin = strings.NewReader(string(text))
		if out, err := check.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s\n%s", j.Name, err, out, text)
		}
	}
	demand.Words(t, scripts["tvps-fig1"], "#SBATCH --array=0-11\n", "#SBATCH --requeue", "#SBATCH --signal=B:USR1@120",
		"#SBATCH --constraint=haswell\n#SBATCH --time=90\n", "--mem-per-cpu=3G", `/it'\''s here' || exit 2`,
		`/p fig1 '--set=b.epochs=5; rm x' --workers "$SLURM_CPUS_PER_TASK" &`)
	demand.Words(t, scripts["tvps-fig1-images"], "#SBATCH --gres=gpu:1\n#SBATCH --gres=gpu:a100:1\n")
	demand.Words(t, scripts["tvps-fig1-draw"], "exec /p fig1 --stored\n")
	if strings.Contains(scripts["tvps-fig1"], "gres") || strings.Contains(scripts["tvps-fig1-draw"], "array") {
		t.Errorf("%s\n%s", scripts["tvps-fig1"], scripts["tvps-fig1-draw"])
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

// fakeSlurm puts programs with these shell scripts first on PATH, and returns a folder for what they note.
func fakeSlurm(t *testing.T, scripts map[string]string) string {
	dir := t.TempDir()
	for name, text := range scripts {
		demand.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/bash\ncd "+quote(dir)+"\n"+text+"\n"), 0o755))
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return dir
}

// TestSubmitFails: a site's sbatch prints more than the number. The last job waits for the others; after it is refused
// they are cancelled.
func TestSubmitFails(t *testing.T) {
	dir := fakeSlurm(t, map[string]string{
		"sbatch": "echo \"$@\" >>calls; n=$(wc -l <calls)\n[ $n -lt 3 ] || { echo no quota >&2; exit 1; }\n" +
			"echo 'Welcome to 3 clusters'; echo \"4$n;main\"; echo '12 of 500 hours are left'",
		"scancel": `echo "$@" >ids`,
	})
	all := written(t, 2)
	if info, err := os.Stat(all[0].File()); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the script's mode is %v, %v", info.Mode(), err)
	}
	_, err := submitJobs(t.Context(), all)
	demand.Error(t, err, "tvps-fig1-draw", "no quota")
	demand.Words(t, string(demand.Read(t, filepath.Join(dir, "calls"))), "--dependency=afterany:41:42 ")
	if got := demand.Read(t, filepath.Join(dir, "ids")); string(got) != "41 42\n" {
		t.Errorf("scancel %q", got)
	}
	demand.Write(t, filepath.Join(dir, "scancel"), "#!/bin/bash\necho down >&2; exit 1")
	demand.NoError(t, os.Remove(filepath.Join(dir, "calls")))
	ids, err := submitJobs(t.Context(), all)
	demand.Error(t, err, "no quota", "jobs 41, 42 were and cannot be cancelled", "down")
	demand.Equal(t, fmt.Sprint(ids), "[41 42]", "the jobs that are still there")
}

// TestSubmitOwnGroup: Ctrl-C at a terminal, which is for our process group, does not reach sbatch.
func TestSubmitOwnGroup(t *testing.T) {
	fakeSlurm(t, map[string]string{"sbatch": "read -r _ _ _ _ group _ </proc/$$/stat; echo $group"})
	ids, err := submitJobs(t.Context(), written(t, 0))
	demand.NoError(t, err)
	if own := strings.Fields(string(demand.Read(t, "/proc/self/stat")))[4]; len(ids) == 0 || slices.Contains(ids, own) {
		t.Errorf("sbatch is in group %v, and we in %s", ids, own)
	}
}

// TestBusyController: a controller that does not answer is asked again, but not for ever.
func TestBusyController(t *testing.T) {
	pause, most := interval, patience
	t.Cleanup(func() { interval, patience = pause, most })
	interval, patience = 10*time.Millisecond, 2*time.Second
	dir := fakeSlurm(t, map[string]string{"scancel": "true",
		"sbatch": "echo x >>calls; n=$(wc -l <calls)\n[ $n -ge $(cat answers) ] || " +
			"{ echo 'sbatch: error: Batch job submission failed: Socket timed out on send/recv operation' >&2; exit 1; }\necho $n"})
	demand.Write(t, filepath.Join(dir, "answers"), "4")
	if ids, err := submitJobs(t.Context(), written(t, 2)); err != nil || fmt.Sprint(ids) != "[4 5 6]" {
		t.Errorf("jobs %s, %v", ids, err)
	}
	demand.Write(t, filepath.Join(dir, "answers"), "100000")
	_, err := submitJobs(t.Context(), written(t, 2))
	demand.Error(t, err, "tvps-fig1 was not submitted", "Socket timed out")
}

// TestLimit: of jobs beyond a limit none stays submitted, and the error has what sbatch said.
func TestLimit(t *testing.T) {
	dir := fakeSlurm(t, map[string]string{ // a file for each job in the queue; two fit
		"sbatch": `(($(ls queue | wc -l) < 2)) || { echo 'sbatch: error: AssocMaxSubmitJobLimit' >&2; exit 1; }
echo x >>calls; id=$(wc -l <calls); touch queue/$id; echo $id`,
		"scancel": `cd queue && rm "$@"`,
	})
	demand.NoError(t, os.Mkdir(filepath.Join(dir, "queue"), 0o755))
	_, err := submitJobs(t.Context(), written(t, 8))
	demand.Error(t, err, "was not submitted, nor is any other", "AssocMaxSubmitJobLimit")
	if left, _ := os.ReadDir(filepath.Join(dir, "queue")); len(left) > 0 {
		t.Errorf("left in the queue: %v", left)
	}
	demand.Equal(t, len(demand.Read(t, filepath.Join(dir, "calls"))), len("x\nx\n"), "accepted jobs")
}
