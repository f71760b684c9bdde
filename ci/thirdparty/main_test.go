package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"golang.org/x/mod/modfile"
)

// TestCurrent: both files are what the command writes.
func TestCurrent(t *testing.T) {
	root := filepath.Join("..", "..")
	files, err := generate(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(root, name))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not current (%v): go run ./ci/thirdparty", name, err)
		}
	}
}

// TestComplete: every module that go.mod requires directly is in the bill, with its version and a licence.
func TestComplete(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	file, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := os.Open("sbom.cdx.json")
	if err != nil {
		t.Fatal(err)
	}
	defer stored.Close()
	var bom cdx.BOM
	if err := cdx.NewBOMDecoder(stored, cdx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	for _, r := range file.Require {
		i := slices.IndexFunc(*bom.Components, func(c cdx.Component) bool { return c.Name == r.Mod.Path })
		if r.Indirect {
			continue
		}
		if i < 0 || (*bom.Components)[i].Version != r.Mod.Version || (*bom.Components)[i].Licenses == nil {
			t.Errorf("the bill lacks %s, its version or its licence", r.Mod)
		}
	}
}

// TestLicences: a licence is found by its text; a module without a file, or with an unknown text, says so.
func TestLicences(t *testing.T) {
	apache, err := os.ReadFile(filepath.Join("..", "..", "LICENSE"))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ file, text, want, note string }{
		"apache":  {"LICENSE.txt", string(apache), "Apache-2.0", ""},
		"none":    {"README", string(apache), "", "no licence file"},
		"unknown": {"COPYING", "Do what you like.", "", "licence file not recognised"},
	} {
		m := module{path: name, dir: t.TempDir()}
		if err := os.WriteFile(filepath.Join(m.dir, c.file), []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := m.findLicences(); err != nil || strings.Join(m.licences, " ") != c.want || m.note != c.note {
			t.Errorf("%s: %q, note %q, %v", name, m.licences, m.note, err)
		}
	}
}
