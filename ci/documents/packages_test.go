package documents_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the imports in the table of packages")

// TestPackages: the table of packages in ARCHITECTURE.md has every package of the module, each with its imports, and no
// package imports one that stands above it in its part of the table.
func TestPackages(t *testing.T) {
	path := filepath.Join(root, "replicate", "ARCHITECTURE.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "<!-- packages:begin -->\n")
	block, _, ok := strings.Cut(rest, "<!-- packages:end -->")
	if !ok {
		t.Fatal("there is no table of packages")
	}
	imports := packages(t)
	var listed []string
	rows := regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (.*?) \\| .*$")
	want := rows.ReplaceAllStringFunc(block, func(row string) string {
		name, what := strings.Split(row, "`")[1], strings.Split(row, " | ")[1]
		listed = append(listed, name)
		cell := " "
		if len(imports[name]) > 0 {
			cell = " `" + strings.Join(imports[name], "`, `") + "` "
		}
		return fmt.Sprintf("| `%s` | %s |%s|", name, what, cell)
	})
	for name := range imports {
		if !slices.Contains(listed, name) {
			t.Errorf("the table lacks package %s", name)
		}
	}
	for at, name := range listed {
		if _, exists := imports[name]; !exists {
			t.Errorf("the table names package %s, which does not exist", name)
		}
		for _, imported := range imports[name] {
			if to := slices.Index(listed, imported); to < at && part(name) == part(imported) {
				t.Errorf("%s imports %s, which stands above it", name, imported)
			}
		}
	}
	if *update {
		if err := os.WriteFile(path, []byte(strings.Replace(string(text), block, want, 1)), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != block {
		t.Error("the imports in the table are not those of the code: `go test ./ci/documents -run Packages -update`")
	}
}

// TestDataPackages: the table of packages in data/README.md has every folder of data.
func TestDataPackages(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "data", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for name := range packages(t) {
		folder, inside := strings.CutPrefix(name, "data/")
		folder, _, _ = strings.Cut(folder, "/")
		if row := fmt.Sprintf("\n| [`%s`](%s) | ", folder, folder); inside && !strings.Contains(string(text), row) {
			t.Errorf("the table in data/README.md lacks %s", folder)
		}
	}
}

// part is the part of the module that a package belongs to. kernel and ci import packages of the other parts, which
// stand above them in the table.
func part(name string) string {
	if top, _, _ := strings.Cut(name, "/"); top == "kernel" || top == "ci" {
		return top
	}
	return ""
}

// otherWrites are the files that write or rename without package artifact, with the reason.
var otherWrites = map[string]string{
	"ci/mutations/main.go":                     "writes into a temporary folder",
	"data/cifar10/download.go":                 "renames a folder",
	"kernel/jupyter/connection.go":             "writes into a new folder of its own, before the kernel starts",
	"kernel/setup/tools.go":                    "renames programs that were built on the same disk",
	"replicate/cluster/slurmtest/slurmtest.go": "writes settings of tests",
	"replicate/cluster/submit.go":              "makes an empty file",
	"replicate/runs/lock.go":                   "writes into a lock's file, which must stay the same file",
	"replicate/runs/store.go":                  "moves a damaged file and writes the reason next to it",
}

// TestAtomicFiles: files are written by package artifact alone, but for the listed ones. renameio alone may leave a
// file in $TMPDIR and syncs no folder; a file that os.WriteFile writes may be left half-written.
func TestAtomicFiles(t *testing.T) {
	for name, imported := range imports(t) {
		if name != "data/artifact" && slices.Contains(imported, "github.com/google/renameio/v2") {
			t.Errorf("%s calls renameio: call artifact.Create or artifact.Replace", name)
		}
	}
	write := regexp.MustCompile(`\bos\.(WriteFile|Rename|Create)\(`)
	found := map[string]bool{}
	for name, text := range sources(t) {
		if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "data/artifact/") {
			continue
		}
		call := write.FindString(text)
		if found[name] = call != ""; found[name] && otherWrites[name] == "" {
			t.Errorf("%s calls %s...): call artifact.Create or artifact.Replace", name, call)
		}
	}
	for name := range otherWrites {
		if !found[name] {
			t.Errorf("%s writes no file: take it out of otherWrites", name)
		}
	}
}

// packages lists the imports of every package within the module, tests left out.
func packages(t *testing.T) map[string][]string {
	all := imports(t)
	for name, imported := range all {
		all[name] = nil
		for _, path := range imported {
			if inside, ok := strings.CutPrefix(path, "tvps/"); ok {
				all[name] = append(all[name], inside)
			}
		}
		slices.Sort(all[name])
	}
	return all
}

// imports lists all imports of every package, tests left out.
func imports(t *testing.T) map[string][]string {
	cmd := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("go list: %v", err)
	}
	all := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		all[strings.TrimPrefix(words[0], "tvps/")] = words[1:]
	}
	return all
}
