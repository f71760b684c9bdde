package ci

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/data/artifact"
	"tvps/kernel/setup"
)

// TestThirdParty: THIRD_PARTY.md has a row for everything that the programs download, with the version and the hash
// that they check, and no other.
func TestThirdParty(t *testing.T) {
	root := filepath.Join("..")
	page := demand.Read(t, filepath.Join(root, "THIRD_PARTY.md"))
	mod := demand.Read(t, filepath.Join(root, "kernel", "setup", "gopls", "go.mod"))
	gopls := regexp.MustCompile(`golang.org/x/tools/gopls (v\S+)`).FindSubmatch(mod)
	want := []string{
		"| `kernel lab --venv` | `jupyterlab` | " + setup.LabVersion + " | BSD-3-Clause |  |",
		fmt.Sprintf("| completes code in cells | `golang.org/x/tools/gopls` | %s | BSD-3-Clause |  |", gopls[1]),
	}
	wheels := slices.Concat(slices.Collect(maps.Values(artifact.XLAPlugin)), slices.Collect(maps.Values(artifact.MuJoCo)),
		[]artifact.Archive{artifact.Gymnasium, artifact.ROBEL})
	for _, w := range wheels {
		what := w.What
		for _, processor := range []string{"x86_64", "aarch64"} {
			if strings.Contains(w.Name, processor) {
				what += ", Linux on " + processor
			}
		}
		want = append(want, fmt.Sprintf("| %s | `%s` | %s | %s | %s |", what, w.Package, w.Release, w.Licence, w.SHA256))
	}
	_, downloads, _ := strings.Cut(string(page), "\n## Downloads\n")
	downloads, _, _ = strings.Cut(downloads, "\n## ")
	for _, row := range want {
		if !strings.Contains(downloads, row+"\n") {
			t.Errorf("THIRD_PARTY.md lacks the row %s", row)
		}
	}
	if rows := strings.Count(downloads, "\n| ") - 1; rows != len(want) { // without the table's head
		t.Errorf("THIRD_PARTY.md has %d rows of downloads, want %d", rows, len(want))
	}
}
