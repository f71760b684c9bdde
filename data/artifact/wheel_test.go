package artifact

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"io/fs"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tvps/ci/demand"
)

// smallWheel returns a wheel of three files and its pin, which names two of them.
func smallWheel(t *testing.T) ([]byte, Wheel) {
	t.Helper()
	var buf bytes.Buffer
	archive := zip.NewWriter(&buf)
	for _, name := range []string{"p/a.xml", "p/unwanted", "p/meshes/b.stl"} {
		f, err := archive.Create(name)
		demand.NoError(t, err)
		f.Write([]byte("content of " + name))
	}
	archive.Close()
	member := func(path, name string) Member {
		content := []byte("content of " + path)
		sum := sha256.Sum256(content)
		return Member{Path: path, Name: name, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(content))}
	}
	f := pinned("", buf.Bytes())
	return buf.Bytes(), Wheel{
		Package: "p", Release: "1.0", Name: "p-1.0.whl", SHA256: f.SHA256, Size: f.Size, What: "the test file",
		Members: []Member{member("p/a.xml", ""), member("p/meshes/b.stl", "meshes/c.stl")},
	}
}

// serveWheel serves an index and the wheel. The index gives the wheel's URL relative to its
// own, as mirrors do.
func serveWheel(t *testing.T, data []byte, w Wheel) *server {
	return serve(t, func(s *server, out http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/pypi/p/json" {
			whole(data)(s, out, r)
			return
		}
		json.NewEncoder(out).Encode(map[string]any{"releases": map[string]any{"1.0": []release{
			{Filename: "other.whl", URL: "/other"},
			{Filename: w.Name, URL: "../../files/p.whl", Digests: map[string]string{"sha256": w.SHA256}},
		}}})
	})
}

func TestUnpackWheel(t *testing.T) {
	data, w := smallWheel(t)
	s, dir := serveWheel(t, data, w), t.TempDir()
	opts := WheelOptions{Index: s.URL + "/pypi/p/json"}
	if fetched, err := w.Unpack(t.Context(), dir, opts); err != nil || !fetched {
		t.Fatal(fetched, err)
	}
	check(t, nil, nil, "", filepath.Join(dir, "x"), "a.xml", "meshes")
	checkContent(t, filepath.Join(dir, "a.xml"), []byte("content of p/a.xml"))
	checkContent(t, w.Members[1].In(dir), []byte("content of p/meshes/b.stl"))

	requests := s.requests.Load()
	if fetched, err := w.Unpack(t.Context(), dir, opts); err != nil || fetched || s.requests.Load() != requests {
		t.Errorf("the second call: fetched %v, %d requests, %v", fetched, s.requests.Load()-requests, err)
	}
	os.WriteFile(w.Members[1].In(dir), []byte("content of p/meshes/B.stl"), 0o644)
	opts.NoFetch = true
	_, err := w.Unpack(t.Context(), dir, opts)
	check(t, err, ErrDamaged, "is damaged; the next run", filepath.Join(dir, "x"), "a.xml", "meshes")
	opts.NoFetch = false
	if fetched, err := w.Unpack(t.Context(), dir, opts); err != nil || !fetched {
		t.Error("the damaged member was not replaced:", err)
	}
	checkContent(t, w.Members[1].In(dir), []byte("content of p/meshes/b.stl"))
}

func TestUnpackWheelErrors(t *testing.T) {
	data, w := smallWheel(t)
	s, dir := serveWheel(t, data, w), t.TempDir()
	opts := WheelOptions{Index: s.URL + "/pypi/p/json", NoFetch: true}
	_, err := w.Unpack(t.Context(), dir, opts)
	check(t, err, fs.ErrNotExist, "the test file is not in", filepath.Join(dir, "x"))

	opts.NoFetch = false
	other := w
	other.Release = "2.0"
	fetched, err := other.Unpack(t.Context(), dir, opts)
	if err == nil || fetched || !strings.Contains(err.Error(), "does not list p-1.0.whl") {
		t.Error(fetched, err)
	}
	w.Members[1].SHA256 = strings.Repeat("0", 64)
	_, err = w.Unpack(t.Context(), dir, opts)
	check(t, err, ErrDamaged, "instead of 0000", filepath.Join(dir, "x"), "a.xml", "meshes", w.Name)

	s.Close()
	_, err = w.Unpack(t.Context(), t.TempDir(), opts)
	check(t, err, ErrNetwork, "cannot be reached", filepath.Join(dir, "x"), "a.xml", "meshes", w.Name)
}

// TestNotTheIndex: what answers with something else is told apart from a network that is down.
func TestNotTheIndex(t *testing.T) {
	_, w := smallWheel(t)
	nowhere := http.RedirectHandler("http://127.0.0.1:1", http.StatusFound)
	page := func(text string) http.Handler {
		return http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) { out.Write([]byte(text)) })
	}
	status := func(code int) http.Handler {
		return http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) { out.WriteHeader(code) })
	}
	spaces := bytes.Repeat([]byte(" "), 1<<20)
	for name, c := range map[string]struct {
		answer http.Handler
		start  func(http.Handler) *httptest.Server
		kind   error
		words  string
	}{
		"page":    {page("<html>log in first</html>"), httptest.NewServer, ErrNotIndex, "something answered for "},
		"nothing": {page(""), httptest.NewServer, ErrNotIndex, "unexpected end of JSON"},
		"list":    {page("[1]"), httptest.NewServer, ErrNotIndex, "cannot unmarshal array"},
		"message": {page(`{"message": "log in first"}`), httptest.NewServer, ErrNotIndex, "names no releases"},
		"endless": {http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
			for range 4 * maxIndex / len(spaces) { // then its reader has left
				if _, err := out.Write(spaces); err != nil {
					return
				}
			}
			t.Error("an endless answer was read to its end")
		}), httptest.NewServer, ErrNotIndex, "unexpected end of JSON"},
		"busy":        {status(503), httptest.NewServer, ErrStatus, `answered "503 Service Unavailable"`},
		"no access":   {status(511), httptest.NewServer, ErrNotIndex, `answered "511 Network`},
		"forbidden":   {status(403), httptest.NewServer, ErrNotIndex, `answered "403 Forbidden"`},
		"certificate": {page("{}"), httptest.NewTLSServer, ErrNotIndex, "certificate"},
		"refused":     {nowhere, httptest.NewServer, ErrNetwork, "refused"},
		"break": {http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
			cut(out, []byte(`{"releases": {`), 10)
		}), httptest.NewServer, ErrNetwork, "unexpected EOF); check the network"},
	} {
		t.Run(name, func(t *testing.T) {
			s := c.start(c.answer)
			defer s.Close()
			s.Config.ErrorLog = log.New(io.Discard, "", 0) // the failed handshake
			dir := t.TempDir()
			_, err := w.Unpack(t.Context(), dir, WheelOptions{Index: s.URL})
			check(t, err, c.kind, c.words, filepath.Join(dir, "x"))
		})
	}
}
