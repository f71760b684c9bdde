package study

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/replicate/experiment"
	"tvps/replicate/lab"
	"tvps/replicate/supervised"
	"tvps/replicate/usage"
)

// TestForeignFolder: a folder whose README.md is somebody else's, or the other page, is not written to.
func TestForeignFolder(t *testing.T) {
	o := Options{Options: lab.Options{Out: t.TempDir()}}
	demand.NoError(t, o.checkOut(studyTitle))
	for page, kept := range map[string]bool{"# My thesis\n": true, readingsTitle + "\n\nText\n": true, studyTitle + "\n\n": false} {
		demand.Write(t, filepath.Join(o.Out, pageFile), page)
		if err := o.checkOut(studyTitle); errors.Is(err, usage.Err) != kept {
			t.Errorf("%q: %v", page, err)
		}
	}
}

// TestAlternatives: at every scale each row is valid and differs from the default in the settings that it names and
// in no other. Names are unique, no setting is named twice, and the interpretation that a row is about exists.
func TestAlternatives(t *testing.T) {
	document := demand.Read(t, interpretations)
	for _, scale := range scales {
		all, err := plans(catalog, Tables(), Options{Options: lab.Options{Scale: scale}, Rows: allRows()})
		demand.NoError(t, err)
		for _, plan := range all {
			seen := map[string]bool{}
			for _, left := range plan.Left {
				seen[left.Name] = true
			}
			for _, row := range plan.Rows {
				checkAlternative(t, scale, plan.Default.Settings, row)
				for about := range strings.SplitSeq(row.About, ", ") {
					if !regexp.MustCompile(`(?m)^## `+about+` `).Match(document) || about == "" {
						t.Errorf("%s is about %q, which is not an interpretation", row.Key, about)
					}
				}
				if seen[row.Alternative.Name] {
					t.Errorf("two rows are called %s", row.Key)
				}
				seen[row.Alternative.Name] = true
			}
			if len(seen) != len(plan.Alternatives) {
				t.Errorf("%s, %s: %d rows of %d", scale, plan.Key, len(seen), len(plan.Alternatives))
			}
			if scale == experiment.Small && len(plan.Left) > 0 && !plan.ByRow { // there a row is the default
				t.Errorf("%s: %v", plan.Key, plan.Left)
			}
			if s, ok := plan.Default.Settings.(supervised.Settings); ok && s.CheckStride() != nil {
				t.Errorf("%s, %s: %v", scale, plan.Key, s.CheckStride())
			}
		}
	}
}

// checkAlternative checks that a row differs from the default in the settings that it names and in no other.
func checkAlternative(t *testing.T, scale experiment.Scale, base experiment.Setup, row rowPlan) {
	t.Helper()
	a := row.Alternative
	named := map[string]string{}
	for _, o := range a.Set {
		name, value, err := experiment.Split(o)
		if err != nil || named[name] != "" {
			t.Errorf("%s sets %s twice, %v", row.Key, name, err)
		}
		named[name] = value
	}
	was, is := fieldsOf(base), fieldsOf(row.Settings)
	differ := 0
	for name := range was {
		if name == "stride" && a.Every > 1 {
			continue
		}
		if was[name] != is[name] {
			differ++
			if !slices.Contains(row.Changed, name+"="+named[name]) {
				t.Errorf("%s, %s: %s is %s instead of %s, which the row does not name",
					scale, row.Key, name, is[name], was[name])
			}
		}
	}
	same := a.Literal && scale == experiment.Paper || len(a.Set) == 0 && a.Series != nil
	if differ != len(row.Changed) || differ == 0 && !same {
		t.Errorf("%s, %s: %d settings differ, but the row names %v", scale, row.Key, differ, row.Changed)
	}
	for _, at := range row.Settings.PlannedSteps() {
		if !slices.Contains(base.PlannedSteps(), at) {
			t.Errorf("%s, %s: step %d is not a step of the study", scale, row.Key, at)
		}
	}
}

