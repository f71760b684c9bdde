package cifar10

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"tvps/ci/demand"
	"tvps/data/artifact"

	"github.com/klauspost/compress/gzip"
)

// The order is TVPS_DATA, the cache, the sample.
func TestFind(t *testing.T) {
	root := t.TempDir()
	cache, named := filepath.Join(root, "cache"), filepath.Join(root, "named")
	t.Setenv("TVPS_CACHE", cache)
	t.Setenv("TVPS_DATA", "")
	find := func(want string) {
		t.Helper()
		if got, err := Find(); err != nil || got != want {
			t.Errorf("found %q (%v), want %q", got, err, want)
		}
	}
	find("")
	sample, _ := Sample()
	if d, err := Load(); err != nil || d != sample {
		t.Errorf("without TVPS_DATA and cache: %v, or not the sample", err)
	}
	find(fakeDir(t, filepath.Join(cache, folder)))
	inside := fakeDir(t, filepath.Join(named, folder))
	t.Setenv("TVPS_DATA", named)
	find(inside)
	t.Setenv("TVPS_DATA", inside)
	find(inside)
}

// A TVPS_DATA that cannot be used is an error; the sample never replaces it.
func TestLoadNamedFolder(t *testing.T) {
	root := t.TempDir()
	t.Setenv("TVPS_CACHE", filepath.Join(root, "cache"))
	t.Setenv("TVPS_DATA", filepath.Join(root, "nowhere"))
	_, err := Load()
	demand.Error(t, err, filepath.Join(root, "nowhere"), "TVPS_DATA", folder)
	t.Setenv("TVPS_DATA", root)
	_, err = Load()
	demand.Error(t, err, "TVPS_DATA", "data_batch_1.bin")
	dir := fakeDir(t, filepath.Join(root, "data"))
	t.Setenv("TVPS_DATA", dir)
	resize(t, filepath.Join(dir, "data_batch_1.bin"), 100)
	_, err = Load()
	demand.Error(t, err, "data_batch_1.bin", "byte 100 of")
}

// smallDir creates six files of 20 zero bytes with the official names; sums are their SHA-256.
func smallDir(t *testing.T) (dir string, sums map[string]string) {
	t.Helper()
	dir, sums = t.TempDir(), map[string]string{}
	for _, name := range officialFiles {
		resize(t, filepath.Join(dir, name), 20)
		sums[name], _ = artifact.SHA256(filepath.Join(dir, name))
	}
	return dir, sums
}

func TestVerify(t *testing.T) {
	dir, zero := smallDir(t)
	demand.NoError(t, verify(dir, zero))
	demand.Error(t, Verify(dir), "data_batch_1.bin", "SHA-256", zero["test_batch.bin"])
	put(t, filepath.Join(dir, "test_batch.bin"), 19, 1)
	demand.Error(t, verify(dir, zero), "test_batch.bin", "not the official file")
	os.Remove(filepath.Join(dir, "data_batch_3.bin"))
	demand.Error(t, verify(dir, zero), "data_batch_3.bin", "no such file")
}

// tarball returns an archive of small files with the official names, another file and one
// whose path leads out of the folder, and the SHA-256 of all of them.
func tarball(t *testing.T) (data []byte, sums map[string]string) {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	sums = map[string]string{}
	for _, name := range append([]string{"readme.html", "../../escaped"}, officialFiles...) {
		content := bytes.Repeat([]byte(name), 1000)
		demand.NoError(t, w.WriteHeader(&tar.Header{Name: folder + "/" + name, Mode: 0o644, Size: int64(len(content))}))
		w.Write(content)
		sum := sha256.Sum256(content)
		sums[name] = hex.EncodeToString(sum[:])
	}
	w.Close()
	z.Close()
	return out.Bytes(), sums
}

func serve(t *testing.T, data []byte) artifact.File {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	}))
	t.Cleanup(s.Close)
	sum := md5.Sum(data)
	return artifact.File{
		Name: "CIFAR-10", URL: s.URL + "/a.tar.gz", MD5: hex.EncodeToString(sum[:]), Size: int64(len(data)),
	}
}

// left lists the entries of the cache except lock files.
func left(t *testing.T, cache string) (names []string) {
	t.Helper()
	entries, _ := os.ReadDir(cache)
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".lock" {
			names = append(names, e.Name())
		}
	}
	return names
}

func TestDownload(t *testing.T) {
	data, sums := tarball(t)
	file := serve(t, data)
	cache := t.TempDir()
	dir := filepath.Join(cache, folder)
	fakeDir(t, dir) // damaged: to be replaced
	os.MkdirAll(dir+".new/leftover", 0o755)
	for _, from := range []artifact.File{file, {}} { // once it is complete nothing is downloaded
		demand.NoError(t, download(t.Context(), from, sums, dir, nil))
		demand.NoError(t, verify(dir, sums))
	}
	if names := left(t, cache); len(names) != 1 || len(left(t, dir)) != 6 {
		t.Errorf("the cache holds %q and the folder %q", names, left(t, dir))
	}
}

func TestDownloadFailures(t *testing.T) {
	data, sums := tarball(t)
	wrong := map[string]string{}
	tests := []struct {
		name  string
		ctx   context.Context
		data  []byte
		sums  map[string]string
		words []string
	}{
		{"not gzip", t.Context(), []byte("<html>not found</html>"), sums, []string{"cannot unpack", "a.tar.gz"}},
		{"short", t.Context(), data[:len(data)/2], sums, []string{"cannot unpack", "unexpected EOF"}},
		{"other files", t.Context(), data, wrong, []string{"does not have the official files", "data_batch_1.bin"}},
		{"cancelled", demand.Cancelled(), data, sums, []string{"context canceled"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), folder)
			err := download(test.ctx, serve(t, test.data), test.sums, dir, nil)
			demand.Error(t, err, test.words...)
			for _, path := range []string{dir, dir + ".new"} {
				if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("%s was left behind", path)
				}
			}
		})
	}
}

// Download returns no folder together with an error.
func TestDownloadCancelled(t *testing.T) {
	t.Setenv("TVPS_CACHE", t.TempDir())
	if dir, err := Download(demand.Cancelled(), nil); !errors.Is(err, context.Canceled) || dir != "" {
		t.Errorf("got %q, %v", dir, err)
	}
}
