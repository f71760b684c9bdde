package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/replicate/lab"
	"tvps/replicate/notebook"
)

func TestDefaults(t *testing.T) {
	for _, name := range []string{"TVPS_RESULTS", "TVPS_OUT", "TVPS_ROOT"} {
		t.Setenv(name, "")
	}
	o := withDefaults(notebook.Options{}, "fig01")
	if o.Scale != "small" || o.Seeds != "" || o.Results != "results" ||
		o.Out != filepath.Join("figures", "out", "fig01") || o.Workers < 1 {
		t.Errorf("%+v", o)
	}
	t.Setenv("TVPS_RESULTS", "/r")
	t.Setenv("TVPS_OUT", "/o")
	if o := withDefaults(notebook.Options{}, "fig01"); o.Results != "/r" || o.Out != "/o/fig01" {
		t.Errorf("%+v", o)
	}
	if o := withDefaults(notebook.Options{Out: "/mine"}, "fig01"); o.Out != "/mine" {
		t.Errorf("%+v", o)
	}
}

// miniature returns options for panel a with very little to compute.
func miniature(t *testing.T) notebook.Options {
	dir := t.TempDir()
	t.Setenv("TVPS_CACHE", filepath.Join(dir, "cache"))
	return notebook.Options{
		Scale: "tiny", Seeds: "0", Panels: []string{"a"}, Backend: "go", Workers: 1,
		Results: filepath.Join(dir, "results"), Out: filepath.Join(dir, "out"),
		Set: []string{"steps=7", "first=1", "stride=2", "n=30", "test-n=40", "epochs=2", "max-updates=3", "g-updates=3",
			"batch=16", "g-batch=16"},
	}
}

// A computed figure and one from the store leave the same outputs.
func TestFigureTwice(t *testing.T) {
	o := miniature(t)
	last := func() (text, id string, made *lab.Result) {
		r, err := record(t, func() (err error) { made, err = figure(t.Context(), 1, o); return err })
		demand.NoError(t, err)
		m := r[len(r)-1]
		for _, other := range r {
			if other.ID != m.ID || m.ID == "" {
				t.Errorf("an output of its own: %v", other)
			}
		}
		return m.Data[notebook.PlainMIME].(string), m.ID, made
	}
	first, id, computed := last()
	if want := "Figure 1, scale tiny: 4 runs, all finished."; first != want || computed.Report.Computed == 0 {
		t.Errorf("%q, want %q", first, want)
	}
	again, other, stored := last()
	if again != first || stored.Report.Computed > 0 {
		t.Errorf("the second time: %q, computed %d runs", again, stored.Report.Computed)
	}
	if id == other {
		t.Error("both cells use the same display id: one bar would replace the other")
	}
	for _, s := range computed.Figure.Source {
		if strings.Contains(s, "Commit ") {
			t.Errorf("the chart names the commit: %q", s)
		}
	}
	if _, err := os.Stat(filepath.Join(o.Out, "provenance.json")); err != nil {
		t.Error(err)
	}
}

func TestFigureErrors(t *testing.T) {
	for _, c := range []struct {
		number int
		change func(*notebook.Options)
		want   string
	}{
		{99, func(*notebook.Options) {}, "there is no figure 99"},
		{1, func(o *notebook.Options) { o.Scale = "tinny" }, `did you mean "tiny"`},
		{1, func(o *notebook.Options) { o.Seeds = "0-" }, `seeds: "0-" is neither a seed`},
		{1, func(o *notebook.Options) { o.Set = []string{"epohcs=3"} }, `did you mean "epochs"`},
		{1, func(o *notebook.Options) { o.Backend = "tpu" }, `the backend "tpu"`},
	} {
		o := miniature(t)
		c.change(&o)
		r, err := record(t, func() error { _, err := figure(t.Context(), c.number, o); return err })
		demand.Error(t, err, c.want)
		if len(r) > 0 {
			t.Errorf("something was shown before: %v", r)
		}
	}
}

// A cell names the figure that it made.
func TestCalls(t *testing.T) {
	all := calls()
	ask := func(name string, args any) (any, error) {
		text, err := json.Marshal(args)
		demand.NoError(t, err)
		var result any
		_, err = record(t, func() (err error) { result, err = all[name](context.Background(), text); return err })
		return result, err
	}
	_, err := ask("tables", notebook.Drawing{})
	demand.Error(t, err, "call notebook.Figure first")
	made, err := ask("figure", notebook.FigureArgs{Number: 1, Options: miniature(t)})
	demand.NoError(t, err)
	for _, name := range []string{"charts", "films", "tables", "claims", "provenance"} {
		_, err := ask(name, made)
		demand.NoError(t, err)
	}
}
