// Command thirdparty writes what the module takes from others: THIRD_PARTY.md, the table of modules, data and models
// with their licences, and ci/thirdparty/sbom.cdx.json, the software bill of materials in CycloneDX's format. Both are
// made from go.mod, go.sum, the modules' own licence files and the constants with which the programs check what they
// download, and are the same bytes on every machine:
//
//	go run ./ci/thirdparty
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"tvps/data/artifact"
	"tvps/kernel/setup"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/licensecheck"
)

// The files that are written, from the module's root.
const (
	tableFile = "THIRD_PARTY.md"
	billFile  = "ci/thirdparty/sbom.cdx.json"
)

func main() {
	if err := write(context.Background(), "."); err != nil {
		fmt.Fprintln(os.Stderr, "thirdparty:", err)
		os.Exit(1)
	}
}

func write(ctx context.Context, root string) error {
	files, err := generate(ctx, root)
	if err != nil {
		return err
	}
	for name, content := range files {
		if err := artifact.Replace(filepath.Join(root, name), content, 0o644); err != nil {
			return fmt.Errorf("cannot write %s: %w", name, err)
		}
	}
	return nil
}

// generate returns the contents of both files.
func generate(ctx context.Context, root string) (map[string][]byte, error) {
	list, err := modules(ctx, root)
	if err != nil {
		return nil, err
	}
	fetched, err := downloads(root)
	if err != nil {
		return nil, err
	}
	bill, err := bill(list, fetched)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{tableFile: table(list, fetched), billFile: bill}, nil
}

// module is a Go module that this one needs.
type module struct {
	path, version, dir string
	sha256             string // of go.sum
	use                string
	licences           []string // SPDX identifiers
	note               string
}

// uses are the sets of packages whose modules are listed, from the one that matters most to users.
var uses = []struct {
	name string
	args []string
}{
	{"programs", []string{"./..."}},
	{"tests", []string{"-test", "./..."}},
	{"tools", []string{"tool"}},
}

// modules lists all modules that packages of this module, their tests or its tools import, by path. It runs go list,
// for Linux on amd64, and reads the modules in Go's cache.
func modules(ctx context.Context, root string) ([]module, error) {
	sums, err := readSums(filepath.Join(root, "go.sum"))
	if err != nil {
		return nil, err
	}
	var out []module
	for _, use := range uses {
		args := slices.Concat([]string{"list", "-deps", "-f",
			"{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}"}, use.args)
		cmd := exec.CommandContext(ctx, "go", args...)
		cmd.Dir, cmd.Env = root, append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=1", "GOFLAGS=-buildvcs=false")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		text, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("go %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
		}
		for line := range strings.Lines(string(text)) {
			fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
			if len(fields) != 3 || slices.ContainsFunc(out, func(m module) bool { return m.path == fields[0] }) {
				continue
			}
			m := module{path: fields[0], version: fields[1], dir: fields[2], use: use.name,
				sha256: sums[fields[0]+"@"+fields[1]]}
			if err := m.findLicences(); err != nil {
				return nil, err
			}
			out = append(out, m)
		}
	}
	slices.SortFunc(out, func(a, b module) int { return strings.Compare(a.path, b.path) })
	return out, nil
}

// licenceFile matches the names of files with licences.
var licenceFile = regexp.MustCompile(`(?i)^(un)?(licen[sc]e|copying)`)

// known are licences that a module's files do not tell in the words of the licence.
var known = map[string]struct {
	licences []string
	note     string
}{
	"github.com/golang/freetype": {[]string{"FTL"}, "FTL or GPL-2.0-or-later: taken under the FTL. Portions of this " +
		"software are copyright the FreeType Project (www.freetype.org). All rights reserved."},
}

// findLicences reads the module's licence files.
func (m *module) findLicences() error {
	if k, ok := known[m.path]; ok {
		m.licences, m.note = k.licences, k.note
		return nil
	}
	entries, err := os.ReadDir(m.dir)
	if err != nil {
		return fmt.Errorf("module %s: %w", m.path, err)
	}
	found := false
	for _, entry := range entries {
		if !licenceFile.MatchString(entry.Name()) || entry.IsDir() {
			continue
		}
		text, err := os.ReadFile(filepath.Join(m.dir, entry.Name()))
		if err != nil {
			return fmt.Errorf("module %s: %w", m.path, err)
		}
		found = true
		for _, match := range licensecheck.Scan(text).Match {
			if !match.IsURL && !slices.Contains(m.licences, match.ID) {
				m.licences = append(m.licences, match.ID)
			}
		}
	}
	slices.Sort(m.licences)
	switch {
	case !found:
		m.note = "no licence file"
	case len(m.licences) == 0:
		m.note = "licence file not recognised"
	}
	return nil
}

