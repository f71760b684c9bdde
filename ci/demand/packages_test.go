package demand_test

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
)

// part is a row of the table of parts in ARCHITECTURE.md.
type part struct {
	name          string
	packages, may []string // may has names of parts, and packages
}

// parts reads the table.
func parts(t *testing.T) (all []part) {
	text := demand.Read(t, filepath.Join(root, "replicate", "ARCHITECTURE.md"))
	_, table, _ := strings.Cut(string(text), "| part | is | packages | may import |\n|---|---|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	for row := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(row, "| \n"), " | ")
		packages := strings.Fields(strings.ReplaceAll(cells[2], "`", ""))
		may := strings.Split(strings.ReplaceAll(cells[3], "`", ""), ", ")
		all = append(all, part{strings.Trim(cells[0], "*"), packages, may})
	}
	return all
}

// TestParts: the table of parts has every package once, and each part imports all that its row names and nothing else.
func TestParts(t *testing.T) {
	table, of := parts(t), map[string]string{} // the part of a package
	for _, p := range table {
		for _, name := range p.packages {
			if of[name] != "" {
				t.Errorf("%s is in the parts %s and %s", name, of[name], p.name)
			}
			of[name] = p.name
		}
	}
	imported := imports(t)
	for _, p := range table {
		met := map[string]bool{}
		for _, name := range p.packages {
			for _, other := range imported[name] {
				other, ours := strings.CutPrefix(other, "tvps/")
				met[other], met[of[other]] = true, true
				if ours && !slices.Contains(p.may, of[other]) && !slices.Contains(p.may, other) {
					t.Errorf("%s imports %s: part %s may import %q", name, other, p.name, p.may)
				}
			}
			if imported[name] == nil {
				t.Errorf("there is no package %s", name)
			}
		}
		for _, one := range p.may {
			if !met[one] {
				t.Errorf("part %s imports no %s", p.name, one)
			}
		}
	}
	for name := range imported {
		if of[name] == "" {
			t.Errorf("the table of parts lacks %s", name)
		}
	}
}

// otherWrites are the files that write or rename without package artifact, with the reason.
var otherWrites = map[string]string{
	"ci/demand/demand.go":          "writes files of tests",
	"kernel/jupyter/connection.go": "writes into a new folder of its own, before the kernel starts",
}

// TestAtomicFiles: files are written by package artifact alone, but for the listed ones. os.WriteFile may leave
// one half-written.
func TestAtomicFiles(t *testing.T) {
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
