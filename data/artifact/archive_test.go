package artifact

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tvps/ci/demand"

	"github.com/klauspost/compress/gzip"
)

// smallFiles are the files of the archives: two are to be unpacked, one leads out of the folder.
var smallFiles = []string{"p/a.xml", "p/unwanted", "../../escaped", "p/meshes/b.stl"}

func smallContent(name string) []byte { return []byte("content of " + name) }

func smallZip(t *testing.T) []byte {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, name := range smallFiles {
		f, err := w.Create(name)
		demand.NoError(t, err)
		f.Write(smallContent(name))
	}
	w.Close()
	return out.Bytes()
}

func smallTar(t *testing.T) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	for _, name := range smallFiles {
		content := smallContent(name)
		demand.NoError(t, w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))}))
		w.Write(content)
	}
	w.Close()
	z.Close()
	return out.Bytes()
}

// pinnedArchive is the pin of an archive at that address.
func pinnedArchive(url string, data []byte) Archive {
	member := func(path, name string) Member {
		sum := sha256.Sum256(smallContent(path))
		return Member{Path: path, Name: name, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(smallContent(path)))}
	}
	return Archive{File: pinned(url, data), What: "the test file",
		Members: []Member{member("p/a.xml", ""), member("p/meshes/b.stl", "meshes/c.stl")}}
}

func TestUnpack(t *testing.T) {
	for name, data := range map[string][]byte{"p.whl": smallZip(t), "p.tar.gz": smallTar(t)} {
		s, parent := serve(t, whole(data)), t.TempDir()
		a, dir := pinnedArchive(s.URL+"/"+name, data), filepath.Join(parent, "dir")
		if fetched, err := a.Unpack(t.Context(), dir, Options{}); err != nil || !fetched {
			t.Fatal(name, fetched, err)
		}
		check(t, nil, nil, "", dir, "dir")
		check(t, nil, nil, "", filepath.Join(dir, "x"), "a.xml", "meshes")
		demand.Equal(t, string(demand.Read(t, filepath.Join(dir, "a.xml"))), "content of p/a.xml", "a.xml")
		demand.Equal(t, string(demand.Read(t, a.Members[1].In(dir))), "content of p/meshes/b.stl", "meshes/c.stl")

		requests := s.requests.Load()
		if fetched, err := a.Unpack(t.Context(), dir, Options{}); err != nil || fetched || s.requests.Load() != requests {
			t.Errorf("the second call: fetched %v, %d requests, %v", fetched, s.requests.Load()-requests, err)
		}
		os.WriteFile(a.Members[1].In(dir), []byte("content of p/meshes/B.stl"), 0o644)
		_, err := a.Unpack(t.Context(), dir, Options{NoFetch: true})
		check(t, err, ErrDamaged, "is damaged; it is fetched again", filepath.Join(dir, "x"), "a.xml", "meshes")
		killed := []string{dir + "-" + name, filepath.Join(dir, "a.xml")}
		for _, path := range killed {
			demand.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"1"), nil, 0o600))
		}
		if fetched, err := a.Unpack(t.Context(), dir, Options{}); err != nil || !fetched {
			t.Error("the damaged member was not replaced:", err)
		}
		for _, path := range killed {
			left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".[a-z]*1"))
			demand.NoError(t, err)
			demand.List(t, left, nil, "what a killed process has left")
		}
		demand.Equal(t, string(demand.Read(t, a.Members[1].In(dir))), "content of p/meshes/b.stl", "meshes/c.stl")
	}
}

func TestUnpackErrors(t *testing.T) {
	data := smallZip(t)
	s, parent := serve(t, whole(data)), t.TempDir()
	a, dir := pinnedArchive(s.URL+"/p.whl", data), filepath.Join(parent, "dir")
	_, err := a.Unpack(t.Context(), dir, Options{NoFetch: true})
	check(t, err, fs.ErrNotExist, "the test file is not in", filepath.Join(parent, "x"))

	other := a
	other.Members = append(other.Members[:2:2], Member{Path: "p/c", Size: 1})
	_, err = other.Unpack(t.Context(), filepath.Join(parent, "other"), Options{})
	demand.Error(t, err, "has 2 of the 3 files of the test file")

	_, err = a.Unpack(demand.Cancelled(), dir, Options{})
	demand.Error(t, err, "context canceled")
	a.Members[1].SHA256 = strings.Repeat("0", 64)
	_, err = a.Unpack(t.Context(), dir, Options{})
	check(t, err, ErrDamaged, "instead of 0000", filepath.Join(dir, "x"), "a.xml", "meshes")

	plain := filepath.Join(t.TempDir(), "plain")
	demand.Write(t, plain, "")
	for cache, advice := range map[string]string{
		plain: "writable or set TVPS_CACHE to another one", t.TempDir(): "writable",
	} {
		t.Setenv("TVPS_CACHE", cache)
		_, err = a.Unpack(t.Context(), filepath.Join(plain, "sub", "dst"), Options{})
		check(t, err, ErrNotWritable, "make the folder "+advice, plain, "plain")
		demand.Equal(t, strings.HasSuffix(err.Error(), advice), true, "%v ends with %q", err, advice)
	}

	s.Close() // the port is closed now
	nowhere := t.TempDir()
	_, err = a.Unpack(t.Context(), filepath.Join(nowhere, "dir"), Options{})
	check(t, err, ErrNetwork, "connection refused", filepath.Join(nowhere, "x"))
}
