package artifact

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tvps/ci/demand"
)

func TestFetch(t *testing.T) {
	data := content()
	s := serve(t, whole(data))
	dst := filepath.Join(t.TempDir(), "new", "file")
	var log bytes.Buffer
	err := fetch(t.Context(), pinned(s.URL, data), dst, &log)
	check(t, err, nil, "", dst, "file")
	checkContent(t, dst, data)
	demand.Words(t, log.String(), "file.bin: 1.0 of 1.0 MB")
	if err := fetch(t.Context(), pinned(s.URL, data), dst, nil); err != nil || s.requests.Load() != 1 {
		t.Errorf("second call: %v after %d requests", err, s.requests.Load())
	}
	damaged := slices.Clone(data)
	damaged[500_000]++
	os.WriteFile(dst, damaged, 0o644)
	check(t, fetch(t.Context(), pinned(s.URL, data), dst, nil), nil, "", dst, "file")
	checkContent(t, dst, data)
}

// What is not the file is told from an interruption by one request, and leaves nothing: altered or further bytes, a
// proxy's page with its length.
func TestAnotherAnswer(t *testing.T) {
	data, page := content(), []byte("<html>log in first</html>")
	altered := slices.Clone(data)
	altered[999_999]++
	for name, c := range map[string]struct {
		answer handler
		kind   error
		words  string
	}{
		"altered":   {whole(altered), ErrDamaged, "instead of " + pinned("", data).SHA256},
		"too long":  {whole(append(slices.Clone(data), 'x')), ErrDamaged, "1000001 bytes instead of 1000000"},
		"too short": {whole(data[:900_000]), ErrDamaged, "900000 bytes instead of 1000000"},
		"a page":    {whole(page), ErrDamaged, "25 bytes instead of 1000000"},
		"without its length": {func(_ *server, w http.ResponseWriter, _ *http.Request) {
			w.(http.Flusher).Flush()
			w.Write(append(slices.Clone(data), 'x'))
		}, ErrDamaged, "1000001 bytes instead of 1000000"},
		"status": {func(_ *server, w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "gone", http.StatusNotFound)
		}, errStatus, `"404 Not Found"`},
	} {
		t.Run(name, func(t *testing.T) {
			s, dst := serve(t, c.answer), filepath.Join(t.TempDir(), "file")
			check(t, fetch(t.Context(), pinned(s.URL, data), dst, nil), c.kind, c.words, dst)
			if n := s.requests.Load(); n > 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// A connection that breaks is tried again in the same call.
func TestResumeAtOnce(t *testing.T) {
	data := content()
	s := serve(t, func(s *server, w http.ResponseWriter, r *http.Request) {
		if s.requests.Load() == 1 {
			cut(w, data, 400_000)
		}
		whole(data)(s, w, r)
	})
	dst := filepath.Join(t.TempDir(), "file")
	check(t, fetch(t.Context(), pinned(s.URL, data), dst, nil), nil, "", dst, "file")
	checkContent(t, dst, data)
}

// A download that was interrupted in one call resumes in the next.
func TestResumeInNextCall(t *testing.T) {
	data := content()
	var interrupting atomic.Bool
	interrupting.Store(true)
	s := serve(t, func(s *server, w http.ResponseWriter, r *http.Request) {
		if interrupting.Load() {
			if r.Header.Get("Range") != "" {
				panic(http.ErrAbortHandler)
			}
			cut(w, data, 400_000)
		}
		whole(data)(s, w, r)
	})
	dst := filepath.Join(t.TempDir(), "file")
	err := fetch(t.Context(), pinned(s.URL, data), dst, nil)
	check(t, err, ErrNetwork, "cannot download file.bin", dst, "file.part")
	part := partSize(dst + ".part")
	if part == 0 || part >= 1_000_000 {
		t.Fatalf("the part has %d bytes", part)
	}
	interrupting.Store(false)
	check(t, fetch(t.Context(), pinned(s.URL, data), dst, nil), nil, "", dst, "file")
	checkContent(t, dst, data)
	if last := s.ranges[len(s.ranges)-1]; last != fmt.Sprintf("bytes=%d-", part) {
		t.Errorf("the download did not resume at %d: Range %q", part, last)
	}
}

// If a part has wrong bytes, or the server does not support ranges, the file is downloaded
// from the start.
func TestStalePart(t *testing.T) {
	data := content()
	noRanges := func(_ *server, w http.ResponseWriter, _ *http.Request) { w.Write(data) }
	for name, handler := range map[string]handler{"ranges": whole(data), "no ranges": noRanges} {
		s := serve(t, handler)
		for _, size := range []int{1, 300_000, 1_000_000, 1_200_000} {
			dst := filepath.Join(t.TempDir(), "file")
			os.WriteFile(dst+".part", bytes.Repeat([]byte{'x'}, size), 0o644)
			if err := fetch(t.Context(), pinned(s.URL, data), dst, nil); err != nil {
				t.Errorf("%s, part of %d: %v", name, size, err)
			}
			checkContent(t, dst, data)
		}
	}
}

func TestNoNetwork(t *testing.T) {
	s := serve(t, whole(nil))
	s.Close() // the port is closed now
	dst := filepath.Join(t.TempDir(), "file")
	start := time.Now()
	check(t, fetch(t.Context(), pinned(s.URL, content()), dst, nil), ErrNetwork, "connection refused", dst)
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("the error took %v", took)
	}
}

func TestStall(t *testing.T) {
	data := content()
	release := make(chan struct{})
	s := serve(t, func(_ *server, w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "1000000")
		w.(http.Flusher).Flush()
		<-release
	})
	defer close(release)
	defer func(old time.Duration) { stall = old }(stall)
	stall = 500 * time.Millisecond
	dst := filepath.Join(t.TempDir(), "file")
	err := fetch(t.Context(), pinned(s.URL, data), dst, nil)
	check(t, err, ErrNetwork, "no data for 500ms", dst, "file.part")
}

func TestCancel(t *testing.T) {
	data := content()
	dst := filepath.Join(t.TempDir(), "file")
	ctx, cancel := context.WithCancel(t.Context())
	s := serve(t, func(_ *server, w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "1000000")
		w.Write(data[:500_000])
		w.(http.Flusher).Flush()
		for partSize(dst+".part") == 0 {
			time.Sleep(time.Millisecond)
		}
		cancel()
		<-r.Context().Done()
	})
	err := fetch(ctx, pinned(s.URL, data), dst, nil)
	check(t, err, context.Canceled, "", dst, "file.part")
	if errors.Is(err, ErrNetwork) {
		t.Errorf("the error is ErrNetwork, want only the context's: %v", err)
	}
}

// /dev/full answers every write with "no space left on device".
func TestFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full here")
	}
	data := content()
	s := serve(t, whole(data))
	dst := filepath.Join(t.TempDir(), "file")
	os.Symlink("/dev/full", dst+".part")
	err := fetch(t.Context(), pinned(s.URL, data), dst, nil)
	check(t, err, ErrDiskFull, "is full", dst, "file.part")
	if s.requests.Load() != 1 {
		t.Errorf("%d requests on a full disk", s.requests.Load())
	}
}

func TestNotWritable(t *testing.T) {
	data := content()
	s := serve(t, whole(data))
	file := filepath.Join(t.TempDir(), "plain")
	os.WriteFile(file, nil, 0o644)
	err := fetch(t.Context(), pinned(s.URL, data), filepath.Join(file, "sub", "dst"), nil)
	check(t, err, ErrNotWritable, "TVPS_CACHE", file, "plain")
	if s.requests.Load() != 0 {
		t.Error("downloaded although the file cannot be written")
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
