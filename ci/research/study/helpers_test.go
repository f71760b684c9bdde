package study

import (
	"bytes"
	"path/filepath"
	"testing"

	"tvps/ci/demand"
	"tvps/figures"
	"tvps/gomlx_models/backend"
	"tvps/replicate/claims"
	"tvps/replicate/experiment"
	"tvps/replicate/lab"
	"tvps/replicate/robots"
	"tvps/replicate/runs"
	"tvps/replicate/supervised"
)

var (
	catalog         = lab.PaperCatalog(&supervised.Protocol, &robots.Protocol)
	gallery         = filepath.Join("..", "..", "..", "figures", "gallery")
	interpretations = filepath.Join("..", "..", "..", "replicate", "paper", "INTERPRETATIONS.md")
	scales          = []experiment.Scale{experiment.Tiny, experiment.Small, experiment.Paper}
)

// bench is a lab without data sets, with what it prints.
type bench struct {
	*lab.Lab
	results string
	stdout  bytes.Buffer
}

// newBench returns a lab in temporary folders, with options for two seeds of three steps in miniature.
func newBench(t *testing.T) (*bench, Options) {
	t.Helper()
	t.Setenv("TVPS_DATA", "")
	t.Setenv("TVPS_CACHE", t.TempDir())
	b := &bench{results: filepath.Join(t.TempDir(), "results")}
	store, err := runs.Open(b.results)
	demand.NoError(t, err)
	host := &experiment.Host{Backend: backend.ForTest(t, backend.Go), CacheDir: t.TempDir()}
	b.Lab = &lab.Lab{Catalog: catalog, Archive: claims.Archive{Host: host, Store: store}, Stdout: &b.stdout,
		Stderr: &bytes.Buffer{}}
	return b, Options{Options: lab.Options{Scale: "tiny", Workers: 2, Out: filepath.Join(t.TempDir(), "new", "out"),
		Seeds: []int64{0, 1}, Overrides: []string{"steps=7", "first=1", "stride=2", "n=30", "test-n=40", "epochs=2",
			"max-updates=3", "g-updates=3", "batch=16", "g-batch=16"}}}
}

// newStudy is a lab for the table of the Gaussian in miniature, with these alternatives if there are any.
func newStudy(t *testing.T, alternatives ...Alternative) (*bench, []Table, Options) {
	t.Helper()
	b, o := newBench(t)
	tables := Tables()
	if len(alternatives) > 0 {
		tables[0].Alternatives = alternatives
	}
	o.Panels = []string{"gaussian"}
	return b, tables, o
}

// tableOf reads the measurements in an output folder.
func tableOf(t *testing.T, dir string) []figures.Row {
	t.Helper()
	folder, err := figures.OpenFolder(dir)
	demand.NoError(t, err)
	rows, err := folder.Rows("study.csv")
	demand.NoError(t, err)
	return rows
}

// fieldsOf returns the settings by name.
func fieldsOf(s experiment.Setup) map[string]string {
	out := map[string]string{}
	for _, f := range s.Fields() {
		out[f.Name] = f.Value
	}
	return out
}
