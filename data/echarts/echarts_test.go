package echarts

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tvps/data/artifact"
)

var script = []byte(`!function(){t.version="5.6.0"}();`)

// altered has the length of script, but not its bytes.
var altered = bytes.Replace(script, []byte("!"), []byte("+"), 1)

// tarball returns an npm package with the file name. It is not compressed, so its length
// depends only on the length of text.
func tarball(t *testing.T, name string, text []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped, _ := gzip.NewWriterLevel(&out, gzip.NoCompression)
	members := tar.NewWriter(zipped)
	for _, m := range []struct {
		name string
		text []byte
	}{{"package/package.json", []byte("{}")}, {name, text}} {
		if err := members.WriteHeader(&tar.Header{Name: m.name, Mode: 0o644, Size: int64(len(m.text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := members.Write(m.text); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(members.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func pin(name string, data []byte) artifact.File {
	sum := sha256.Sum256(data)
	return artifact.File{Name: name, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(data))}
}

// serve answers each path with its bytes and anything else with 404.
func serve(t *testing.T, files map[string][]byte) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, ok := files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Write(data)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func npmSource(base string, archive artifact.File) source {
	address := func(context.Context) (string, error) { return base, nil }
	return source{script: pin("test script", script), archive: archive, address: address}
}

func TestEnsureFromRegistry(t *testing.T) {
	packed := tarball(t, member, script)
	base := serve(t, map[string][]byte{"/npm/echarts/-/e.tgz": packed})
	t.Setenv("NPM_CONFIG_REGISTRY", base+"/npm/")
	s := npmSource("", pin("e.tgz", packed))
	s.address = registry

	dst := filepath.Join(t.TempDir(), "a folder", FileName)
	if err := Ensure(t.Context(), dst, Options{sources: []source{s}}); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(dst); !bytes.Equal(got, script) {
		t.Errorf("%s holds %q", dst, got)
	}
	if left := names(t, filepath.Dir(dst)); !slices.Equal(left, []string{FileName}) {
		t.Errorf("the folder holds %q, want only the script", left)
	}
	// A second call needs no source.
	if err := Ensure(t.Context(), dst, Options{sources: []source{{}}}); err != nil {
		t.Errorf("the second call: %v", err)
	}
}

func TestEnsureRefusesOtherBytes(t *testing.T) {
	packed := tarball(t, member, script)
	other := tarball(t, member, altered)
	nothing := tarball(t, "package/README.md", script)
	base := serve(t, map[string][]byte{
		"/echarts/-/e.tgz": other, "/echarts/-/none.tgz": nothing, "/echarts/-/text.tgz": script, "/e.js": altered,
	})
	alone := source{script: pin("test script", script)}
	alone.script.URL = base + "/e.js"
	for name, c := range map[string]struct {
		source source
		words  string
	}{
		"archive with another hash":       {npmSource(base, pin("e.tgz", packed)), "damaged or was altered"},
		"archive with another script":     {npmSource(base, pin("e.tgz", other)), "instead of " + pin("", script).SHA256},
		"archive without the script":      {npmSource(base, pin("none.tgz", nothing)), "has no " + member},
		"script alone, with another hash": {alone, "damaged or was altered"},
		"nothing at that address":         {npmSource(base, pin("gone.tgz", packed)), "404"},
		"a registry that does not exist":  {npmSource("http://127.0.0.1:1", pin("e.tgz", packed)), "cannot download"},
		"a file that is not an archive":   {npmSource(base, pin("text.tgz", script)), "gzip"},
	} {
		dst := filepath.Join(t.TempDir(), FileName)
		err := Ensure(t.Context(), dst, Options{sources: []source{c.source}})
		if err == nil || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: got error %v, want one with %q", name, err, c.words)
		}
		if left := names(t, filepath.Dir(dst)); len(left) > 0 {
			t.Errorf("%s: left %q behind", name, left)
		}
	}
}

func TestEnsureTriesTheNextSource(t *testing.T) {
	alone := source{script: pin("test script", script)}
	alone.script.URL = serve(t, map[string][]byte{"/e.js": script}) + "/e.js"
	dst := filepath.Join(t.TempDir(), FileName)
	unreachable := npmSource("http://127.0.0.1:1", pin("e.tgz", script))
	if err := Ensure(t.Context(), dst, Options{sources: []source{unreachable, alone}}); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(dst); !bytes.Equal(got, script) {
		t.Errorf("%s holds %q", dst, got)
	}
}

func TestEnsureOwnFile(t *testing.T) {
	dir := t.TempDir()
	dst := filepath.Join(dir, "data", FileName)
	own, wrong := filepath.Join(dir, "own.js"), filepath.Join(dir, "wrong.js")
	old := []byte(`t.version="5.1.2"`)
	for path, text := range map[string][]byte{own: old, wrong: []byte(`t.version="4.9.0"`)} {
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := Ensure(t.Context(), dst, Options{File: own}); err != nil {
		t.Fatal(err)
	}
	if name, pinned, err := Check(dst); name != "ECharts 5.1.2" || pinned || err != nil {
		t.Errorf("Check says %q, pinned %v, %v", name, pinned, err)
	}
	err := Ensure(t.Context(), dst, Options{File: wrong})
	if err == nil || !strings.Contains(err.Error(), "not a script of ECharts 5") {
		t.Errorf("ECharts 4 was accepted: %v", err)
	}
	if got, _ := os.ReadFile(dst); !bytes.Equal(got, old) {
		t.Errorf("after a failure the file has %q", got)
	}
}

func TestEnsureStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	packed := tarball(t, member, script)
	dst := filepath.Join(t.TempDir(), FileName)
	s := npmSource(serve(t, nil), pin("e.tgz", packed))
	if err := Ensure(ctx, dst, Options{sources: []source{s}}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}
