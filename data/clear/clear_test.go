package clear

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
)

// want returns the set that a miniature must give, computed from its formula.
func want(m Mini, kind string, buckets []int, classes []string) *Set {
	s := &Set{Dim: m.Dim, Classes: classes}
	for _, bucket := range buckets {
		for label, class := range classes {
			for i := range m.Images {
				for j := range m.Dim {
					s.X = append(s.X, m.Value(kind, bucket, class, i, j))
				}
				s.Label = append(s.Label, int32(label))
				s.Bucket = append(s.Bucket, int32(bucket))
			}
		}
	}
	return s
}

func same(t *testing.T, got, want *Set) {
	t.Helper()
	if got.Dim != want.Dim || !slices.Equal(got.Classes, want.Classes) {
		t.Fatalf("%d values, classes %q; want %d and %q", got.Dim, got.Classes, want.Dim, want.Classes)
	}
	if !slices.Equal(got.Label, want.Label) || !slices.Equal(got.Bucket, want.Bucket) {
		t.Fatal("labels or buckets differ")
	}
	if !slices.Equal(got.X, want.X) {
		t.Fatal("features differ")
	}
}

func load(t *testing.T, path string, o Options) *Set {
	t.Helper()
	s, err := Load(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The same features in every layout, as a folder or a zip, give the same set.
func TestLayouts(t *testing.T) {
	m := Default()
	m.Types = []string{"moco_b0"}
	public, parts := m.Public(), m.Parts()
	folder := parts.Folder(t)
	wanted := want(m, "moco_b0", m.Buckets, Official[1:])
	holding := filepath.Dir(public.Zip(t, "clear10-public.zip", ""))
	var sum string
	for _, c := range []struct {
		name   string
		path   string
		layout Layout
	}{
		{"public, folder", public.Folder(t), Public},
		{"public, zip", public.Zip(t, "data.zip", ""), Public},
		{"public, zip with a top folder", public.Zip(t, "data.zip", "CLEAR-10-PUBLIC"), Public},
		{"public, a folder with the zip", holding, Public},
		{"only features, zip", m.Features("").Zip(t, "data.zip", ""), Public},
		{"only training_folder, folder", m.Training().Folder(t), Public},
		{"only training_folder, zip", m.Training().Zip(t, "data.zip", ""), Public},
		{"parts, folder", folder, Parts},
		{"parts, zip", parts.Zip(t, "data.zip", ""), Parts},
		{"parts, zip with a top folder", parts.Zip(t, "data.zip", "clear10"), Parts},
		{"the part train, zip", m.Features("train").Zip(t, "clear10-train.zip", ""), Parts},
		{"the folder train itself", filepath.Join(folder, "train"), Public},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := load(t, c.path, Options{})
			same(t, s, wanted)
			if len(s.X) != cap(s.X) {
				t.Errorf("the capacity is %d for %d values", cap(s.X), len(s.X))
			}
			if sum == "" {
				sum = s.Source.SHA256
			}
			got := s.Source
			if got.SHA256 != sum || got.Layout != c.layout || got.Type != "moco_b0" || !strings.HasPrefix(got.Path, c.path) {
				t.Errorf("source %+v, want the sum %s", got, sum)
			}
			r, err := Check(t.Context(), c.path, Options{})
			if err != nil || r.SHA256 != sum || r.Dim != 4 || fmt.Sprint(r.PerClass()) != "[30 30 30 30 30 30 30 30 30 30]" {
				t.Errorf("Check: %v, %+v", err, r)
			}
		})
	}
	const note = "CLEAR-10, moco_b0 features, 10 classes, buckets 1 to 10, 30 images of each class, 4 values each"
	if got := load(t, holding, Options{}).Source.Note; got != note {
		t.Error(got)
	}
}

// Any change of what is used changes the sum, and nothing else does.
func TestSum(t *testing.T) {
	base := batch{bucket: 3, dim: 2, labels: []int32{0, 1}, x: []float32{1, 2, 3, 4}}
	sum := func(batches ...batch) string {
		h := sha256.New()
		for _, b := range batches {
			b.hash(h)
		}
		return hex.EncodeToString(h.Sum(nil))
	}
	first := batch{bucket: 3, dim: 2, labels: []int32{0}, x: []float32{1, 2}}
	second := batch{bucket: 3, dim: 2, labels: []int32{1}, x: []float32{3, 4}}
	if sum(base) != sum(first, second) {
		t.Error("the sum depends on how images are divided among files")
	}
	for _, b := range []batch{
		{bucket: 4, dim: 2, labels: []int32{0, 1}, x: base.x},
		{bucket: 3, dim: 2, labels: []int32{0, 2}, x: base.x},
		{bucket: 3, dim: 2, labels: base.labels, x: []float32{1, 2, 3, 5}},
	} {
		if sum(b) == sum(base) {
			t.Errorf("%+v has the sum of %+v", b, base)
		}
	}
	m := Default()
	files := m.Training()
	before := load(t, files.Zip(t, "c.zip", ""), Options{}).Source.SHA256
	files["class_names.txt"] = bytes.Replace(files["class_names.txt"], []byte("bus"), []byte("tram"), 1)
	if after := load(t, files.Zip(t, "c.zip", ""), Options{}).Source.SHA256; after == before {
		t.Error("the sum does not depend on the names of the classes")
	}
}

