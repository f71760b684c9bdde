package demand_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
)

// root is that of the checkout.
var root = filepath.Join("..", "..")

// documents returns the text of every document by its path.
func documents(t *testing.T) map[string]string {
	files, err := demand.Documents(root)
	if err != nil || len(files) < 8 {
		t.Fatalf("%d documents, %v", len(files), err)
	}
	all := map[string]string{}
	for _, file := range files {
		all[file] = string(demand.Read(t, file))
	}
	return all
}

// TestLinks: every relative link of every document leads to a file that is there, and to a heading that it has.
func TestLinks(t *testing.T) {
	for file, text := range documents(t) {
		for _, target := range links(text) {
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			path, fragment, _ := strings.Cut(target, "#")
			to := file
			if path != "" {
				to = filepath.Join(filepath.Dir(file), filepath.FromSlash(path))
			}
			linked, err := os.ReadFile(to)
			if info, statErr := os.Stat(to); statErr != nil || (err != nil && !info.IsDir()) {
				t.Errorf("%s links to %s, which is not there", file, target)
				continue
			}
			if fragment != "" && !slices.Contains(anchors(string(linked)), fragment) {
				t.Errorf("%s links to %s, and %s has no such heading", file, target, to)
			}
		}
	}
}

var (
	fence   = regexp.MustCompile("(?ms)^```[^\n]*\n(.*?)^```")
	inline  = regexp.MustCompile("`([^`\n]+)`")
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	source  = regexp.MustCompile(`<img src="([^"]+)"`)
	named   = regexp.MustCompile(`(?m)^\[[^\]]+\]: +(\S+)$`)
	heading = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	anchor  = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// links lists the targets of links and pictures outside of code, also of those defined by a name, as "[name]: target",
// and in HTML.
func links(text string) []string {
	text = inline.ReplaceAllString(fence.ReplaceAllString(text, ""), "code")
	var out []string
	for _, form := range []*regexp.Regexp{link, source, named} {
		for _, m := range form.FindAllStringSubmatch(text, -1) {
			out = append(out, m[1])
		}
	}
	return out
}

// anchors lists the fragments that GitHub gives the headings.
func anchors(text string) []string {
	var out []string
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		name := anchor.ReplaceAllString(strings.ToLower(strings.ReplaceAll(m[1], "`", "")), "")
		out = append(out, strings.ReplaceAll(name, " ", "-"))
	}
	return out
}

// TestLines: prose is wrapped, so that it can be read and compared; tables, links, code and what is
// generated are not.
func TestLines(t *testing.T) {
	for file, text := range documents(t) {
		code, generated := false, false
		for i, line := range strings.Split(text, "\n") {
			if strings.HasPrefix(line, "```") {
				code = !code
			}
			if strings.HasPrefix(line, "<!-- ") {
				generated = strings.HasSuffix(line, ":begin -->")
			}
			exempt := code || generated || strings.HasPrefix(line, "|") || strings.Contains(line, "](") ||
				strings.HasPrefix(line, "- `")
			if n := len([]rune(line)); n > 120 && !exempt {
				t.Errorf("%s:%d has %d characters", file, i+1, n)
			}
		}
	}
}

// TestSizes: the documents that everybody opens stay short. What is generated counts, too; bars of tables are no words.
func TestSizes(t *testing.T) {
	readme := string(demand.Read(t, filepath.Join(root, "README.md")))
	if lines, words := strings.Count(readme, "\n"), len(strings.Fields(strings.ReplaceAll(readme, "|", " "))); lines > 120 || words > 1240 {
		t.Errorf("README.md has %d lines and %d words, more than 120 and 1240", lines, words)
	}
	for name, most := range map[string]int{"replicate/paper/INTERPRETATIONS.md": 24_000, "replicate/STATISTICS.md": 8_000} {
		if text := demand.Read(t, filepath.Join(root, name)); len(text) > most {
			t.Errorf("%s has %d bytes, more than %d: move details to a page of their own", name, len(text), most)
		}
	}
	total := 0
	for file, text := range documents(t) {
		benchmark := strings.HasSuffix(filepath.ToSlash(file), "archive/natural-drift/README.md") // which answers a user
		if benchmark || !ofAuthors.MatchString(filepath.ToSlash(file)) {
			total += len(text)
		}
	}
	if total > 150<<10 {
		t.Errorf("what users read has %d bytes, more than 150 KiB: cut what is said twice, move tables to the archive", total)
	}
}

// ofAuthors matches the pages that developers and authors read.
var ofAuthors = regexp.MustCompile(`gallery/archive/|ARCHITECTURE|CONTRIBUTING|INTERNALS|CHANGELOG|THIRD_PARTY|PERFORMANCE|` +
	`ci/research/`)

// TestNamedTests: every test that a document names is there.
func TestNamedTests(t *testing.T) {
	var all strings.Builder
	for _, text := range sources(t) {
		all.WriteString(text)
	}
	for file, text := range documents(t) {
		for _, m := range regexp.MustCompile("`(Test[A-Z]\\w*)`").FindAllStringSubmatch(text, -1) {
			if !strings.Contains(all.String(), "func "+m[1]+"(") {
				t.Errorf("%s names %s, which no package has", file, m[1])
			}
		}
	}
}

// TestComments: comments of Go files are wrapped, too.
func TestComments(t *testing.T) {
	for path, text := range sources(t) {
		for i, line := range strings.Split(text, "\n") {
			comment := strings.HasPrefix(strings.TrimLeft(line, "\t"), "//")
			if n := len([]rune(line)); comment && n > 120 {
				t.Errorf("%s:%d has %d characters", path, i+1, n)
			}
		}
	}
}

// sources returns the text of every Go file by its path from the root of the checkout.
func sources(t *testing.T) map[string]string {
	all := map[string]string{}
	demand.NoError(t, fs.WalkDir(os.DirFS(root), ".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".go" {
			all[path] = string(demand.Read(t, filepath.Join(root, path)))
		}
		return err
	}))
	return all
}

func TestCommands(t *testing.T) {
	const text = "```\nVAR=1 go run ./replicate fig1 --set 'a=b' # note\ngo run ./replicate doctor; go run ./replicate all && ls\n" +
		"go run ./replicate fig2 \\\n  --panel a\n```\n" +
		"and `go run ./replicate` or `go run ./replicates no`\n"
	want := [][]string{{"fig1", "--set", "a=b"}, {"doctor"}, {"all"}, {"fig2", "--panel", "a"}, nil}
	if got := demand.Commands(text, "go run ./replicate"); !reflect.DeepEqual(got, want) {
		t.Errorf("commands %q, want %q", got, want)
	}
}
