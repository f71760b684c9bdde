// Mutations break the program in one place at a time, and it is looked whether a test fails. The places are in
// mutations.txt.
//
//	go test ./ci/demand -run Mutations -v -timeout 0 -mutations REGEXP
//
// The checkout stays as it is: the compiler gets the changed file by its option -overlay, which programs that a test
// builds get, too. For each mutation the test must pass without it and fail with it.

package demand_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"tvps/ci/demand"
)

// mutation is a block of mutations.txt.
type mutation struct {
	name, file, pkg, test string
	old, new              string // a part of a line that occurs once in the file, and what replaces it
}

// which is empty for an ordinary run of the tests, which takes no mutation.
var which = flag.String("mutations", "", "regular expression of the names of mutations to try; . for all")

// TestMutations: each chosen mutation is noticed.
func TestMutations(t *testing.T) {
	if *which == "" {
		t.Skip("-mutations names no mutation to try")
	}
	t.Chdir("../..")
	list, err := parse(string(demand.Read(t, "ci/demand/mutations.txt")))
	demand.NoError(t, err)
	chosen, dir := regexp.MustCompile(*which), t.TempDir()
	passes := map[string]bool{} // without a mutation, by package and test
	for _, m := range list {
		if !chosen.MatchString(m.name) {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			if result := m.try(dir, passes); result != "caught" {
				t.Errorf("%s: %s %s", result, m.pkg, m.test)
			}
		})
	}
}

// parse reads the blocks of mutations.txt: a line "name | file | package | test", one "- old" and one "+ new".
func parse(text string) ([]mutation, error) {
	var list []mutation
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch last := len(list) - 1; {
		case line == "" || strings.HasPrefix(line, "#"):
		case last >= 0 && strings.HasPrefix(line, "- "):
			list[last].old = line[2:]
		case last >= 0 && strings.HasPrefix(line, "+"):
			list[last].new = strings.TrimPrefix(line[1:], " ")
		default:
			head := strings.Split(line, " | ")
			if len(head) != 4 {
				return nil, fmt.Errorf("mutations.txt: %q is none of: name | file | package | test, - old, + new", line)
			}
			list = append(list, mutation{name: head[0], file: head[1], pkg: head[2], test: head[3]})
		}
	}
	return list, nil
}

// mutated returns the file with the mutation; stale if there is no such file, or not one such place in it.
func (m mutation) mutated(root string) (text string, stale bool) {
	content, err := os.ReadFile(filepath.Join(root, m.file))
	if err != nil || m.old == "" || strings.Count(string(content), m.old) != 1 {
		return "", true
	}
	return strings.Replace(string(content), m.old, m.new, 1), false
}

// try returns "caught", "MISSED", "stale" (see mutated), "broken" (the mutation does not compile) or "no test" (the
// test fails without the mutation, is skipped, or does not exist).
func (m mutation) try(dir string, passes map[string]bool) string {
	text, stale := m.mutated(".")
	if stale {
		return "stale"
	}
	key := m.pkg + " " + m.test
	if _, known := passes[key]; !known {
		out, err := m.goTest("")
		passes[key] = err == nil && strings.Contains(out, "--- PASS: ") && !strings.Contains(out, "\n--- SKIP: ")
	}
	if !passes[key] {
		return "no test"
	}
	overlay, file := filepath.Join(dir, "overlay.json"), filepath.Join(dir, filepath.Base(m.file))
	original, _ := filepath.Abs(m.file)
	places, _ := json.Marshal(map[string]map[string]string{"Replace": {original: file}})
	for path, content := range map[string][]byte{file: []byte(text), overlay: places} {
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return "broken"
		}
	}
	switch out, err := m.goTest("-overlay=" + overlay); {
	case err == nil:
		return "MISSED"
	case strings.Contains(out, "build failed]") || strings.Contains(out, "setup failed]"):
		return "broken"
	}
	return "caught"
}

// goTest runs the test.
func (m mutation) goTest(flags string) (output string, err error) {
	cmd := exec.Command("go", "test", "-v", "-count=1", "-timeout", "5m", "-run", "^("+m.test+")$", m.pkg)
	cmd.Env = append(os.Environ(), "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" "+flags))
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// Every mutation of the list has a name of its own, a place in the program as it is, and tests that its package has.
func TestListOfMutations(t *testing.T) {
	text := demand.Read(t, "mutations.txt")
	list, err := parse(string(text))
	if err != nil || len(list) < 60 {
		t.Fatalf("%d mutations, %v", len(list), err)
	}
	seen, tests := map[string]bool{}, map[string]string{}
	for path, text := range sources(t) {
		if strings.HasSuffix(path, "_test.go") {
			tests["./"+filepath.ToSlash(filepath.Dir(path))] += text
		}
	}
	for _, m := range list {
		for _, test := range strings.Split(m.test, "|") {
			if !strings.Contains(tests[m.pkg], "func "+test+"(") {
				t.Errorf("%s: %s has no %s", m.name, m.pkg, test)
			}
		}
		if _, stale := m.mutated("../.."); stale || seen[m.name] || m.old == m.new || !strings.HasPrefix(m.test, "Test") {
			t.Errorf("%s: %q is not once in %s, or the block is wrong", m.name, m.old, m.file)
		}
		seen[m.name] = true
	}
}
