package clear

import (
	"cmp"
	"context"
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

func load(t *testing.T, path string) *Set {
	t.Helper()
	s, err := Load(t.Context(), path, DefaultType)
	demand.NoError(t, err)
	return s
}

// The same features in every layout, as a folder or a zip, give the same set and sum.
func TestLayouts(t *testing.T) {
	m := Default()
	m.Types = []string{"moco_b0"}
	public, parts := m.Public(), m.Parts()
	folder := parts.Folder(t)
	wanted := want(m, "moco_b0", m.Buckets, Official[1:])
	sum := ""
	for name, path := range map[string]string{
		"public, folder":                public.Folder(t),
		"public, zip":                   public.Zip(t, "data.zip", ""),
		"public, zip with a top folder": public.Zip(t, "data.zip", "CLEAR-10-PUBLIC"),
		"public, a folder with the zip": filepath.Dir(public.Zip(t, "clear10-public.zip", "")),
		"only features, zip":            m.Features("").Zip(t, "data.zip", ""),
		"only training_folder, zip":     m.Training().Zip(t, "data.zip", ""),
		"parts, folder":                 folder,
		"parts, zip":                    parts.Zip(t, "data.zip", ""),
		"parts, zip with a top folder":  parts.Zip(t, "data.zip", "clear10"),
		"the part train, zip":           m.Features("train").Zip(t, "clear10-train.zip", ""),
		"the folder of the part train":  filepath.Join(folder, "train"),
	} {
		t.Run(name, func(t *testing.T) {
			s := load(t, path)
			same(t, s, wanted)
			if len(s.X) != cap(s.X) {
				t.Errorf("the capacity is %d for %d values", cap(s.X), len(s.X))
			}
			sum = cmp.Or(sum, s.Report.SHA256)
			if s.Report.SHA256 != sum || !strings.HasPrefix(s.Report.Path, path) {
				t.Errorf("%+v, want the sum %s", s.Report, sum)
			}
			const note = "CLEAR-10, moco_b0 features, 10 classes, buckets 1 to 10, 30 images of each class, 4 values each"
			if got := s.Report.Note(); got != note {
				t.Error(got)
			}
		})
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
	m.Names = permuted
	order := []string{"sweater", "bus", "laptop", "baseball", "soccer", "dress", "racing", "camera", "hockey", "cosplay"}
	for _, files := range []Files{m.Features(""), m.Training()} {
		same(t, load(t, files.Zip(t, "c.zip", "")), want(m, "moco_b0", m.Buckets, order))
		files["class_names.txt"] = []byte(strings.Join(permuted, "\r\n") + "\r\n\r\n")
		same(t, load(t, files.Zip(t, "c.zip", "")), want(m, "moco_b0", m.Buckets, order))
	}
}

// Ten buckets are used: if there are more, 0 is left out first, then the last ones.
func TestBuckets(t *testing.T) {
	m := Default()
	m.Images = 1
	for existing, used := range map[string]string{
		"1 2 3 4 5 6 7 8 9 10":      "1 to 10",
		"10 9 8 7 6 5 4 3 2 1 0":    "1 to 10",
		"0 1 2 3 4 5 6 7 8 9":       "0 to 9",
		"1 2 3 4 5 6 7 8 9 10 11":   "1 to 10",
		"0 1 2 3 4 5 6 7 8 9 10 11": "1 to 10",
	} {
		m.Buckets = nil
		for _, text := range strings.Fields(existing) {
			var n int
			fmt.Sscan(text, &n)
			m.Buckets = append(m.Buckets, n)
		}
		for _, files := range []Files{m.Features(""), m.Training()} {
			path := files.Zip(t, "c.zip", "")
			r, err := Describe(path, DefaultType)
			if err != nil || numbers(r.Buckets) != used {
				t.Errorf("%s: %v, used %s", existing, err, numbers(r.Buckets))
				continue
			}
			same(t, load(t, path), want(m, "moco_b0", r.Buckets, Official[1:]))
		}
	}
	m.Buckets = m.Buckets[:9]
	_, err := Describe(m.Training().Zip(t, "c.zip", ""), DefaultType)
	demand.Error(t, err, "has 9 buckets", "CLEAR-10 has 10")
}

func TestType(t *testing.T) {
	m := Default()
	path := m.Public().Zip(t, "c.zip", "")
	s, err := Load(t.Context(), path, "imagenet")
	demand.NoError(t, err)
	same(t, s, want(m, "imagenet", m.Buckets, Official[1:]))
	_, err = Load(t.Context(), path, "clip")
	demand.Error(t, err, path, `"clip"`, "it has imagenet, moco_b0")
	if !errors.Is(err, ErrUnknownType) {
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
	demand.NoError(t, os.MkdirAll(cache, 0o755))
	find(cache)
	t.Setenv("TVPS_CLEAR", root)
	find(root)
	t.Setenv("TVPS_CLEAR", filepath.Join(root, "none"))
	_, err := Find()
	demand.Error(t, err, "TVPS_CLEAR", filepath.Join(root, "none"), "unset it")
}

func TestCancel(t *testing.T) {
	if _, err := Load(demand.Cancelled(), Default().Training().Folder(t), DefaultType); !errors.Is(err, context.Canceled) {
		t.Errorf("Load did not stop: %v", err)
	}
}
