package lab

import (
	"bytes"
	"io"
	"path/filepath"
	"testing"

	"tvps/ci/demand"
	"tvps/replicate/paper"
)

// TestKeepsOthers: a figure does not replace a page or verdicts that are not its own, neither when it is drawn nor when
// it is made, alone or with all others; its own it replaces, and says so if they are of another scale.
func TestKeepsOthers(t *testing.T) {
	t.Setenv("TVPS_DATA", "")
	l := fromTables(t, testCatalog, gallery)
	var said bytes.Buffer
	l.Stdout, l.Stderr = io.Discard, &said
	f := paper.Fig7()
	for name, text := range map[string]string{
		"SHA256SUMS":        "0  thesis.pdf\n",
		"provenance.json":   `{"of": "a painting"}`,
		"echarts.min.js":    "another version",
		f.Name() + "-a.svg": "<svg>my drawing</svg>",
		"index.html":        "<!DOCTYPE html><title>Figure 7: the voyages of a ship</title>",
		"claims.json":       `{"claims": "of somebody else, about another thing altogether"}`,
	} {
		parent := t.TempDir()
		path := filepath.Join(parent, f.Name(), name)
		demand.Write(t, path, text)
		o := Options{Scale: "small", Judged: true, Out: filepath.Dir(path), Workers: 1}
		_, err := l.Draw(f, o)
		demand.Error(t, err, path, "so it is kept", "--out")
		_, err = l.Make(t.Context(), f, o)
		demand.Error(t, err, path, "so it is kept", "--out")
		o.Out = parent
		alone := *l
		alone.Figures = []paper.Figure{f}
		made, err := alone.DrawAll(t.Context(), o)
		demand.NoError(t, err)
		demand.Error(t, made[0].Err, path, "so it is kept", "--out")
		if files := demand.Files(t, parent); len(files) != 1 || files[filepath.Join(f.Name(), name)] != text {
			t.Errorf("%s: the folder has %d files", name, len(files))
		}
	}
	out := t.TempDir()
	for range 2 {
		_, err := l.Draw(f, Options{Scale: "small", Judged: true, Out: out})
		demand.NoError(t, err)
	}
	_, err := l.Draw(paper.Fig14(), Options{Scale: "small", Judged: true, Out: out})
	demand.Error(t, err, out, "no file of fig14")
	said.Reset()
	_, err = l.Draw(f, Options{Scale: "tiny", Out: out})
	demand.Error(t, err, "no run") // at that scale the gallery has nothing
	demand.NoError(t, l.keepOthers(f, Options{Scale: "tiny", Out: out}))
	demand.Words(t, said.String(), "scale small", out, "will be replaced")
}
