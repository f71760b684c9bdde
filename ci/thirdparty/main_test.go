package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tvps/data/env"
	"tvps/data/env/mujoco"
	"tvps/gomlx_models/backend"

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

// TestDownloads: the bill has what a user's machine downloads and runs, with version, licence and the SHA-256 that is
// checked; gopls in the version and with the hash of its module's own go.mod and go.sum.
func TestDownloads(t *testing.T) {
	root := filepath.Join("..", "..")
	fetched, err := downloads(root)
	if err != nil {
		t.Fatal(err)
	}
	text, err := bill(nil, fetched)
	if err != nil {
		t.Fatal(err)
	}
	var bom cdx.BOM
	if err := cdx.NewBOMDecoder(bytes.NewReader(text), cdx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	has := func(version, sha256, purl string) {
		t.Helper()
		for _, c := range *bom.Components {
			if c.PackageURL == purl && c.Version == version && c.Licenses != nil &&
				(c.Hashes == nil && sha256 == "" || c.Hashes != nil && (*c.Hashes)[0].Value == sha256) {
				return
			}
		}
		t.Errorf("the bill lacks %s, its licence or its SHA-256 %s", purl, sha256)
	}
	wheels := slices.Concat(backend.Pinned(), mujoco.Pinned(), env.Pinned())
	if len(wheels) < 6 {
		t.Errorf("%d pinned wheels, want those of the plugin and of MuJoCo for two processors, and of two robots", len(wheels))
	}
	for _, w := range wheels {
		if w.Licence == "" || len(w.SHA256) != 64 {
			t.Errorf("the wheel %s has no licence or no SHA-256", w.Name)
		}
		has(w.Release, w.SHA256, "pkg:pypi/"+w.Package+"@"+w.Release+"?file_name="+w.Name)
	}
	module := filepath.Join(root, "kernel", "setup", "gopls")
	mod, err := os.ReadFile(filepath.Join(module, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(module, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`golang.org/x/tools/gopls (v\S+)`).FindStringSubmatch(string(mod))[1]
	sum := regexp.MustCompile(`golang.org/x/tools/gopls ` + version + ` h1:(\S+)`).FindStringSubmatch(string(sums))[1]
	raw, err := base64.StdEncoding.DecodeString(sum)
	if err != nil {
		t.Fatal(err)
	}
	has(version, hex.EncodeToString(raw), "pkg:golang/golang.org/x/tools/gopls@"+version)
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
