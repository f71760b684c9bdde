package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/figures"
	"tvps/gomlx_models/backend"
	"tvps/gomlx_models/backend/backendtest"
	"tvps/replicate/claims"
	"tvps/replicate/experiment"
	"tvps/replicate/paper"
	"tvps/replicate/runs"
	"tvps/replicate/supervised"
	"tvps/replicate/usage"
)

// archive is a lab with synthetic runs in its store: nothing is trained.
type archive struct {
	*Lab
	options Options
	results string
	skip    func(job runs.Wanted) (steps int) // how many of its last steps a job lacks; all for every step
}

const all = math.MaxInt

func newArchive(t *testing.T) *archive {
	t.Helper()
	t.Setenv("TVPS_DATA", "")
	t.Setenv("TVPS_CACHE", t.TempDir())
	a := &archive{results: filepath.Join(t.TempDir(), "results"), skip: func(runs.Wanted) int { return 0 }}
	store, err := runs.Open(a.results)
	if err != nil {
		t.Fatal(err)
	}
	host := &experiment.Host{Backend: backendtest.Open(t, backend.Go), CacheDir: t.TempDir()}
	a.Lab = &Lab{Catalog: testCatalog, Archive: claims.Archive{Host: host, Store: store}, Stdout: io.Discard,
		Stderr: io.Discard}
	a.options = Options{Scale: "tiny", Workers: 2}
	return a
}

// only leaves the figures with these numbers in the catalog.
func (a *archive) only(numbers ...int) {
	a.Figures = slices.DeleteFunc(slices.Clone(a.Figures), func(f paper.Figure) bool {
		return !slices.Contains(numbers, f.Number)
	})
}

// fill stores synthetic runs of the figures with these numbers, or of all figures if none is given.
func (a *archive) fill(t *testing.T, numbers ...int) {
	t.Helper()
	var jobs []runs.Job
	for _, f := range a.Figures {
		if len(numbers) > 0 && !slices.Contains(numbers, f.Number) {
			continue
		}
		plan, err := a.Plan(f, a.options)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range plan {
			for _, job := range p.Jobs {
				if lacks := a.skip(job); lacks < len(job.Steps) {
					jobs = append(jobs, madeUp(job, p.Shown().Name, job.Steps[:len(job.Steps)-lacks]))
				}
			}
		}
	}
	made := runs.Provenance{Command: []string{"made", "up"}, Host: "hostname", Commit: "c0ffee", Backend: "made-up"}
	report, err := runs.Execute(t.Context(), a.Store, jobs, runs.Options{Workers: 8, Provenance: made})
	if err != nil || report.Err() != nil {
		t.Fatal(err, report.Err())
	}
}

// madeUp returns a job that reports a fixed value for each learner: .5 for Everything, .6 + .001 seed for Ours, and
// so on. The scores of Ours and of the exact weights rise and fall together.
func madeUp(job runs.Wanted, metric string, steps []int) runs.Job {
	levels := map[string]float64{"everything": .5, "recent": .4, "finetune": .45, "ours": .6, "pretrained": .5,
		"standard": .55, "exact": .6,
		"sac": -60, "sac-omega": -50, "sac-context": -40, "sac-context-omega": -30,
		"nothing": -80, "random": -90, "scripted": -20, "constant": -20}
	step := func(_ context.Context, t int) ([]runs.Row, error) {
		value := levels[job.Spec.Learner]
		if job.Spec.Learner == "ours" {
			value += .001 * float64(job.Spec.Seed)
		}
		if metric == "score" && job.Spec.Learner != "standard" {
			value += .1 * float64(t%5)
		}
		return []runs.Row{{T: t, Metric: metric, Value: value}}, nil
	}
	return runs.Job{Spec: job.Spec, Steps: steps, Step: step}
}

