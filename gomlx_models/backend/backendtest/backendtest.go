// Package backendtest opens backends for the tests of other packages.
package backendtest

import (
	"context"
	"sync"
	"testing"

	"tvps/gomlx_models/backend"
)

var opened = struct {
	sync.Mutex
	backends map[string]*backend.Backend
}{backends: map[string]*backend.Backend{}}

// Open returns the named backend, the same client for all tests of a process. "" is
// backend.Default: XLA, or the Go engine where no plugin is available. The test fails if the
// backend cannot be opened.
func Open(tb testing.TB, name string) *backend.Backend {
	tb.Helper()
	opened.Lock()
	defer opened.Unlock()
	if opened.backends[name] == nil {
		b, err := backend.Open(context.Background(), name, backend.Options{})
		if err != nil {
			tb.Fatal(err)
		}
		opened.backends[name] = b
	}
	return opened.backends[name]
}
