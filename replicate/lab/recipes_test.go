package lab_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/data/env"
	"tvps/figures/looks"
	"tvps/gomlx_models/backend"
	"tvps/replicate/claims"
	"tvps/replicate/experiment"
	"tvps/replicate/lab"
	"tvps/replicate/robots"
	"tvps/replicate/runs"
	"tvps/replicate/supervised"
)

// TestRecipes makes the example figure of the example learner on the example scenario, at the tiny scale: all files,
// the declared look, and the effect that the scenario has by construction.
func TestRecipes(t *testing.T) {
	store, err := runs.Open(t.TempDir())
	demand.NoError(t, err)
	c := lab.PaperCatalog(&supervised.Protocol, &robots.Protocol)
	c.Figures = append(c.Figures, Fig15())
	var stdout bytes.Buffer
	host := &experiment.Host{Backend: backend.ForTest(t, ""), CacheDir: t.TempDir()}
	l := &lab.Lab{Catalog: c, Archive: claims.Archive{Host: host, Store: store}, Stdout: &stdout, Stderr: io.Discard}
	options := lab.Options{Scale: experiment.Tiny, Workers: 2, Out: t.TempDir(), Overrides: []string{"stride=9"}}
	r, err := l.Make(context.Background(), Fig15(), options)
	demand.NoError(t, err)
	for _, name := range []string{"index.html", "fig15-a.svg", "fig15-a.csv", "claims.json", "provenance.json"} {
		if _, err := os.Stat(filepath.Join(options.Out, name)); err != nil {
			t.Error(err)
		}
	}
	panel := r.Figure.Panels[0]
	if panel.Series[0].Label != lastTen.Look.Label || panel.Series[0].Color != lastTen.Look.Color {
		t.Errorf("the panel draws %+v", panel.Series)
	}
	if claim := r.Claims[0]; claim.Verdict != claims.Holds || claim.Parts[0].Effect.Mean < .05 {
		t.Errorf("at step 39 half of all labels have changed since step 19, and yet: %s", claim)
	}
	demand.Words(t, stdout.String(), "Last ten steps")
	if v, err := l.Verify(context.Background(), options); err != nil || len(v.Of("fig15")) != 1 {
		t.Errorf("verify knows %d claims of the figure, %v", len(v.Of("fig15")), err)
	}
	if learners := c.Learners(Fig15()); !slices.Contains(learners, "last-ten") {
		t.Errorf("the command line offers %v", learners)
	}
	if !slices.Contains(supervised.Protocol.Scenarios(), threshold.Name) {
		t.Error("the protocol does not know the scenario")
	}
}

// TestDeclareTwice: a declaration needs a name that is not taken.
func TestDeclareTwice(t *testing.T) {
	for what, declare := range map[string]func(){
		"a learner":          func() { supervised.Declare(supervised.Learner{Look: looks.Look{Name: "ours"}}) },
		"a nameless learner": func() { supervised.Declare(supervised.Learner{}) },
		"a scenario": func() {
			supervised.DeclareScenario(supervised.Scenario{Name: "threshold", Open: threshold.Open})
		},
		"an empty scenario":        func() { supervised.DeclareScenario(supervised.Scenario{Name: "other"}) },
		"an agent":                 func() { robots.Declare(robots.Learner{Look: looks.Look{Name: "sac-omega"}}) },
		"a nameless agent":         func() { robots.Declare(robots.Learner{}) },
		"a robot without anything": func() { robots.DeclareScenario(robots.Scenario{Name: "other"}) },
		"a robot": func() {
			robots.DeclareScenario(robots.Scenario{Name: "claw",
				New: func(context.Context, robots.Settings, int64, io.Writer) (env.Env, error) { return nil, nil }})
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s was accepted", what)
				}
			}()
			declare()
		}()
	}
}

// TestContributing: CONTRIBUTING.md shows the files of the recipes as they are.
func TestContributing(t *testing.T) {
	root := filepath.Join("..", "..")
	document := demand.Read(t, filepath.Join(root, "CONTRIBUTING.md"))
	shown := 0
	for _, m := range regexp.MustCompile("(?ms)^<!-- (\\S+_test\\.go) -->\n```go\n(.*?)^```").FindAllStringSubmatch(string(document), -1) {
		shown++
		file := demand.Read(t, filepath.Join(root, filepath.FromSlash(m[1])))
		if _, code, _ := strings.Cut(string(file), "\n\n// "); "// "+code != m[2] {
			t.Errorf("CONTRIBUTING.md shows another %s: copy everything below its imports", m[1])
		}
	}
	demand.Equal(t, shown, 4, "recipes in CONTRIBUTING.md")
}
