package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/data/statistics"
	"tvps/replicate/claims"
	"tvps/replicate/experiment"
	"tvps/replicate/paper"
	"tvps/replicate/runs"
	"tvps/replicate/supervised"
	"tvps/replicate/usage"
)

// TestVerify: every claim of every figure has its row, and the verdicts and effects of made-up runs are those computed
// by hand. Verifying again gives the same bytes, which name no folder and no host.
func TestVerify(t *testing.T) {
	l := newLab(t)
	l.fill(t)
	v := l.verify(t)
	want := 0
	for _, f := range l.Figures {
		want += len(f.Claims)
	}
	if len(v.Claims) != want || len(v.Figures) != len(l.Figures) {
		t.Errorf("%d rows of %d figures, want %d of %d", len(v.Claims), len(v.Figures), want, len(l.Figures))
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
	demand.Words(t, strings.Join(v.Basis(), " "), "Scale tiny", "seeds 0, 1, 2 (figure 12: 0-7)",
		"CIFAR-10 sample from the repository", supervised.StandIn)
	text, err := json.Marshal(v)
	if err != nil || bytes.Contains(text, []byte(l.results)) {
		t.Errorf("%s, %v", text, err)
	}
	if again, err := json.Marshal(l.verify(t)); err != nil || !bytes.Equal(again, text) {
		t.Errorf("verifying again gives other bytes (%v)", err)
	}
}

// checkEffects checks effects of TestVerify against values by hand.
func checkEffects(t *testing.T, v claims.Verification) {
	t.Helper()
	// Seeds 0, 1, 2 gain .1, .101, .102: s = .001, and 4.302653 is the quantile of t with 2
	// degrees of freedom. The eight seeds of Figure 12 have s² = 6e-6, and 2.364624.
	for id, want := range map[string]statistics.Estimate{
		"fig13-ours-everything": {Mean: .101, High: .101 + 4.302653*.001/math.Sqrt(3), N: 3},
		"fig12-8-seeds":         {Mean: .1035, High: .1035 + 2.364624*math.Sqrt(6e-6/8), N: 8},
	} {
		e := claim(t, v, id).Parts[1].Effect
		if math.Abs(e.Mean-want.Mean) > 1e-9 || math.Abs(e.High-want.High) > 1e-6 || e.N != want.N {
			t.Errorf("%s: effect %+v, want %+v", id, e, want)
		}
	}
	parts := claim(t, v, "fig1-ours-everything").Parts
	if e := parts[1]; e.Statistic != paper.Difference || e.Test != paper.Above || e.Metric.Name != "accuracy" {
		t.Errorf("the part does not say how it is judged: %+v", e)
	}
	if d := parts[2]; !strings.Contains(d.Metric.StandIn, supervised.StandIn) || !strings.Contains(d.String(), supervised.StandIn) {
		t.Errorf("CLEAR without its stand-in: %s", d)
	}
}

// TestVerifyMissing: a claim is not run if one step of a run is missing, or all runs, and the command that computes
// them is printed. Other claims are judged. A damaged run counts as missing and stays where it is.
func TestVerifyMissing(t *testing.T) {
	l := newLab(t)
	l.only(1, 2, 7, 14)
	l.options.Overrides = []string{"g-updates=7"}
	l.lacks = func(job runs.Wanted) bool {
		return job.Spec.Experiment == "gaussian" && job.Series == "recent" && job.Spec.Seed == 1
	}
	l.fill(t, 1, 7)
	v := l.verify(t)
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
	var out bytes.Buffer
	demand.NoError(t, v.Print(&out, " --results there"))
	demand.Words(t, out.String(),
		"fig01 lacks 1 of 54 runs: go run ./replicate fig1 --scale tiny --set g-updates=7 --results there\n",
		"fig14 lacks 6 of 6 runs: go run ./replicate fig14 --scale",
		"each run once: go run ./replicate all --scale tiny --set g-updates=7 --results there\n")
	if strings.Contains(out.String(), "fig07 lacks") {
		t.Error("figure 7 lacks nothing")
	}
	paths, err := filepath.Glob(filepath.Join(l.results, "gaussian", "*.zst"))
	if err != nil || len(paths) != 12 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		demand.Write(t, path, "damaged")
	}
	if c := claim(t, l.verify(t), "fig1a-ours-everything"); c.Verdict != claims.NotRun {
		t.Errorf("with damaged runs: %s", c)
	}
	if left, _ := filepath.Glob(filepath.Join(l.results, "gaussian", "*")); !slices.Equal(left, paths) {
		t.Errorf("left: %v", left)
	}
}

