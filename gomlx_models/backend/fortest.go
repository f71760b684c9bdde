package backend

import (
	"context"
	"sync"
)

// TB is what ForTest needs of a testing.TB, so that programs do not link package testing.
type TB interface {
	Helper()
	Fatal(args ...any)
}

var forTests = struct {
	sync.Mutex
	opened map[string]*Backend
}{opened: map[string]*Backend{}}

// ForTest returns the named backend for the tests of other packages, the same client for all tests of a process. The
// test fails if the backend cannot be opened.
func ForTest(tb TB, name string) *Backend {
	tb.Helper()
	forTests.Lock()
	defer forTests.Unlock()
	if forTests.opened[name] == nil {
		b, err := Open(context.Background(), name, Options{})
		if err != nil {
			tb.Fatal(err)
		}
		forTests.opened[name] = b
	}
	return forTests.opened[name]
}