func (a *archive) verify(t *testing.T) claims.Verification {
	t.Helper()
	v, err := a.Verify(t.Context(), a.options)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// claim returns the claim with this id.
func claim(t *testing.T, v claims.Verification, id string) claims.Judged {
	t.Helper()
	i := slices.IndexFunc(v.Claims, func(c claims.Judged) bool { return c.ID == id })
	if i < 0 {
		t.Fatalf("the table lacks %s", id)
	}
	return v.Claims[i]
}

// TestVerify: every claim of every figure has its row, and the verdicts and effects of synthetic runs are those
// computed by hand.
func TestVerify(t *testing.T) {
	a := newArchive(t)
	a.fill(t)
	v := a.verify(t)
	want := 0
	for _, f := range a.Figures {
		want += len(f.Claims)
	}
	if len(v.Claims) != want || len(v.Figures) != len(a.Figures) {
		t.Errorf("%d rows of %d figures, want %d of %d", len(v.Claims), len(v.Figures), want, len(a.Figures))
	}
	if stored, of := v.Stored(); stored != of || of < 200 {
		t.Errorf("%d of %d runs are stored", stored, of)
	}
	for id, verdict := range map[string]claims.Verdict{
		"fig1a-ours-everything": claims.Holds, "fig1a-ours-others": claims.DoesNotHold, "fig1-recent-finetune": claims.Holds,
		"fig2b-context-sac":  claims.Holds,
		"fig5b-ours-follows": claims.Holds, "fig8-similar": claims.Holds, "fig8-edge": claims.NoDifference,
		"fig7-ours-consistent": claims.Undecided, // two steps are too few for a share
		"fig11-stable":         claims.NotRun,    // the seeds of made-up runs do not differ
		"fig14-similar":        claims.DoesNotHold,
	} {
		if c := claim(t, v, id); c.Verdict != verdict {
			t.Errorf("%s: %s, want %s", id, c, verdict)
		}
	}
	checkEffects(t, v)
	checkJSON(t, a, v)
	basis := strings.Join(v.Basis(), " ")
	for _, words := range []string{"Scale tiny", "seeds 0, 1, 2 (figure 12: 0-7)",
		"CIFAR-10 sample from the repository", supervised.StandIn} {
		if !strings.Contains(basis, words) {
			t.Errorf("%q does not say %q", basis, words)
		}
	}
}

// checkEffects checks effects of TestVerify against values by hand.
func checkEffects(t *testing.T, v claims.Verification) {
	t.Helper()
	// Seeds 0, 1, 2 gain .1, .101, .102: s = .001, and 4.302653 is the quantile of t with 2
	// degrees of freedom. On CIFAR-10b the eight seeds of Figure 12 serve Figure 1, too: s² = 6e-6, and 2.364624.
	for id, want := range map[string]figures.Estimate{
		"fig13-ours-everything": {Mean: .101, High: .101 + 4.302653*.001/math.Sqrt(3), N: 3},
		"fig1-ours-everything":  {Mean: .1035, High: .1035 + 2.364624*math.Sqrt(6e-6/8), N: 8},
	} {
		e := claim(t, v, id).Parts[1].Effect
		if math.Abs(e.Mean-want.Mean) > 1e-9 || math.Abs(e.High-want.High) > 1e-6 || e.N != want.N {
			t.Errorf("%s: effect %+v, want %+v", id, e, want)
		}
	}
	e := claim(t, v, "fig1-ours-everything").Parts[1]
	if e.Statistic != paper.Difference || e.Test != paper.Above || e.Metric.Name != "accuracy" {
		t.Errorf("the part does not say how it is judged: %+v", e)
	}
	if n := claim(t, v, "fig12-8-seeds").Parts[0].Effect.N; n != 8 {
		t.Errorf("figure 12 has %d seeds", n)
	}
	if d := claim(t, v, "fig1-ours-everything").Parts[2]; !strings.Contains(d.Metric.StandIn, supervised.StandIn) ||
		!strings.Contains(d.String(), supervised.StandIn) {
		t.Errorf("CLEAR without its stand-in: %s", d)
	}
}

// TestVerifyMissing: a claim is not run if one step of a run is missing, or all runs, and the command that computes
// them is printed. Other claims are judged.
func TestVerifyMissing(t *testing.T) {
	a := newArchive(t)
	a.only(1, 2, 7, 14)
	a.options.Overrides = []string{"g-updates=7"}
	a.skip = func(job runs.Wanted) int {
		if job.Spec.Experiment == "gaussian" && job.Series == "recent" && job.Spec.Seed == 1 {
			return 1
		}
		return 0
	}
	a.fill(t, 1, 7)
	v := a.verify(t)
	if c := claim(t, v, "fig1a-ours-others"); c.Verdict != claims.NotRun || c.Parts[0].Verdict != claims.NotRun ||
		c.Parts[1].Verdict != claims.DoesNotHold {
		t.Errorf("Recent lacks a step: %s", c)
	}
	for id, verdict := range map[string]claims.Verdict{
		"fig1a-ours-everything": claims.Holds, "fig7-ours-consistent": claims.Undecided, "fig14-similar": claims.NotRun} {
		if c := claim(t, v, id); c.Verdict != verdict {
			t.Errorf("Recent lacks a step, and %s: %s", id, c)
		}
	}
	if s := v.Figures[0]; s.Name != "fig01" || s.Stored != s.Runs-1 {
		t.Errorf("figure 1: %+v", s)
	}
	checkMissing(t, v)
}

// checkMissing checks that the printed table of TestVerifyMissing names the missing runs and the commands.
func checkMissing(t *testing.T, v claims.Verification) {
	t.Helper()
	var out bytes.Buffer
	if err := v.Print(&out, " --results there"); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"fig01 lacks 1 of 54 runs: go run ./replicate fig1 --scale tiny --set g-updates=7 --results there\n",
		"fig14 lacks 6 of 6 runs: go run ./replicate fig14 --scale",
		"fig02 lacks 45 of 45 runs: go run ./replicate fig2 --scale",
		"each run once: go run ./replicate all --scale tiny --set g-updates=7 --results there\n"} {
		if !strings.Contains(out.String(), line) {
			t.Errorf("no %q in:\n%s", line, &out)
		}
	}
	if strings.Contains(out.String(), "fig07 lacks") {
		t.Error("figure 7 lacks nothing")
	}
}

