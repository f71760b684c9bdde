package artifact

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
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

// server serves data with ranges and counts the requests and the bytes asked for.
type server struct {
	*httptest.Server
	requests atomic.Int32
	ranges   []string
}

func serve(t *testing.T, h func(s *server, w http.ResponseWriter, r *http.Request)) *server {
	s := &server{}
	var mu sync.Mutex
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		s.ranges = append(s.ranges, r.Header.Get("Range"))
		mu.Unlock()
		s.requests.Add(1)
		h(s, w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func whole(data []byte) func(*server, http.ResponseWriter, *http.Request) {
	return func(_ *server, w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	}
}

// cut sends n bytes of an answer that promised all, then drops the connection.
func cut(w http.ResponseWriter, data []byte, n int) {
	w.Header().Set("Content-Length", "1000000")
	w.Write(data[:n])
	w.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

// names lists what is in the folder of path, without the lock file.
func names(t *testing.T, path string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".lock") {
			list = append(list, e.Name())
		}
	}
	return list
}

// check compares the error with a kind and words, and the folder with a list of names.
func check(t *testing.T, err, kind error, words string, dst string, left ...string) {
	t.Helper()
	if !errors.Is(err, kind) || (err != nil && !strings.Contains(err.Error(), words)) {
		t.Errorf("got error %v, want %v with %q", err, kind, words)
	}
	if err != nil && strings.Contains(err.Error(), "\n") {
		t.Errorf("the error has several lines: %q", err)
	}
	if got := names(t, dst); !slices.Equal(got, left) {
		t.Errorf("the folder holds %q, want %q", got, left)
	}
}

func checkContent(t *testing.T, path string, want []byte) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not the expected file (%d bytes, %v)", path, len(got), err)
	}
}

func TestMain(m *testing.M) {
	pause = time.Millisecond
	if url := os.Getenv("ARTIFACT_TEST_CHILD"); url != "" {
		if err := Fetch(context.Background(), pinned(url, content()), os.Getenv("ARTIFACT_TEST_DST"), Options{}); err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child starts this test binary as another process that fetches url to dst.
func child(url, dst string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), "ARTIFACT_TEST_CHILD="+url, "ARTIFACT_TEST_DST="+dst)
	return cmd
}
