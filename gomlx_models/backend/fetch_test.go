//go:build !noxla

package backend

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tvps/ci/demand"
	"tvps/data/artifact"
)

func TestFetchPlugin(t *testing.T) {
	x, cache, opts := newIndex(t)
	got, err := findCPU(t.Context(), opts)
	check(t, err, "", cache, pluginFile)
	if got.path != pluginPath(cache) || got.source != "PyPI" || got.version != "xla-cpu-pjrt 0.0.1" {
		t.Errorf("found %+v", got)
	}
	if data, _ := os.ReadFile(got.path); !bytes.Equal(data, fakePlugin()) {
		t.Error("the unpacked plugin differs")
	}
	if info, _ := os.Stat(got.path); info.Mode().Perm()&0o555 != 0o555 {
		t.Errorf("mode %v", info.Mode())
	}
	x.Close() // the second time the plugin must come from the cache
	if got, err = findCPU(t.Context(), opts); err != nil || got.source != "cache" {
		t.Errorf("second time: %+v, %v", got, err)
	}
}

func TestDamagedCachedPlugin(t *testing.T) {
	x, cache, opts := newIndex(t)
	_, err := findCPU(t.Context(), opts)
	check(t, err, "", cache, pluginFile)
	damaged := fakePlugin()
	damaged[7] ^= 1
	os.WriteFile(pluginPath(cache), damaged, 0o755)
	var log bytes.Buffer
	opts.Log = &log
	_, err = findCPU(t.Context(), opts)
	check(t, err, "", cache, pluginFile)
	if sum, _ := artifact.SHA256(pluginPath(cache)); sum != hexSum(fakePlugin()) {
		t.Error("the damaged plugin is still there")
	}
	demand.Words(t, log.String(), "is damaged")
	x.Close()
	os.WriteFile(pluginPath(cache), nil, 0o755)
	opts.NoFetch = true
	_, err = findCPU(t.Context(), opts)
	check(t, err, "is damaged; it is fetched again", cache, pluginFile)
	opts.NoFetch = false
	for _, name := range []string{XLACPU, Default, Default} { // offline: no other is taken, the second time neither
		_, err = Open(t.Context(), name, opts)
		check(t, err, "is damaged and cannot be fetched again: cannot download fake.whl", cache, pluginFile)
		if !errors.Is(err, artifact.ErrDamaged) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestReadOnlyCache: a plugin is used where neither a lock nor a stamp can be written.
func TestReadOnlyCache(t *testing.T) {
	x, cache, opts := newIndex(t)
	x.Close()
	os.MkdirAll(filepath.Dir(pluginPath(cache)), 0o755)
	os.MkdirAll(filepath.Dir(pluginPath(cache))+".lock", 0o755)
	os.WriteFile(filepath.Join(cache, "pjrt", "stamps"), nil, 0o644)
	os.WriteFile(pluginPath(cache), fakePlugin(), 0o755)
	if got, err := findCPU(t.Context(), opts); err != nil || got.source != "cache" {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestFetchOnce: of two runs one downloads.
func TestFetchOnce(t *testing.T) {
	x, cache, opts := newIndex(t)
	x.slow = 100 * time.Millisecond // so that both run at the same time
	var wait sync.WaitGroup
	for range 2 {
		wait.Go(func() {
			if _, err := findCPU(t.Context(), opts); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	check(t, nil, "", cache, pluginFile)
	if n := x.wheels.Load(); n != 1 {
		t.Errorf("%d downloads", n)
	}
}

func TestNoNetwork(t *testing.T) {
	x, cache, opts := newIndex(t)
	x.Close()
	_, err := Open(t.Context(), XLACPU, opts)
	check(t, err, "cannot find or download an XLA plugin: cannot download fake.whl", cache)
}

// TestServerRefuses: where the server answers with an error, or its certificate is not trusted, Default runs on Go, and
// its warning says why.
func TestServerRefuses(t *testing.T) {
	_, _, opts := newIndex(t)
	broken := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	plain, secret := httptest.NewServer(broken), httptest.NewTLSServer(broken)
	defer plain.Close()
	defer secret.Close()
	secret.Config.ErrorLog = log.New(io.Discard, "", 0)
	for url, words := range map[string]string{plain.URL: `answered "503 Service Unavailable"; try again later`,
		secret.URL: "certificate signed by unknown authority); check the network and proxy settings"} {
		var said bytes.Buffer
		opts.Log, opts.pins = &said, fakePins(url+"/fake.whl")
		b, err := Open(t.Context(), Default, opts)
		demand.NoError(t, err)
		demand.Words(t, said.String(), "warning: running on the pure Go backend, 10 to 30 times slower than XLA", words)
		if b.Finalize(); b.Info.Name != Go || strings.Count(said.String(), "\n") != 1 {
			t.Errorf("opened %q, said %q", b.Info.Name, said.String())
		}
	}
}

func TestCancelled(t *testing.T) {
	_, _, opts := newIndex(t)
	if _, err := Open(demand.Cancelled(), Default, opts); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestNoUnpinnedPlugin: what is not the pinned plugin is not loaded, also if it is altered on its way or cannot be had.
// Default then fails, and runs on Go only if there is no network.
func TestNoUnpinnedPlugin(t *testing.T) {
	x, cache, opts := newIndex(t)
	x.wheel[100_000] ^= 1 // TestAnotherAnswer of package artifact has other answers
	for _, name := range []string{Default, XLACPU} {
		b, err := Open(t.Context(), name, opts)
		if b != nil || !errors.Is(err, artifact.ErrDamaged) {
			t.Errorf("backend %q: %v", name, err)
		}
		check(t, err, "no XLA plugin was loaded", cache)
	}
}
