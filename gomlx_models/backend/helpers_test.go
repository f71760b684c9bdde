//go:build !noxla

package backend

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tvps/ci/demand"
	"tvps/data/artifact"
)

// Names of the pinned plugin.
const (
	pluginFile   = "pjrt_c_api_cpu_plugin.so"
	pluginMember = "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so"
)

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

// fakePins pins the wheel at an address.
func fakePins(url string) map[string]artifact.Archive {
	wheel := makeWheel()
	return map[string]artifact.Archive{runtime.GOOS + "-" + runtime.GOARCH: {
		File: artifact.File{Name: "fake.whl", URL: url, SHA256: hexSum(wheel), Size: int64(len(wheel))},
		What: "the XLA plugin", Package: "xla-cpu-pjrt", Release: "0.0.1",
		Members: []artifact.Member{{Path: pluginMember, Name: pluginFile, SHA256: hexSum(fakePlugin()),
			Size: int64(len(fakePlugin())), Perm: 0o755}},
	}}
}

// index is a server with one wheel.
type index struct {
	*httptest.Server
	wheel  []byte        // the content that it sends
	slow   time.Duration // delay before each download
	wheels atomic.Int32  // number of downloads
}

// newIndex starts a server. The options use it instead of PyPI, and an empty cache.
func newIndex(t *testing.T) (x *index, cache string, opts Options) {
	t.Setenv(PluginPathEnv, "")
	x = &index{wheel: makeWheel()}
	x.Server = httptest.NewServer(x)
	t.Cleanup(x.Close)
	cache = t.TempDir()
	return x, cache, Options{CacheDir: cache, pins: fakePins(x.URL + "/fake.whl")}
}

func (x *index) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x.wheels.Add(1)
	time.Sleep(x.slow)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(x.wheel))
}

// files lists the names of all files under dir except lock files and stamps.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		lock := strings.HasSuffix(path, ".lock")
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
	demand.List(t, files(t, cache), left, "the cache")
}

func pluginPath(cache string) string {
	return filepath.Join(cache, "pjrt", "0.0.1-"+runtime.GOOS+"-"+runtime.GOARCH, pluginFile)
}
