package artifact

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tvps/ci/demand"
)

// get downloads a file.
func get(ctx context.Context, f File) (data []byte, log string, err error) {
	var out, said bytes.Buffer
	err = f.download(ctx, &out, &said)
	return out.Bytes(), said.String(), err
}

func TestDownload(t *testing.T) {
	data := content()
	s := serve(t, whole(data))
	got, log, err := get(t.Context(), pinned(s.URL, data))
	if err != nil || !bytes.Equal(got, data) || s.requests.Load() != 1 {
		t.Errorf("%d bytes after %d requests, %v", len(got), s.requests.Load(), err)
	}
	demand.Words(t, log, "file.bin: 1.0 of 1.0 MB")
}

// What is not the file is an error after one request: altered or further bytes, a proxy's page with its length, a
// connection that breaks.
func TestAnotherAnswer(t *testing.T) {
	data, page := content(), []byte("<html>log in first</html>")
	altered := slices.Clone(data)
	altered[999_999]++
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		kind   error
		words  string
	}{
		"altered":   {whole(altered), ErrDamaged, "instead of " + pinned("", data).SHA256},
		"too long":  {whole(append(slices.Clone(data), 'x')), ErrDamaged, "1000001 bytes instead of 1000000"},
		"too short": {whole(data[:900_000]), ErrDamaged, "900000 bytes instead of 1000000"},
		"a page":    {whole(page), ErrDamaged, "25 bytes instead of 1000000"},
		"without its length": {func(w http.ResponseWriter, _ *http.Request) {
			w.(http.Flusher).Flush()
			w.Write(append(slices.Clone(data), 'x'))
		}, ErrDamaged, "1000001 bytes instead of 1000000"},
		"status": {func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "gone", http.StatusNotFound)
		}, errStatus, `"404 Not Found"`},
		"broken": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000000")
			w.Write(data[:400_000])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, ErrNetwork, "cannot download file.bin"},
	} {
		s := serve(t, c.answer)
		_, _, err := get(t.Context(), pinned(s.URL, data))
		if demand.Error(t, err, c.words); !errors.Is(err, c.kind) || s.requests.Load() > 1 {
			t.Errorf("%s: %d requests, %v", name, s.requests.Load(), err)
		}
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "1000000")
		w.Write(content()[:500_000])
		w.(http.Flusher).Flush()
		cancel()
		<-r.Context().Done()
	})
	if _, _, err := get(ctx, pinned(s.URL, content())); !errors.Is(err, context.Canceled) || errors.Is(err, ErrNetwork) {
		t.Errorf("the error is not the context's alone: %v", err)
	}
}

// /dev/full answers every write with "no space left on device".
func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full here")
	}
	defer full.Close()
	s := serve(t, whole(content()))
	err = explainDisk(pinned(s.URL, content()).download(t.Context(), full, nil), "dir/file", "file.bin")
	if demand.Error(t, err, "is full"); !errors.Is(err, ErrDiskFull) || s.requests.Load() != 1 {
		t.Errorf("%d requests on a full disk, %v", s.requests.Load(), err)
	}
}

func TestLockWaitsUntilContextEnds(t *testing.T) {
	dst := filepath.Join(t.TempDir(), "file")
	unlock, err := Lock(t.Context(), dst+".lock", "x", nil)
	demand.NoError(t, err)
	defer unlock()
	for wait, says := range map[time.Duration]bool{50 * time.Millisecond: false, quietWait + 300*time.Millisecond: true} {
		ctx, cancel := context.WithTimeout(t.Context(), wait)
		var log bytes.Buffer
		_, err = Lock(ctx, dst+".lock", "the file", &log)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || strings.Contains(log.String(), "waiting for another process") != says {
			t.Errorf("after %v: got %v, log %q", wait, err, log.String())
		}
	}
}

func TestCacheDir(t *testing.T) {
	t.Setenv("TVPS_CACHE", "some/where")
	if dir, err := CacheDir(); err != nil || !filepath.IsAbs(dir) || !strings.HasSuffix(dir, "some/where") {
		t.Errorf("%q, %v", dir, err)
	}
	t.Setenv("TVPS_CACHE", "")
	t.Setenv("XDG_CACHE_HOME", "/x/cache")
	if dir, err := CacheDir(); err != nil || dir != "/x/cache/tvps" {
		t.Errorf("%q, %v", dir, err)
	}
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("HOME", "")
	_, err := CacheDir()
	demand.Error(t, err, "TVPS_CACHE")
}