// TestEveryAlternativeOccurs: the study has a row for every alternative that INTERPRETATIONS.md discusses.
func TestEveryAlternativeOccurs(t *testing.T) {
	everywhere := []string{
		"g-updates=200 g-epochs=0", "g-epochs=200", // readings of M
		"g-rate=1e-4", "g-rate=1e-3", "g-start=previous", "g-label=false", "g-time=scalar",
		"g-time=fourier", "g-time=embedding", "clip=exp1", "clip=none", "method=method1", "window=5", "window=20",
	}
	want := map[string][]string{
		"gaussian": append(slices.Clone(everywhere), "max-updates=0"), // images: see the picture of lengths
		"cifar10b": append(slices.Clone(everywhere), "batch-norm=frozen", "start=reinit", "block=stage",
			"g-join=first", "g-network=conv5 g-input=pixels"),
	}
	for _, table := range Tables()[:2] {
		key := table.Key
		for _, set := range want[key] {
			if !slices.ContainsFunc(table.Alternatives, func(a Alternative) bool {
				return !slices.ContainsFunc(strings.Fields(set),
					func(o string) bool { return !slices.Contains(a.Set, o) })
			}) {
				t.Errorf("%s has no row with %s", key, set)
			}
		}
	}
}

// TestLiteralRows: at every scale, for either reading of M, a row has every value of the paper's Table 2 that applies
// to the scenario.
func TestLiteralRows(t *testing.T) {
	both := map[string]string{"g-rate": "0.0001", "g-batch": "512", "clip": "min1", "rate": "0.0009", "batch": "128"}
	images := map[string]string{"n": "200", "epochs": "20", "network": "head"} // the head of ResNet-18
	conv := map[string]string{"g-network": "conv5", "g-input": "pixels"}
	minibatches, epochs := map[string]string{"g-updates": "200", "g-epochs": "0"}, map[string]string{"g-epochs": "200"}
	want := map[string][]map[string]string{
		"gaussian/table2": {both, minibatches}, "gaussian/table2-epochs": {both, epochs},
		"cifar10b/table2": {both, images, minibatches}, "cifar10b/table2-epochs": {both, images, epochs},
		"cifar10b/table2-conv5":        {both, images, conv, minibatches},
		"cifar10b/table2-conv5-epochs": {both, images, conv, epochs},
	}
	for _, scale := range scales {
		all, err := plans(catalog, Tables(), Options{Options: lab.Options{Scale: scale}, Rows: allRows()})
		demand.NoError(t, err)
		found, tables := 0, map[string]bool{}
		for _, plan := range all[:2] {
			tables[plan.Key] = true
			if fmt.Sprint(plan.Default.Seeds) != "[0 1 2]" {
				t.Errorf("seeds %v", plan.Default.Seeds)
			}
			for _, row := range plan.Rows {
				if row.Alternative.Literal {
					found++
				}
				is := fieldsOf(row.Settings)
				for _, values := range want[row.Key] {
					for name, value := range values {
						if is[name] != value {
							t.Errorf("%s, %s: %s is %s, the table has %s", scale, row.Key, name, is[name], value)
						}
					}
				}
			}
		}
		rows := 0
		for key := range want {
			if table, _, _ := strings.Cut(key, "/"); tables[table] {
				rows++
			}
		}
		if found != rows || rows == 0 {
			t.Errorf("%s: %d literal rows, want %d", scale, found, rows)
		}
	}
}

func TestPlansErrors(t *testing.T) {
	for _, c := range []struct {
		o     Options
		words []string
	}{
		{Options{Options: lab.Options{Scale: "tiny", Panels: []string{"gausian"}}},
			[]string{`no scenario "gausian"`, `did you mean "gaussian"`, "cifar10b"}},
		{Options{Options: lab.Options{Scale: "tiny"}, Rows: []string{"clip-non"}},
			[]string{`no row "clip-non"`, `did you mean "clip-none"`}},
		{Options{Options: lab.Options{Scale: "tiny", Panels: []string{"gaussian"}}, Rows: []string{"block-stage"}},
			[]string{`no row "block-stage"`}},
		{Options{Options: lab.Options{Scale: "tiny"}, Rows: []string{"clip-none"}, Update: "x.md"},
			[]string{"--update", "--row"}},
		{Options{Options: lab.Options{Scale: "tiny", Panels: []string{"gaussian"},
			Overrides: []string{"turn=30", "gaussian.g-network=conv5"}}}, []string{"conv5"}},
	} {
		_, err := plans(catalog, Tables(), c.o)
		demand.Error(t, err, c.words...)
		if !errors.Is(err, usage.Err) {
			t.Errorf("%v is not a usage error", err)
		}
	}
}

