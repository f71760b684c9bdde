package artifact

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tvps/ci/demand"
)

// content is a file of 1 MB, the same at each call.
func content() []byte {
	data := make([]byte, 1_000_000)
	rng := rand.NewChaCha8([32]byte{1})
	rng.Read(data)
	return data
}

func pinned(url string, data []byte) File {
	sum := sha256.Sum256(data)
	return File{Name: "file.bin", URL: url, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(data))}
}

// server counts the requests.
type server struct {
	*httptest.Server
	requests atomic.Int32
}

func serve(t *testing.T, answer http.HandlerFunc) *server {
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// whole serves data.
func whole(data []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	}
}

// names lists the entries of path's folder except lock files.
func names(t *testing.T, path string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	demand.NoError(t, err)
	var list []string
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".lock") {
			list = append(list, e.Name())
		}
	}
	return list
}

// check compares the error with a kind and words, and the entries of dst's folder with left.
func check(t *testing.T, err, kind error, words string, dst string, left ...string) {
	t.Helper()
	if !errors.Is(err, kind) || (err != nil && !strings.Contains(err.Error(), words)) {
		t.Errorf("got error %v, want %v with %q", err, kind, words)
	}
	if err != nil && strings.Contains(err.Error(), "\n") {
		t.Errorf("the error has several lines: %q", err)
	}
	demand.List(t, names(t, dst), left, "the folder")
}