// TestDrawNothing: a figure of which nothing is stored is a usage error. It names the tables that have the scale.
func TestDrawNothing(t *testing.T) {
	t.Setenv("TVPS_DATA", "")
	_, err := fromTables(t, testCatalog, medium).Draw(paper.Fig9(), Options{Scale: experiment.Small, Out: t.TempDir()})
	demand.Error(t, err, "fig09 at the scale small", "name tables of that scale")
	o := Options{Scale: experiment.Medium, Judged: true, Out: t.TempDir()}
	l := fromTables(t, testCatalog, gallery)
	l.Figures = []paper.Figure{paper.Fig2(), paper.Fig10()}
	made, err := l.DrawAll(t.Context(), o)
	demand.NoError(t, err)
	all := Incomplete(made)
	demand.Error(t, all, "fig02 at the scale medium", "are in "+medium)
	if files, _ := os.ReadDir(o.Out); !errors.Is(all, usage.Err) || len(files) > 0 {
		t.Errorf("%v, files %v", all, files)
	}
	made[0].Err = nil
	if err := Incomplete(made); err == nil || errors.Is(err, usage.Err) {
		t.Errorf("where one figure is complete: %v", err)
	}
}

// TestDrawWithoutSeedOfBase: where the series with which all are compared lacks a seed, the others are drawn.
func TestDrawWithoutSeedOfBase(t *testing.T) {
	l := newLab(t)
	l.options.Panels = []string{"a"}
	l.lacks = func(job runs.Wanted) bool { return job.Series == "everything" && job.Spec.Seed == 1 }
	l.fill(t, 1)
	r, err := l.Draw(paper.Fig1(), l.options)
	demand.Error(t, err, "1 of 12 runs not stored: panel a: Everything, seeds 1")
	drawn := map[int64]bool{}
	for _, row := range l.csvRows(t, "fig01-a.csv") {
		drawn[row.Seed] = true
	}
	if p := r.Figure.Panels[0]; len(drawn) != 2 || drawn[1] || len(p.Series) != 3 || p.Series[0].Points[0].N != 2 {
		t.Errorf("seeds %v, %d series, %d seeds at a point", drawn, len(p.Series), p.Series[0].Points[0].N)
	}
	if c := r.Claims[0]; c.Verdict != claims.NotRun {
		t.Errorf("judged without a run: %s", c)
	}
}

// TestVerifyWithoutCheckpoints: at the paper's scale the checkpoint of each split is missing, then the data, too.
// Panels that need neither are still planned, and no path is printed.
func TestVerifyWithoutCheckpoints(t *testing.T) {
	l := newLab(t)
	l.options.Scale = "paper"
	s := l.verify(t).Figures[0]
	if s.Runs != 54 || !strings.Contains(s.Note, "panel b: there is no ResNet-18 checkpoint of width 64") ||
		strings.Contains(s.Note, "panel a") {
		t.Errorf("figure 1: %+v", s)
	}
	t.Setenv("TVPS_DATA", filepath.Join(t.TempDir(), "none"))
	l.Host = &experiment.Host{Backend: l.Host.Backend, CacheDir: l.Host.CacheDir}
	s = l.verify(t).Figures[0]
	if !strings.Contains(s.Note, "panel b: ") || !strings.Contains(s.Note, "none") || strings.Contains(s.Note, os.TempDir()) {
		t.Errorf("without data: %+v", s)
	}
	if _, err := l.Verify(demand.Cancelled(), l.options); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
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
		demand.Equal(t, withoutFolders(text), want, "%s", text)
	}
}