// TestStudyOverrides: an override applies to the whole study, or to one scenario if it names it. A row that becomes
// the default is left out, with the reason.
func TestStudyOverrides(t *testing.T) {
	all, err := plans(catalog, Tables(), Options{Options: lab.Options{Scale: "small",
		Panels: []string{"gaussian", "cifar10b"}, Overrides: []string{"clip=none", "cifar10b.n=50", "stride=5"}},
		Rows: []string{"clip-none"}})
	demand.NoError(t, err)
	for i, n := range []int{2000, 50} {
		s := all[i].Default.Settings.(supervised.Settings)
		if s.Clip != "none" || s.N != n || s.Stride != 5 ||
			fmt.Sprint(all[i].Left) != "[{clip-none it is the default here}]" {
			t.Errorf("%s: clip %s, n %d, stride %d, left out %v", all[i].Key, s.Clip, s.N, s.Stride, all[i].Left)
		}
	}
}

var clipNone = Alternative{Name: "clip-none", About: "I2", Set: []string{"clip=none"}}

// TestStudy: every run is computed once. A row has the learners that it can change, and the default's Everything if
// that is the same. The second call computes
// nothing and writes the same bytes.
func TestStudy(t *testing.T) {
	w, tables, o := newStudy(t)
	o.Rows = []string{"clip-none", "linear"}
	made, report, err := Make(t.Context(), w.Lab, tables, o)
	demand.NoError(t, err)
	// For each of 2 seeds: 6 learners by default, ours and exact without clip, and 5 with the linear classifier.
	if report.Computed != 2*(6+2+5) || report.Cached != 0 {
		t.Errorf("computed %d runs, %d were stored", report.Computed, report.Cached)
	}
	var learners []string
	for _, row := range made[0].Rows {
		names := slices.Sorted(maps.Keys(row.Results))
		learners = append(learners, row.Name+": "+strings.Join(names, " "), fmt.Sprint(row.OwnBase))
		if len(row.Lacking) > 0 || len(row.Steps) != 3 {
			t.Errorf("%s lacks %v, steps %v", row.Name, row.Lacking, row.Steps)
		}
	}
	want := []string{": everything exact finetune ours recent standard", "true", "clip-none: everything exact ours",
		"false", "linear: everything exact finetune ours recent", "true"}
	if !slices.Equal(learners, want) {
		t.Errorf("learners %q,\nwant %q", learners, want)
	}
	rows := made[0].Rows
	if a, b := rows[0].Results["everything"], rows[1].Results["everything"]; !reflect.DeepEqual(a, b) {
		t.Errorf("Everything is %v by default and %v with another clip", a, b)
	}
	checkStudyFiles(t, w, o)
	written := demand.Read(t, filepath.Join(o.Out, "README.md"))
	_, again, err := Make(t.Context(), w.Lab, tables, o)
	if err != nil || again.Computed != 0 || again.Cached != 26 {
		t.Errorf("the second call computed %d runs, %d were stored, %v", again.Computed, again.Cached,
			err)
	}
	if !bytes.Equal(demand.Read(t, filepath.Join(o.Out, "README.md")), written) {
		t.Error("the second call wrote another page")
	}
}

// checkStudyFiles checks the files of TestStudy and what it prints.
func checkStudyFiles(t *testing.T, w *bench, o Options) {
	t.Helper()
	demand.Words(t, string(demand.Read(t, filepath.Join(o.Out, "README.md"))), "# What the alternatives", "3 steps (1, 3, 5) of 7",
		"Seeds 0, 1;", "`clip=none`", "`network=linear`", "| setting | about | Everything |", "N = 30 samples")
	if rows := tableOf(t, o.Out); len(rows) != 2*3*(6+3+5) {
		t.Errorf("the table has %d rows", len(rows))
	}
	demand.Words(t, w.stdout.String(), "Drifting Gaussian", "clip=none", filepath.Join(o.Out, "README.md"))
}

