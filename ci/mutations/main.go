// Mutations breaks the program in one place at a time and looks whether a test fails. The places are in list.txt.
//
//	go run ./ci/mutations [-run REGEXP] [-timeout 3m]
//
// The checkout stays as it is: the compiler gets the changed file by its option -overlay, which programs that a test
// builds get, too. For each mutation the test must pass without it and fail with it. Otherwise the exit code is 1.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// mutation is a block of list.txt.
type mutation struct {
	name, file, pkg, test string
	old, new              string // a part of a line that occurs once in the file, and what replaces it
}

func main() {
	which := flag.String("run", "", "regular expression of the names of mutations; empty for all")
	timeout := flag.Duration("timeout", 3*time.Minute, "for one test")
	flag.Parse()
	caught, all, err := run(regexp.MustCompile(*which), *timeout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutations:", err)
		os.Exit(2)
	}
	if fmt.Printf("%d of %d mutations are caught\n", caught, all); caught < all {
		os.Exit(1)
	}
}

func run(which *regexp.Regexp, timeout time.Duration) (caught, all int, err error) {
	text, err := os.ReadFile("ci/mutations/list.txt")
	if err != nil {
		return 0, 0, fmt.Errorf("start it in the root of the checkout: %w", err)
	}
	list, err := parse(string(text))
	if err != nil {
		return 0, 0, err
	}
	dir, err := os.MkdirTemp("", "mutations-")
	if err != nil {
		return 0, 0, err
	}
	defer os.RemoveAll(dir)
	passes := map[string]bool{} // without a mutation, by package and test
	for _, m := range list {
		if !which.MatchString(m.name) {
			continue
		}
		begin := time.Now()
		result := m.try(dir, timeout, passes)
		if all++; result == "caught" {
			caught++
		}
		fmt.Printf("%-8s %-28s %s %s (%.0f s)\n", result, m.name, m.pkg, m.test, time.Since(begin).Seconds())
	}
	return caught, all, nil
}

// parse reads the blocks of list.txt: a line "name | file | package | test", one "- old" and one "+ new".
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
				return nil, fmt.Errorf("list.txt: %q is none of: name | file | package | test, - old, + new", line)
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
func (m mutation) try(dir string, timeout time.Duration, passes map[string]bool) string {
	text, stale := m.mutated(".")
	if stale {
		return "stale"
	}
	key := m.pkg + " " + m.test
	if _, known := passes[key]; !known {
		out, err := m.goTest("", timeout)
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
	switch out, err := m.goTest("-overlay="+overlay, timeout); {
	case err == nil:
		return "MISSED"
	case strings.Contains(out, "build failed]") || strings.Contains(out, "setup failed]"):
		return "broken"
	}
	return "caught"
}

// goTest runs the test.
func (m mutation) goTest(flags string, timeout time.Duration) (output string, err error) {
	cmd := exec.Command("go", "test", "-v", "-count=1", "-timeout", timeout.String(), "-run", "^("+m.test+")$", m.pkg)
	cmd.Env = append(os.Environ(), "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" "+flags))
	out, err := cmd.CombinedOutput()
	return string(out), err
}