// permuted is class_names.txt in another order.
var permuted = []string{
	"sweater", "bus", "laptop", "baseball", "BACKGROUND", "soccer", "dress", "racing", "camera", "hockey", "cosplay",
}

// A label is the position of a class in class_names.txt without BACKGROUND, although the
// labels in all.pth count BACKGROUND.
func TestLabels(t *testing.T) {
	m := Default()
	order := []string{"sweater", "bus", "laptop", "baseball", "soccer", "dress", "racing", "camera", "hockey", "cosplay"}
	p := m
	p.Names = permuted
	for name, files := range map[string]Files{"features": p.Features(""), "training_folder": p.Training()} {
		same(t, load(t, files.Zip(t, "c.zip", ""), Options{}), want(p, "moco_b0", m.Buckets, order))
		files["class_names.txt"] = []byte(strings.Join(permuted, "\r\n") + "\r\n\r\n")
		s := load(t, files.Zip(t, "c.zip", ""), Options{})
		if !slices.Equal(s.Classes, order) {
			t.Errorf("%s: with line ends \\r\\n: %q", name, s.Classes)
		}
	}
	files := p.Features("")
	delete(files, "class_names.txt")
	same(t, load(t, files.Zip(t, "c.zip", ""), Options{}), want(p, "moco_b0", m.Buckets, Official[1:]))

	p.Names = permuted[:4:4] // without BACKGROUND
	p.Names = append(p.Names, permuted[5:]...)
	same(t, load(t, p.Training().Zip(t, "c.zip", ""), Options{}), want(p, "moco_b0", m.Buckets, order))
}

// Ten buckets are used: if there are more, 0 is left out first, then the last ones.
func TestBuckets(t *testing.T) {
	m := Default()
	m.Images = 1
	for existing, c := range map[string]struct{ used, left string }{
		"1 2 3 4 5 6 7 8 9 10":      {"1 to 10", ""},
		"10 9 8 7 6 5 4 3 2 1 0":    {"1 to 10", "0"},
		"0 1 2 3 4 5 6 7 8 9":       {"0 to 9", ""},
		"1 2 3 4 5 6 7 8 9 10 11":   {"1 to 10", "11"},
		"0 1 2 3 4 5 6 7 8 9 10 11": {"1 to 10", "0, 11"},
	} {
		m.Buckets = nil
		for _, text := range strings.Fields(existing) {
			var n int
			fmt.Sscan(text, &n)
			m.Buckets = append(m.Buckets, n)
		}
		for _, files := range []Files{m.Features(""), m.Training()} {
			path := files.Zip(t, "c.zip", "")
			r, err := Check(t.Context(), path, Options{})
			if err != nil || Numbers(r.Buckets) != c.used || Numbers(r.LeftOut) != c.left {
				t.Errorf("%s: %v, used %s, left out %s", existing, err, Numbers(r.Buckets), Numbers(r.LeftOut))
				continue
			}
			same(t, load(t, path, Options{}), want(m, "moco_b0", r.Buckets, Official[1:]))
		}
	}
	m.Buckets = m.Buckets[:9]
	for _, files := range []Files{m.Features(""), m.Training()} {
		_, err := Load(t.Context(), files.Zip(t, "c.zip", ""), Options{})
		demand.Error(t, err, "has 9 buckets", "CLEAR-10 has 10")
	}
}

func TestType(t *testing.T) {
	m := Default()
	path := m.Public().Zip(t, "c.zip", "")
	same(t, load(t, path, Options{Type: "imagenet"}), want(m, "imagenet", m.Buckets, Official[1:]))
	_, err := Load(t.Context(), path, Options{Type: "clip"})
	demand.Error(t, err, path, `"clip"`, "it has imagenet, moco_b0")
	var unknown *UnknownTypeError
	if !errors.As(err, &unknown) {
		t.Errorf("it is a %T", err)
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
	if err := os.MkdirAll(cache, 0o755); err != nil {
		t.Fatal(err)
	}
	find(cache)
	t.Setenv("TVPS_CLEAR", root)
	find(root)
	t.Setenv("TVPS_CLEAR", filepath.Join(root, "none"))
	_, err := Find()
	demand.Error(t, err, "TVPS_CLEAR", filepath.Join(root, "none"), "unset it")
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Load(ctx, Default().Training().Folder(t), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Load did not stop: %v", err)
	}
}