// other is a file of others that is in the repository, or data that the programs read.
type other struct{ what, source, licence, where string }

// others are the images and models.
var others = []other{
	{"CIFAR-10, a sample", "Alex Krizhevsky, https://www.cs.toronto.edu/~kriz/cifar.html",
		"none stated; the author asks for a citation", "in the repository: `data/cifar10/sample.bin`"},
	{"CIFAR-10, full", "as above", "as above", "downloaded by `data cifar10`"},
	{"Thumbnails of CIFAR-10 in pictures and notebooks", "as above", "as above", "in the repository"},
	{"ResNet-18 of width 16", "trained by this program on CIFAR-10", "Apache-2.0, that of this repository",
		"in the repository: `gomlx_models/resnet/checkpoints`"},
	{"CLEAR-10 features", "https://clear-benchmark.github.io", "see the data set's page", "never downloaded by this program"},
	{"D'Claw, outlines of ten valves", "https://github.com/fanyangcmu/RL_LL_DClaw_Benchmark",
		"MIT, Copyright (c) 2021 Fan Yang", "in the repository, as numbers: `data/env/valves.go`"},
}

// table returns THIRD_PARTY.md.
func table(list []module, fetched []download) []byte {
	var b bytes.Buffer
	b.WriteString("# Third-party software and data\n\nThis program is under the Apache licence 2.0, see [LICENSE](LICENSE). " +
		"What it takes from others:\n`go run ./ci/thirdparty` makes this page and the software bill of materials " +
		"[sbom.cdx.json](" + billFile + ").\n\n## Images and models\n\n" +
		"| what | source | licence | where |\n|---|---|---|---|\n")
	for _, o := range others {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", o.what, o.source, o.licence, o.where)
	}
	b.WriteString("\n## Downloads\n\nWhat the programs download when it is needed, from PyPI, npm, go-echarts' host or " +
		"Go's module\nproxy. They use a file only if its SHA-256 is this one. That of gopls is the module's in `go.sum`.\n" +
		"Those of JupyterLab and the packages that it needs are in `kernel/setup/jupyterlab.txt`, those of\nthe modules " +
		"that gopls needs in `" + setup.GoplsModule + "/go.sum`.\n\n" +
		"| what | package | version | licence | SHA-256 |\n|---|---|---|---|---|\n")
	for _, d := range fetched {
		fmt.Fprintf(&b, "| %s | `%s` | %s | %s | %s |\n", d.what, d.name, d.version, d.licence, d.sha256)
	}
	fmt.Fprintf(&b, "\n## Go modules\n\nThe %d modules that the programs, the tests or the tools of `go.mod` import. "+
		"Licences are those that\n[licensecheck](https://github.com/google/licensecheck) finds in the modules' own licence "+
		"files.\n\n| module | version | licence | used by |\n|---|---|---|---|\n", len(list))
	for _, m := range list {
		licence := strings.Join(m.licences, ", ")
		if m.note != "" {
			licence = strings.TrimPrefix(licence+" ("+m.note+")", " ")
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", m.path, m.version, licence, m.use)
	}
	return b.Bytes()
}

// bill returns the bill of materials. It has neither a time nor a serial number: the same modules and downloads give
// the same bytes.
func bill(list []module, fetched []download) ([]byte, error) {
	bom := cdx.NewBOM()
	bom.SerialNumber = ""
	bom.Metadata = &cdx.Metadata{Component: &cdx.Component{Type: cdx.ComponentTypeApplication, BOMRef: "tvps", Name: "tvps",
		Licenses: licences("Apache-2.0")}}
	var components []cdx.Component
	dependencies := []string{}
	for _, m := range list {
		c := cdx.Component{Type: cdx.ComponentTypeLibrary, Name: m.path, Version: m.version,
			PackageURL: "pkg:golang/" + m.path + "@" + m.version, Scope: cdx.ScopeRequired,
			Hashes: hashes(m.sha256), Licenses: licences(m.licences...)}
		c.BOMRef = c.PackageURL
		if m.use != uses[0].name {
			c.Scope = cdx.ScopeExcluded
		}
		components, dependencies = append(components, c), append(dependencies, c.BOMRef)
	}
	for _, d := range fetched {
		c := d.component()
		components, dependencies = append(components, c), append(dependencies, c.BOMRef)
	}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: "tvps", Dependencies: &dependencies}}
	var b bytes.Buffer
	encoder := cdx.NewBOMEncoder(&b, cdx.BOMFileFormatJSON)
	encoder.SetPretty(true)
	if err := encoder.Encode(bom); err != nil {
		return nil, fmt.Errorf("bill of materials: %w", err)
	}
	return b.Bytes(), nil
}
