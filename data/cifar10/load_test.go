package cifar10

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"tvps/ci/demand"
	"tvps/data/artifact"
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
	demand.Error(t, err, "data_batch_1.bin", "has 100 bytes")
}

// TestVerify: the error names the first file that is not the official one, or is missing.
func TestVerify(t *testing.T) {
	dir := t.TempDir()
	resize(t, filepath.Join(dir, "data_batch_1.bin"), 20)
	zero, _ := artifact.SHA256(filepath.Join(dir, "data_batch_1.bin"))
	demand.Error(t, Verify(dir), "data_batch_1.bin", "not the official file", zero)
	os.Remove(filepath.Join(dir, "data_batch_1.bin"))
	demand.Error(t, Verify(dir), "data_batch_1.bin", "no such file")
}

// Download returns no folder together with an error.
func TestDownloadCancelled(t *testing.T) {
	t.Setenv("TVPS_CACHE", t.TempDir())
	if dir, err := Download(demand.Cancelled(), nil); !errors.Is(err, context.Canceled) || dir != "" {
		t.Errorf("got %q, %v", dir, err)
	}
}
