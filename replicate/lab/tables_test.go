package lab

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"tvps/replicate/paper"
	"tvps/replicate/settings"
)

// verified judges all claims by what a lab has.
func verified(t *testing.T, l *Lab, scale settings.Scale) Verification {
	t.Helper()
	v, err := l.Verify(t.Context(), Options{Scale: scale})
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

// TestTables: the tables of a figure, with a panel that is judged by more than is drawn, give the verdicts of the
// stored runs, in verify as in Draw, and fill in for the runs that a store lacks. Damaged and changed tables do not.
func TestTables(t *testing.T) {
	w := largerSamples(t)
	w.options.Panels = nil
	dir := t.TempDir()
	for _, f := range []paper.Figure{paper.Fig1(), paper.Fig12()} {
		o := w.options
		o.Out = filepath.Join(dir, f.Name())
		var missing *MissingError
		if _, err := w.Draw(f, o); err != nil && !errors.As(err, &missing) {
			t.Fatal(err)
		}
	}
	sizes, err := os.ReadFile(w.sizesFile())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, sizesName), sizes, 0o644); err != nil {
		t.Fatal(err)
	}
	stored, err := OpenStored(w.Catalog, OpenOptions{Results: w.results})
	if err != nil {
		t.Fatal(err)
	}
	want := verified(t, stored, "tiny")
	if got := verified(t, fromTables(t, w.Catalog, dir), "tiny"); !reflect.DeepEqual(got.Claims, want.Claims) {
		t.Errorf("from tables: %v\nwant %v", got.Claims, want.Claims)
	}
	judged := false
	for _, c := range want.Claims {
		for _, p := range c.Parts {
			judged = judged || c.Figure == "fig01" && p.Panel == "a" && p.Effect.N == 9 && p.Verdict == Holds
		}
	}
	if !judged {
		t.Error("no claim about panel a holds with nine seeds: the comparison shows nothing")
	}

	// Half of the runs are stored: the tables have the others.
	runsOf, err := filepath.Glob(filepath.Join(w.results, "gaussian", "*.jsonl.zst"))
	if err != nil || len(runsOf) < 10 {
		t.Fatal(runsOf, err)
	}
	for _, path := range runsOf[:len(runsOf)/2] {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	both, err := OpenStored(w.Catalog, OpenOptions{Results: w.results, Tables: dir})
	if err != nil {
		t.Fatal(err)
	}
	if got := verified(t, both, "tiny"); !reflect.DeepEqual(got.Claims, want.Claims) {
		t.Errorf("from half of the runs and tables: %v\nwant %v", got.Claims, want.Claims)
	}
	checkDamagedTables(t, w.Catalog, dir)
}

func checkDamagedTables(t *testing.T, c Catalog, dir string) {
	t.Helper()
	table := filepath.Join(dir, "fig01", "fig01-a.csv")
	text, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	for name, change := range map[string]struct{ line, want string }{
		"another value":  {strings.Replace(lines[1], "0.", "0.9", 1), "another table"},
		"another series": {strings.Replace(lines[1], "everything", "elsewhere", 1), "no run of provenance.json"},
		"no number":      {strings.TrimSpace(lines[1]) + "x\n", "line 2"},
	} {
		changed := strings.Replace(string(text), lines[1], change.line, 1)
		if err := os.WriteFile(table, []byte(changed), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadTables(c, dir); err == nil || !strings.Contains(err.Error(), change.want) ||
			!strings.Contains(err.Error(), "fig01-a") {
			t.Errorf("%s: %v, want %q", name, err, change.want)
		}
	}
	if err := os.WriteFile(table, text, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"fig01", "fig12"} {
		record := filepath.Join(dir, name, "provenance.json")
		if text, err = os.ReadFile(record); err != nil {
			t.Fatal(err)
		}
		changed := strings.ReplaceAll(string(text), `"rate": "0.0009"`, `"rate": "0.0008"`)
		if err := os.WriteFile(record, []byte(changed), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, folder := range []string{dir, t.TempDir()} { // settings that were changed, and no figure
		if _, err := ReadTables(c, folder); err == nil || !strings.Contains(err.Error(), "no run of a drawn figure") {
			t.Errorf("%s: %v", folder, err)
		}
	}
}

// TestGalleryVerdicts: the gallery's verdicts are those of its tables.
func TestGalleryVerdicts(t *testing.T) {
	want := committed(t)
	text, err := json.Marshal(verified(t, fromTables(t, testCatalog, gallery), want.Scale))
	if err != nil {
		t.Fatal(err)
	}
	var got Verification
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
			t.Errorf("%s: %s\nthe gallery says %s", c.ID, c, want.Claims[i])
		}
	}
}
