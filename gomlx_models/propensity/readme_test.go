package propensity_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/gomlx_models/propensity"
)

func read(t *testing.T, path string) string {
	t.Helper()
	return string(demand.Read(t, path))
}

// TestReadmeProgram: the program in README.md is owndata_test.go, which compiles and runs as
// an example.
func TestReadmeProgram(t *testing.T) {
	want := read(t, "owndata_test.go")
	want = strings.Replace(want, "package propensity_test", "package main", 1)
	want = strings.Replace(want, "func Example_ownData()", "func main()", 1)
	comment := strings.Index(want, "\t// Output:")
	want = want[:comment] + "}\n"
	if !strings.Contains(read(t, "README.md"), "```go\n"+want+"```\n") {
		t.Errorf("README.md does not hold this program:\n%s", want)
	}
}

// TestReadmeTables: each table of valid names has exactly the names that Validate accepts.
func TestReadmeTables(t *testing.T) {
	text := read(t, "README.md")
	networks := slices.DeleteFunc(propensity.Networks(), func(n propensity.Network) bool {
		return n == propensity.Linear // of a test
	})
	for heading, want := range map[string][]string{
		"Method":   propensity.Names(propensity.Methods()),
		"Network":  propensity.Names(networks),
		"Encoding": propensity.Names(propensity.Encodings()),
		"Join":     propensity.Names(propensity.Joins()),
		"Clip":     propensity.Names(propensity.Clips()),
	} {
		_, table, found := strings.Cut(text, "\n| "+heading+" |")
		if !found {
			t.Errorf("README.md has no table with the heading %s", heading)
			continue
		}
		table, _, _ = strings.Cut(table, "\n\n")
		var got []string
		for _, row := range regexp.MustCompile("(?m)^\\| `([a-z0-9]+)`").FindAllStringSubmatch(table, -1) {
			got = append(got, row[1])
		}
		slices.Sort(got)
		slices.Sort(want)
		demand.List(t, got, want, "the names in table %s", heading)
	}
}