// TestStudyFailure: the cell of a failed run says "not run", the others have values, and no file is updated.
func TestStudyFailure(t *testing.T) {
	w, tables, o := newStudy(t, clipNone)
	o.Update = filepath.Join(t.TempDir(), "x.md")
	o.Overrides = append(o.Overrides, "g-network=conv5", "g-input=pixels")
	text := []byte("<!-- study:gaussian:begin -->\nold\n<!-- study:gaussian:end -->\n")
	demand.Write(t, o.Update, text)
	_, _, err := Make(t.Context(), w.Lab, tables, o)
	demand.Error(t, err, "runs failed", "needs images")
	demand.Words(t, string(demand.Read(t, filepath.Join(o.Out, "README.md"))), "not run")
	if now, _ := os.ReadFile(o.Update); !bytes.Equal(now, text) {
		t.Errorf("updated to %s", now)
	}
}

// TestSlowRows: a slow row is left out with the reason, unless it is named.
func TestSlowRows(t *testing.T) {
	tables := Tables()[:1]
	tables[0].Alternatives = []Alternative{{Name: "slow", About: "I2", Set: []string{"clip=none"}, Slow: "an hour"}}
	o := Options{Options: lab.Options{Scale: "tiny"}}
	all, err := plans(catalog, tables, o)
	demand.NoError(t, err)
	o.Rows = []string{"slow"}
	named, err := plans(catalog, tables, o)
	demand.NoError(t, err)
	if left := all[0].Left; len(all[0].Rows) != 0 || len(named[0].Rows) != 1 ||
		!strings.Contains(left[0].Why, "an hour on two cores, with `--row`") {
		t.Errorf("%+v, if named %+v", all[0], named[0])
	}
}

// TestStudyOfG: a row's loss, and its difference to the default, are means over the stored losses; each run has its
// own row, no classifier is trained, and the seeds are those of no figure.
func TestStudyOfG(t *testing.T) {
	w, _, o := newStudy(t)
	tables := Tables()
	o.Panels, o.Rows, o.Seeds = []string{"g-gaussian"}, []string{"constant-high"}, nil
	for i := range tables {
		tables[i].Alternatives = []Alternative{{Name: "constant-high", About: "I1", Set: []string{"g-rate=1e-1"}}}
	}
	made, report, err := Make(t.Context(), w.Lab, tables, o)
	demand.NoError(t, err)
	rows := tableOf(t, o.Out)
	mean, count := map[string]float64{}, map[string]float64{}
	for _, row := range rows {
		if row.Metric != "g-loss" || row.Seed < 100 {
			t.Errorf("row %+v", row)
		}
		mean[row.Panel], count[row.Panel] = mean[row.Panel]+row.Value, count[row.Panel]+1
	}
	a := mean["g-gaussian/default"] / count["g-gaussian/default"]
	b := mean["g-gaussian/constant-high"] / count["g-gaussian/constant-high"]
	if report.Computed != 8 || len(rows) != 24 || a == b {
		t.Errorf("%d runs, %d rows, losses %v and %v", report.Computed, len(rows), a, b)
	}
	cells := made[0].cells()
	if cells[1][2] != fmt.Sprintf("%.4f", a) || cells[2][2] != fmt.Sprintf("%.4f", b) ||
		!strings.HasPrefix(cells[2][3], fmt.Sprintf("%+.4f [", b-a)) {
		t.Errorf("cells %q; want %.4f and %.4f", cells, a, b)
	}
	demand.Words(t, made[0].Command, "research study --scale")
}

// allRows names every row, the slow ones too.
func allRows() (names []string) {
	for _, t := range Tables() {
		for _, a := range t.Alternatives {
			names = append(names, a.Name)
		}
	}
	return names
}
