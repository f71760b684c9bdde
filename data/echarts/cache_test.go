package echarts

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// pinTest makes the test script the only pinned one; s is its source.
func pinTest(t *testing.T, url string) Options {
	t.Helper()
	s := source{script: pin("test script", script)}
	s.script.URL = url
	before := sources
	sources = []source{s}
	t.Cleanup(func() { sources = before })
	return Options{}
}

func TestCached(t *testing.T) {
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests++
		w.Write(script)
	}))
	t.Cleanup(server.Close)
	o := pinTest(t, server.URL)
	dir := filepath.Join(t.TempDir(), "cache")
	for range 2 {
		if text, err := Cached(t.Context(), dir, o); err != nil || !bytes.Equal(text, script) {
			t.Fatalf("got %q, %v", text, err)
		}
	}
	if requests != 1 {
		t.Errorf("%d requests, want 1: the second call must use the cache", requests)
	}
	path := filepath.Join(dir, "echarts", FileName)
	mine := filepath.Join(t.TempDir(), "mine.js")
	if err := os.WriteFile(mine, []byte(`t.version="5.2.0"`), 0o644); err != nil {
		t.Fatal(err)
	}
	if text, err := Cached(t.Context(), dir, Options{File: mine}); err != nil || string(text) != `t.version="5.2.0"` {
		t.Errorf("the user's own file: got %q, %v", text, err)
	}
	if cached, err := os.ReadFile(path); err != nil || !bytes.Equal(cached, script) {
		t.Errorf("the user's own file changed the cache to %q, %v", cached, err)
	}
	others := map[string][]byte{"damaged": altered[:9], "of another version": []byte(`t.version="5.1.2"`)}
	for what, other := range others {
		if err := os.WriteFile(path, other, 0o644); err != nil {
			t.Fatal(err)
		}
		if text, err := Cached(t.Context(), dir, o); err != nil || !bytes.Equal(text, script) {
			t.Errorf("the cached script was %s: got %q, %v", what, text, err)
		}
	}
}

// A host that does not answer costs the limit for connections, not more, and the error is
// one line. The caller's own interrupt is reported as such.
func TestCachedFailsSoon(t *testing.T) {
	silent := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-silent:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(silent) })
	connect, total := connectLimit, totalLimit
	t.Cleanup(func() { connectLimit, totalLimit = connect, total })

	for name, c := range map[string]struct {
		connect, total time.Duration
		want           string
	}{
		"no answer":    {50 * time.Millisecond, time.Minute, "cannot download test script"},
		"out of time":  {time.Minute, 50 * time.Millisecond, "within 50ms: try again"},
		"no such host": {time.Minute, time.Minute, "cannot download test script"},
	} {
		url := server.URL
		if name == "no such host" {
			url = "http://127.0.0.1:1"
		}
		connectLimit, totalLimit = c.connect, c.total
		start := time.Now()
		text, err := Cached(t.Context(), t.TempDir(), pinTest(t, url))
		if text != nil || err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %q, %v, want an error of one line with %q", name, text, err, c.want)
		}
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("%s: took %v", name, took)
		}
	}
	connectLimit, totalLimit = time.Minute, time.Minute
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Cached(ctx, t.TempDir(), pinTest(t, server.URL)); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}
