package main

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"tvps/data/artifact"
	"tvps/data/echarts"
	"tvps/data/env"
	"tvps/data/env/mujoco"
	"tvps/gomlx_models/backend"
	"tvps/kernel/setup"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// download is what the programs download and use, in the version that they pin.
type download struct {
	what          string // for readers
	name, version string
	licence       string // SPDX identifier
	purl          string
	sha256        string // lower-case hexadecimal; empty if there is no single file
	kind          cdx.ComponentType
}

// downloads lists what the programs download, from the constants with which they check it. Versions of gopls are those
// of its module.
func downloads(root string) ([]download, error) {
	var out []download
	for _, wheels := range [][]artifact.Wheel{backend.Pinned(), mujoco.Pinned(), env.Pinned()} {
		for _, w := range wheels {
			purl := "pkg:pypi/" + w.Package + "@" + w.Release + "?file_name=" + url.QueryEscape(w.Name)
			out = append(out, download{w.What + platform(w.Name), w.Package, w.Release, w.Licence, purl, w.SHA256,
				cdx.ComponentTypeLibrary})
		}
	}
	for _, script := range echarts.Pinned() {
		_, version, _ := strings.Cut(script.Name, " ")
		out = append(out, download{"charts in pages and notebooks", "echarts", version, "Apache-2.0",
			"pkg:npm/echarts@" + version, script.SHA256, cdx.ComponentTypeLibrary})
	}
	out = append(out, download{"`kernel lab --venv`", "jupyterlab", setup.LabVersion, "BSD-3-Clause",
		"pkg:pypi/jupyterlab@" + setup.LabVersion, "", cdx.ComponentTypeApplication})
	gopls, err := setup.PinnedGopls(root)
	if err != nil {
		return nil, err
	}
	if gopls.Version == "" {
		return nil, fmt.Errorf("no go.mod pins gopls")
	}
	sums, err := readSums(filepath.Join(root, setup.GoplsModule, "go.sum"))
	if err != nil {
		return nil, err
	}
	return append(out, download{"completes code in cells", gopls.Path, gopls.Version, "BSD-3-Clause",
		"pkg:golang/" + gopls.String(), sums[gopls.String()], cdx.ComponentTypeApplication}), nil
}

// platform says for which processor a wheel is; empty if it holds no program.
func platform(wheel string) string {
	for _, processor := range []string{"x86_64", "aarch64"} {
		if strings.Contains(wheel, processor) {
			return ", Linux on " + processor
		}
	}
	return ""
}

// component returns the component of a bill of materials.
func (d download) component() cdx.Component {
	return cdx.Component{Type: d.kind, BOMRef: d.purl, Name: d.name, Version: d.version, PackageURL: d.purl,
		Scope: cdx.ScopeOptional, Hashes: hashes(d.sha256), Licenses: licences(d.licence)}
}

// licences returns the licences with these SPDX identifiers; nil for none.
func licences(ids ...string) *cdx.Licenses {
	var out cdx.Licenses
	for _, id := range ids {
		out = append(out, cdx.LicenseChoice{License: &cdx.License{ID: id}})
	}
	if out == nil {
		return nil
	}
	return &out
}

// hashes returns the hash; nil for an empty one.
func hashes(sha256 string) *[]cdx.Hash {
	if sha256 == "" {
		return nil
	}
	return &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: sha256}}
}

// readSums reads the hashes of modules from a go.sum, by path@version, in hexadecimal: SHA-256 of the list of the
// module's files with their SHA-256. Programs that write bills for Go modules give the same.
func readSums(path string) (map[string]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) != 3 || strings.HasSuffix(fields[1], "/go.mod") {
			continue
		}
		sum, ok := strings.CutPrefix(fields[2], "h1:")
		raw, err := base64.StdEncoding.DecodeString(sum)
		if !ok || err != nil {
			return nil, fmt.Errorf("%s: %q is not a hash", path, fields[2])
		}
		out[fields[0]+"@"+fields[1]] = hex.EncodeToString(raw)
	}
	return out, nil
}
