package clear

import (
	"archive/zip"
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
)

// Official is class_names.txt as published.
var Official = []string{
	"BACKGROUND", "baseball", "bus", "camera", "cosplay", "dress", "hockey", "laptop", "racing", "soccer", "sweater",
}

// Mini describes a small data set in the published layout. Default differs from the published
// one in size only.
type Mini struct {
	Names   []string // lines of class_names.txt, and classes of the files
	Buckets []int
	Types   []string
	Images  int // per class and bucket
	Dim     int // values per image
}

// Default has two types of features, each with 3 images of 4 values for each of 11 classes
// in each of 10 buckets.
func Default() Mini {
	return Mini{
		Names: Official, Buckets: []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, Types: []string{"imagenet", "moco_b0"},
		Images: 3, Dim: 4,
	}
}

// Value is value j of image i of a class. All values of a type are different, and they do not
// depend on the order of the classes.
func (m Mini) Value(kind string, bucket int, class string, i, j int) float32 {
	at := slices.Index(Official, class)
	if kind != "moco_b0" {
		at = -at - 1
	}
	return float32(bucket*1000+at*10+i) + float32(j)/64
}

func (m Mini) image(kind string, bucket int, class string, i int) []float32 {
	x := make([]float32, m.Dim)
	for j := range x {
		x[j] = m.Value(kind, bucket, class, i, j)
	}
	return x
}

// Files maps the names of files, with slashes, to their contents.
type Files map[string][]byte

// Public is the layout of clear10-public: features and training_folder.
func (m Mini) Public() Files {
	files := m.Features("")
	maps.Copy(files, m.Training())
	return files
}

// Parts is the layout of 2022. The part train is m; the part test has one image per class
// and bucket, and also a bucket 0.
func (m Mini) Parts() Files {
	files := m.Features("train")
	test := m
	test.Images, test.Buckets, test.Types = 1, append([]int{0}, m.Buckets...), []string{"moco_b0"}
	maps.Copy(files, test.Features("test"))
	return files
}

// Features has class_names.txt and features/TYPE/... in base, with a .pth file per class and files that are not read.
func (m Mini) Features(base string) Files {
	files := Files{path.Join(base, "class_names.txt"): []byte(strings.Join(m.Names, "\n"))}
	for _, kind := range m.Types {
		folder := path.Join(base, "features", kind)
		files[path.Join(folder, "features.json")] = []byte("{}")
		for _, bucket := range m.Buckets {
			for _, class := range m.Names {
				var images Dict
				for i := range m.Images {
					vector := Tensor{[]int{m.Dim}, m.image(kind, bucket, class, i)}
					images = append(images, Entry{fmt.Sprint(5_000_000_000 - i), vector})
				}
				files[path.Join(folder, fmt.Sprint(bucket), class+".pth")] = Save(images)
			}
		}
	}
	return files
}

// Training has class_names.txt and training_folder, with a .pth file per bucket. The classes
// alternate in it, so a reader must sort.
func (m Mini) Training() Files {
	files := Files{"class_names.txt": []byte(strings.Join(m.Names, "\n"))}
	for _, bucket := range m.Buckets {
		for _, kind := range m.Types {
			x, labels := []float32{}, Ints{}
			for i := range m.Images {
				for label := len(m.Names) - 1; label >= 0; label-- {
					x = append(x, m.image(kind, bucket, m.Names[label], i)...)
					labels = append(labels, label)
				}
			}
			name := path.Join("training_folder/features", kind, fmt.Sprint(bucket), "all.pth")
			files[name] = Save(Tuple{Tensor{[]int{len(labels), m.Dim}, x}, labels})
		}
	}
	return files
}

// Folder writes the files into a new folder and returns it.
func (f Files) Folder(tb testing.TB) string {
	tb.Helper()
	dir := tb.TempDir()
	for name, data := range f {
		at := filepath.Join(dir, filepath.FromSlash(name))
		demand.NoError(tb, os.MkdirAll(filepath.Dir(at), 0o755))
		demand.NoError(tb, os.WriteFile(at, data, 0o644))
	}
	return dir
}

// Zip writes the files into a zip of the given name in a new folder and returns its path.
// In the zip they are in the folder top, unless it is "".
func (f Files) Zip(tb testing.TB, name, top string) string {
	tb.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, name := range slices.Sorted(maps.Keys(f)) {
		w, err := z.Create(path.Join(top, name))
		if err == nil {
			_, err = w.Write(f[name])
		}
		demand.NoError(tb, err)
	}
	demand.NoError(tb, z.Close())
	return filepath.Join(Files{name: out.Bytes()}.Folder(tb), name)
}

var update = flag.Bool("update", false, "write testdata/clear10-public.zip, which tests of other packages read")

// The committed miniature is the one that the writer makes, and it can be loaded.
func TestCommittedMiniature(t *testing.T) {
	const committed = "testdata/clear10-public.zip"
	made, err := os.ReadFile(Default().Training().Zip(t, "clear10-public.zip", ""))
	if *update && err == nil {
		err = os.WriteFile(committed, made, 0o644)
	}
	demand.NoError(t, err)
	if file, err := os.ReadFile(committed); err != nil || !bytes.Equal(file, made) {
		t.Errorf("%s is another file, %v: run the test with -update", committed, err)
	}
	const golden = "cdf11b802cb635f06dcf517dd44d688d608fc867e045f15b3073e43431b184ce"
	if s := load(t, committed); s.Len() != 300 || s.Report.SHA256 != golden {
		t.Errorf("%d images, SHA-256 %s: runs are kept under it", s.Len(), s.Report.SHA256)
	}
}
