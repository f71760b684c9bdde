//go:build !noxla

package backend

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tvps/ci/demand"
	"tvps/data/artifact"
)

const fakeWheel = "fake-0.0.1.whl"

func hexSum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// fakePlugin returns 200 kB that stand for a plugin.
func fakePlugin() []byte { return bytes.Repeat([]byte("not really a plugin."), 10_000) }

// makeWheel returns a wheel with the fake plugin.
func makeWheel() []byte {
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for _, name := range []string{"xla_plugins/xla_cpu_pjrt/__init__.py", pluginMember, "x.dist-info/RECORD"} {
		f, _ := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		f.Write(fakePlugin())
	}
	w.Close()
	return buf.Bytes()
}

func fakePins() map[string]artifact.Wheel {
	wheel := makeWheel()
	return map[string]artifact.Wheel{runtime.GOOS + "-" + runtime.GOARCH: pluginWheel(
		fakeWheel, hexSum(wheel), int64(len(wheel)), hexSum(fakePlugin()), int64(len(fakePlugin())))}
}

// index is a package index with one wheel.
type index struct {
	*httptest.Server
	wheel  []byte        // the content that it sends
	digest string        // the SHA-256 that it states
	page   string        // if not empty, it is sent instead of the index's description
	slow   time.Duration // delay before each download
	wheels atomic.Int32  // number of downloads
}

// newIndex starts an index. The options use it instead of PyPI, and an empty cache.
func newIndex(t *testing.T) (x *index, cache string, opts Options) {
	t.Setenv(PluginPathEnv, "")
	x = &index{wheel: makeWheel(), digest: hexSum(makeWheel())}
	x.Server = httptest.NewServer(x)
	t.Cleanup(x.Close)
	cache = t.TempDir()
	return x, cache, Options{CacheDir: cache, index: x.URL + "/json", pins: fakePins()}
}

func (x *index) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/json" && x.page != "" {
		w.Write([]byte(x.page))
		return
	}
	if r.URL.Path == "/json" {
		json.NewEncoder(w).Encode(map[string]any{"releases": map[string]any{pluginRelease: []any{
			map[string]any{"filename": "other.whl", "url": x.URL + "/other", "digests": map[string]string{"sha256": "00"}},
			map[string]any{"filename": fakeWheel, "url": x.URL + "/wheel", "digests": map[string]string{"sha256": x.digest}},
		}}})
		return
	}
	x.wheels.Add(1)
	time.Sleep(x.slow)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(x.wheel))
}

// files lists the names of all files under dir except lock files and stamps.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		lock := filepath.Base(path) == ".lock" || strings.HasSuffix(path, ".whl.lock")
		stamp := filepath.Base(filepath.Dir(path)) == "stamps"
		if err == nil && !d.IsDir() && !lock && !stamp {
			list = append(list, filepath.Base(path))
		}
		return err
	})
	demand.NoError(t, err)
	return list
}

// check compares an error with words ("" for no error), and the files in the cache with left.
func check(t *testing.T, err error, words, cache string, left ...string) {
	t.Helper()
	if words == "" {
		demand.NoError(t, err)
	} else {
		demand.Error(t, err, words)
	}
	if got := files(t, cache); !slices.Equal(got, left) {
		t.Errorf("the cache holds %q, want %q", got, left)
	}
}

func pluginPath(cache string) string {
	return filepath.Join(cache, "pjrt", pluginRelease+"-"+runtime.GOOS+"-"+runtime.GOARCH, pluginFile)
}
