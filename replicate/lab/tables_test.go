package lab

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/figures"
	"tvps/replicate/claims"
	"tvps/replicate/experiment"
	"tvps/replicate/paper"
)

// verified judges all claims by what a lab has.
func verified(t *testing.T, l *Lab, scale experiment.Scale, seeds ...int64) claims.Verification {
	t.Helper()
	v, err := l.Verify(t.Context(), Options{Scale: scale, Seeds: seeds})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// fromTables opens a lab without any stored run.
func fromTables(t *testing.T, c Catalog, dir string) *Lab {
	t.Helper()
	l, err := OpenStored(c, OpenOptions{Results: filepath.Join(t.TempDir(), "none"), Tables: dir})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// checkTables: the tables of a figure, with a panel that is judged by more than is drawn, give the verdicts of the
// stored runs, in verify as in Draw, and fill in for the runs that a store lacks. Damaged and changed tables do not.
func checkTables(t *testing.T, w *workplace) {
	t.Helper()
	o, drawn := w.options, filepath.Dir(w.options.Out)
	o.Out = filepath.Join(drawn, "fig12")
	if _, err := w.Draw(paper.Fig12(), o); err == nil || !strings.Contains(err.Error(), "not stored") {
		t.Fatal(err)
	}
	dir, results := t.TempDir(), t.TempDir()
	if err := errors.Join(os.CopyFS(dir, os.DirFS(drawn)), os.CopyFS(results, os.DirFS(w.results))); err != nil {
		t.Fatal(err)
	}
	sizes := demand.Read(t, w.sizesFile())
	demand.Write(t, filepath.Join(dir, sizesName), sizes)
	stored, err := OpenStored(w.Catalog, OpenOptions{Results: w.results})
	if err != nil {
		t.Fatal(err)
	}
	want := verified(t, stored, "tiny")
	if got := verified(t, fromTables(t, w.Catalog, dir), "tiny"); !reflect.DeepEqual(got.Claims, want.Claims) {
		t.Errorf("from tables: %v\nwant %v", got.Claims, want.Claims)
	}

	// Half of the runs are stored: the tables have the others.
	runsOf, err := filepath.Glob(filepath.Join(results, "gaussian", "*.jsonl.zst"))
	if err != nil || len(runsOf) < 10 {
		t.Fatal(runsOf, err)
	}
	for _, path := range runsOf[:len(runsOf)/2] {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	both, err := OpenStored(w.Catalog, OpenOptions{Results: results, Tables: dir})
	if err != nil {
		t.Fatal(err)
	}
	if got := verified(t, both, "tiny"); !reflect.DeepEqual(got.Claims, want.Claims) {
		t.Errorf("from half of the runs and tables: %v\nwant %v", got.Claims, want.Claims)
	}
	checkDamagedTables(t, w.Catalog, dir)
}

// seal writes the checksums of a figure's folder as it is now.
func seal(t *testing.T, dir string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.csv"))
	if err != nil {
		t.Fatal(err)
	}
	var out []byte
	for _, path := range append(names, filepath.Join(dir, figures.ProvenanceFile)) {
		text := demand.Read(t, path)
		out = fmt.Appendf(out, "%x  %s\n", sha256.Sum256(text), filepath.Base(path))
	}
	demand.Write(t, filepath.Join(dir, figures.SumsFile), out)
}

func checkDamagedTables(t *testing.T, c Catalog, dir string) {
	t.Helper()
	table := filepath.Join(dir, "fig01", "fig01-a.csv")
	text := demand.Read(t, table)
	lines := strings.SplitAfter(string(text), "\n")
	refused := func(name, want string) {
		t.Helper()
		if _, err := claims.ReadTables(c.Figures, dir); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "fig01-a") {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	const unsealed = "is not the file that SHA256SUMS lists: restore both, or draw"
	for name, change := range map[string]struct{ line, want string }{
		"another series": {strings.Replace(lines[1], "everything", "elsewhere", 1), "no run of provenance.json"},
		"no number":      {strings.TrimSpace(lines[1]) + "x\n", "line 2"},
	} {
		changed := strings.Replace(string(text), lines[1], change.line, 1)
		demand.Write(t, table, changed)
		refused(name, unsealed)
		seal(t, filepath.Dir(table))
		refused(name+" with its checksum", change.want)
		demand.Write(t, table, text)
		seal(t, filepath.Dir(table))
	}
	if err := os.Remove(table); err != nil {
		t.Fatal(err)
	}
	refused("no file", "is missing, but SHA256SUMS lists it")
	demand.Write(t, table, text)
	// A value that is in no other table.
	single := filepath.Join(dir, "fig01", "fig01-a-judged.csv")
	rows := demand.Read(t, single)
	changed := append(bytes.TrimSpace(bytes.Clone(rows)), '1', '\n') // one more digit in the last row
	demand.Write(t, single, changed)
	refused("a changed value", "fig01-a-judged.csv "+unsealed)
	demand.Write(t, single, rows)
	sums := filepath.Join(dir, "fig01", figures.SumsFile)
	if err := os.Remove(sums); err != nil {
		t.Fatal(err)
	}
	if _, err := claims.ReadTables(c.Figures, dir); err == nil || !strings.Contains(err.Error(), "fig01: there is no SHA256SUMS") {
		t.Errorf("no checksums: %v", err)
	}
	seal(t, filepath.Dir(single))
	for _, name := range []string{"fig01", "fig12"} {
		record := filepath.Join(dir, name, "provenance.json")
		changed := strings.ReplaceAll(string(demand.Read(t, record)), `"rate": "0.0009"`, `"rate": "0.0008"`)
		demand.Write(t, record, changed)
		seal(t, filepath.Dir(record))
	}
	for _, folder := range []string{dir, t.TempDir()} { // settings that were changed, and no figure
		if _, err := claims.ReadTables(c.Figures, folder); err == nil || !strings.Contains(err.Error(), "no run of a drawn figure") {
			t.Errorf("%s: %v", folder, err)
		}
	}
}

// TestGalleryVerdicts: the verdicts of the gallery, and of its robots at the medium scale, are those of their tables.
func TestGalleryVerdicts(t *testing.T) {
	for dir, seeds := range map[string][]int64{gallery: nil, medium: {0, 1, 2, 3, 4}} {
		want := committed(t, dir)
		text, err := json.Marshal(verified(t, fromTables(t, testCatalog, dir), want.Scale, seeds...))
		if err != nil {
			t.Fatal(err)
		}
		var got claims.Verification
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got.Figures, want.Figures) {
			t.Errorf("figures:\n%+v\nwant\n%+v", got.Figures, want.Figures)
		}
		if len(got.Claims) != len(want.Claims) {
			t.Fatalf("%d claims, want %d", len(got.Claims), len(want.Claims))
		}
		for i, c := range got.Claims {
			if !reflect.DeepEqual(c, want.Claims[i]) {
				t.Errorf("%s: %s\n%s says %s", c.ID, c, dir, want.Claims[i])
			}
		}
	}
}