// TestVerifyChangesNothing: a damaged run counts as missing and stays where it is.
func TestVerifyChangesNothing(t *testing.T) {
	a := newArchive(t)
	a.fill(t, 1)
	paths, err := filepath.Glob(filepath.Join(a.results, "gaussian", "*.zst"))
	if err != nil || len(paths) != 12 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		demand.Write(t, path, "damaged")
	}
	if c := claim(t, a.verify(t), "fig1a-ours-everything"); c.Verdict != claims.NotRun {
		t.Errorf("with damaged runs: %s", c)
	}
	if left, _ := filepath.Glob(filepath.Join(a.results, "gaussian", "*")); !slices.Equal(left, paths) {
		t.Errorf("left: %v", left)
	}
}

// TestVerifyWithoutCheckpoints: at the paper's scale the checkpoint of each split is missing, then the data, too.
// Panels that need neither are still planned, and no path is printed.
func TestVerifyWithoutCheckpoints(t *testing.T) {
	a := newArchive(t)
	a.options.Scale = "paper"
	v := a.verify(t)
	s := v.Figures[0]
	if s.Runs != 54 || !strings.Contains(s.Note, "panel b: there is no ResNet-18 checkpoint of width 64") ||
		strings.Contains(s.Note, "panel a") {
		t.Errorf("figure 1: %+v", s)
	}
	t.Setenv("TVPS_DATA", filepath.Join(t.TempDir(), "none"))
	a.Host = &experiment.Host{Backend: a.Host.Backend, CacheDir: a.Host.CacheDir}
	v = a.verify(t)
	if s := v.Figures[0]; !strings.Contains(s.Note, "panel b: ") || !strings.Contains(s.Note, "none") {
		t.Errorf("without data: %+v", s)
	}
	text, err := json.Marshal(v)
	if err != nil || bytes.Contains(text, []byte(os.TempDir())) {
		t.Errorf("%s, %v", text, err)
	}
}

func TestVerifyErrors(t *testing.T) {
	a := newArchive(t)
	a.options.Scale = "smal"
	_, err := a.Verify(t.Context(), a.options)
	demand.Error(t, err, "fig01", `did you mean "small"`)
	if !errors.Is(err, usage.Err) {
		t.Errorf("%v is not a usage error", err)
	}
	a.options.Scale = "tiny"
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.Verify(ctx, a.options); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// checkJSON: a written table can be read without loss, and verifying again gives the same bytes.
func checkJSON(t *testing.T, a *archive, v claims.Verification) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "verify.json")
	if err := WriteJSON(path, v); err != nil {
		t.Fatal(err)
	}
	text := demand.Read(t, path)
	var read claims.Verification
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	if read.Gallery(a.Figures, "") != v.Gallery(a.Figures, "") || !reflect.DeepEqual(read.Figures, v.Figures) {
		t.Error("the table differs after writing and reading")
	}
	if err := WriteJSON(path, a.verify(t)); err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(path); err != nil || !bytes.Equal(again, text) {
		t.Errorf("verifying again gives other bytes (%v)", err)
	}
	for _, secret := range []string{a.results, "hostname"} {
		if bytes.Contains(text, []byte(secret)) {
			t.Errorf("the table contains %s", secret)
		}
	}
}

func TestWithoutFolders(t *testing.T) {
	for text, want := range map[string]string{
		"no checkpoint in /home/user/.cache/tvps/checkpoints": "no checkpoint in checkpoints",
		`cannot open "/data/cifar/x.bin": no such file`:       `cannot open "x.bin": no such file`,
		"take --set width=16 or go run ./replicate fig1":      "take --set width=16 or go run ./replicate fig1",
		"on/off, 1/2, github.com/gomlx/gomlx, /usr/x.so":      "on/off, 1/2, github.com/gomlx/gomlx, x.so",
		"(/a/b/c) plugin=/opt/lib/plugin.so and /single ":     "(c) plugin=plugin.so and single ",
	} {
		if got := withoutFolders(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func ExampleOptions_Command() {
	fmt.Println(Options{Scale: "small", Seeds: []int64{0, 1}, Overrides: []string{"epochs=5"},
		Out: "elsewhere"}.Command("fig3"))
	// Output: go run ./replicate fig3 --scale small --seeds 0,1 --set epochs=5
}
