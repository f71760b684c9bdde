package main

import (
	"strings"
	"testing"

	"tvps/ci/demand"
)

// Every mutation of the list has a name of its own and a place in the program as it is.
func TestList(t *testing.T) {
	text := demand.Read(t, "list.txt")
	list, err := parse(string(text))
	if err != nil || len(list) < 60 {
		t.Fatalf("%d mutations, %v", len(list), err)
	}
	seen := map[string]bool{}
	for _, m := range list {
		if _, stale := m.mutated("../.."); stale || seen[m.name] || m.old == m.new || !strings.HasPrefix(m.test, "Test") {
			t.Errorf("%s: %q is not once in %s, or the block is wrong", m.name, m.old, m.file)
		}
		seen[m.name] = true
	}
}
