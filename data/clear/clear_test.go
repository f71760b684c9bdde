package clear

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
)

// miniature has 3 images of 4 values of each class and bucket.
const miniature = "testdata/clear10-public.zip"

// folder returns the miniature, unpacked in the folder base of a new one.
func folder(t *testing.T, base string) (root string) {
	t.Helper()
	z, err := zip.OpenReader(miniature)
	demand.NoError(t, err)
	defer z.Close()
	root = t.TempDir()
	demand.NoError(t, os.CopyFS(filepath.Join(root, base), z))
	return root
}

// zipped returns a zip of a folder.
func zipped(t *testing.T, root string) string {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "data.zip"))
	demand.NoError(t, err)
	z := zip.NewWriter(file)
	demand.NoError(t, errors.Join(z.AddFS(os.DirFS(root)), z.Close(), file.Close()))
	return file.Name()
}

// The same features in every layout give the same set and sum.
func TestLayouts(t *testing.T) {
	var want []float32 // by the formula in make.py
	for bucket := range Buckets {
		for class := range Classes {
			for i := range 3 {
				for j := range 4 {
					want = append(want, float32((bucket+1)*1000+(class+1)*10+i)+float32(j)/64)
				}
			}
		}
	}
	cache := t.TempDir()
	demand.Write(t, filepath.Join(cache, "clear10-public.zip"), demand.Read(t, miniature))
	parts := folder(t, "train")
	demand.NoError(t, os.CopyFS(filepath.Join(parts, "test"), os.DirFS(filepath.Join(parts, "train"))))
	demand.NoError(t, os.RemoveAll(filepath.Join(parts, "test/features/moco_b0/1")))
	for name, path := range map[string]string{
		"zip": miniature, "folder": folder(t, ""), "folder with a top folder": folder(t, "CLEAR-10-PUBLIC"),
		"folder with the zip": cache, "parts": parts, "zip of parts": zipped(t, parts),
		"parts with a top folder": zipped(t, folder(t, "clear10/train")),
	} {
		s, err := Load(t.Context(), path)
		if err != nil || Check(path) != nil {
			t.Errorf("%s: %v, %v", name, err, Check(path))
			continue
		}
		const golden = "cdf11b802cb635f06dcf517dd44d688d608fc867e045f15b3073e43431b184ce" // runs are kept under it
		const note = "CLEAR-10, moco_b0 features, 10 classes, buckets 1 to 10, 300 images, 4 values each"
		if s.SHA256 != golden || s.Note() != note || !strings.HasPrefix(s.Path, path) {
			t.Errorf("%s: %s, %s of %s", name, s.Note(), s.SHA256, s.Path)
		}
		if !slices.Equal(s.X, want) || s.Label[35] != 1 || s.Bucket[35] != 2 || s.Classes[9] != "sweater" {
			t.Errorf("%s has other features: %d images, first %g", name, s.Len(), s.Row(0))
		}
	}
}

// Ten buckets are used: if there are more, 0 is left out first, then the last ones.
func TestBuckets(t *testing.T) {
	for _, c := range []struct{ first, last, used int }{{1, 10, 1}, {0, 10, 1}, {0, 9, 0}, {1, 11, 1}, {0, 11, 1}} {
		root := folder(t, "")
		buckets := filepath.Join(root, "features/moco_b0")
		for n := c.first; n <= c.last; n++ {
			_ = os.CopyFS(filepath.Join(buckets, fmt.Sprint(n)), os.DirFS(filepath.Join(buckets, "1"))) // if it is new
		}
		for n := range 12 {
			if n < c.first || n > c.last {
				demand.NoError(t, os.RemoveAll(filepath.Join(buckets, fmt.Sprint(n))))
			}
		}
		s, err := Load(t.Context(), root)
		if err != nil || s.Len() != 300 || s.Bucket[0] != int32(c.used) || s.Bucket[299] != int32(c.used+9) {
			t.Errorf("buckets %d to %d: %v, %v", c.first, c.last, s, err)
		}
	}
}

// A data set that cannot be used is an error that names the file and says what is wrong.
func TestErrors(t *testing.T) {
	const bus = "features/moco_b0/3/bus.pth"
	names := string(demand.Read(t, filepath.Join(folder(t, ""), "class_names.txt")))
	for name, c := range map[string]struct {
		file  string
		data  []byte // nil: without the file
		words []string
	}{
		"a missing file":   {bus, nil, []string{bus, "no such file", "get the archive again"}},
		"a truncated file": {bus, demand.Read(t, "testdata/class.pth")[:900], []string{bus, "truncated"}},
		"longer vectors":   {bus, demand.Read(t, "testdata/class.pth"), []string{bus, `"5000000000"`, "vector of 4 values"}},
		"bytes":            {bus, demand.Read(t, "testdata/bytes.pth"), []string{bus, `global "torch.ByteStorage"`}},
		"nine classes":     {"class_names.txt", []byte(strings.Replace(names, "bus", "", 1)), []string{"9 classes"}},
		"no names":         {"class_names.txt", nil, []string{"class_names.txt", "names of the labels"}},
		"nine buckets":     {"features/moco_b0/3", nil, []string{"has 9 buckets", "CLEAR-10 has 10"}},
		"no features":      {"features/moco_b0", nil, []string{"no folder features/moco_b0", "clear10-public.zip"}},
	} {
		root := folder(t, "")
		path := filepath.Join(root, c.file)
		demand.NoError(t, os.RemoveAll(path))
		if c.data != nil {
			demand.Write(t, path, c.data)
		}
		_, err := Load(t.Context(), root)
		t.Log(name)
		demand.Error(t, err, c.words...)
	}
	_, err := Load(t.Context(), folder(t, "test")) // the other part of the archive of 2022
	demand.Error(t, err, "not in the part test")
	_, err = Load(t.Context(), filepath.Join(t.TempDir(), "none"))
	demand.Error(t, err, "none")
	_, err = Load(t.Context(), "clear_test.go")
	demand.Error(t, err, "clear_test.go", "neither a folder nor a complete zip")
	if _, err = Load(demand.Cancelled(), miniature); !errors.Is(err, context.Canceled) {
		t.Errorf("Load did not stop: %v", err)
	}
}

// Find returns TVPS_CLEAR, otherwise the folder in the cache, otherwise nothing.
func TestFind(t *testing.T) {
	root := t.TempDir()
	t.Setenv("TVPS_CACHE", filepath.Join(root, "cache"))
	t.Setenv("TVPS_CLEAR", "")
	find := func(want string) {
		t.Helper()
		if got, err := Find(); err != nil || got != want {
			t.Errorf("found %q (%v), want %q", got, err, want)
		}
	}
	find("")
	cache := filepath.Join(root, "cache", "clear")
	demand.NoError(t, os.MkdirAll(cache, 0o755))
	find(cache)
	t.Setenv("TVPS_CLEAR", root)
	find(root)
	t.Setenv("TVPS_CLEAR", filepath.Join(root, "none"))
	_, err := Find()
	if demand.Error(t, err, "TVPS_CLEAR", "unset it"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is a %T", err)
	}
}
