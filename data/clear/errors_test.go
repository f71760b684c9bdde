package clear

import (
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tvps/ci/demand"
)

const bus = "features/moco_b0/3/bus.pth"

// vectors returns a class file of the given images, with the keys i, ii, ...
func vectors(images ...[]float32) []byte {
	var dict Dict
	for i, x := range images {
		tensor := Tensor{Shape: []int{len(x)}, Data: x}
		dict = append(dict, Entry{Key: strings.Repeat("i", i+1), Value: tensor})
	}
	return Save(dict)
}

// A class file that cannot be used is an error that names the file.
func TestBadClassFile(t *testing.T) {
	m := Default()
	m.Images, m.Types = 2, []string{"moco_b0"}
	base := m.Features("")
	good := base[bus]
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	matrix := Tensor{Shape: []int{2, 4}, Data: make([]float32, 8)}
	oneOf := func(value any) []byte { return Save(Dict{{Key: "a", Value: value}}) }
	program := Archive([]byte("\x80\x02cos\nsystem\nX\x02\x00\x00\x00id\x85R."))
	for name, c := range map[string]struct {
		data  []byte
		words []string
	}{
		"NaN":      {vectors([]float32{1, 2, 3, 4}, []float32{1, 2, nan, 4}), []string{`"ii"`, "NaN at 2"}},
		"infinity": {vectors([]float32{inf, 2, 3, 4}), []string{`"i"`, "+Inf at 0"}},
		"longer": {vectors([]float32{1, 2, 3, 4}, []float32{1, 2, 3, 4, 5}),
			[]string{`"ii"`, "5 values", "others have 4"}},
		"cut short": {good[:len(good)/2], []string{"truncated"}},
		"no images": {Save(Dict{}), []string{"dict of images, but is: dict of 0"}},
		"a list":    {Save(Ints{1}), []string{"but is: list of 1"}},
		"numbers":   {oneOf(1), []string{`"a"`, "vector, but is: int"}},
		"a matrix":  {oneOf(matrix), []string{`"a"`, "vector, but is: tensor with sizes [2 4]"}},
		"a program": {program, []string{`global "os.system"`}},
	} {
		t.Run(name, func(t *testing.T) {
			files := maps.Clone(base)
			files[bus] = c.data
			zipped := files.Zip(t, "c.zip", "top")
			_, err := Load(t.Context(), zipped, DefaultType)
			demand.Error(t, err, append(c.words, "top/"+bus+" in "+zipped)...)
		})
	}
}

// A bucket file that cannot be used is an error that names the file.
func TestBadBucketFile(t *testing.T) {
	m := Default()
	m.Images, m.Types = 1, []string{"moco_b0"}
	base := m.Training()
	const name = "training_folder/features/moco_b0/4/all.pth"
	tensor := func(n int, shape ...int) Tensor {
		return Tensor{Shape: shape, Data: make([]float32, n)}
	}
	matrix := func(n int) Tensor { return tensor(4*n, n, 4) }
	eleven := Ints{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	for what, c := range map[string]struct {
		value any
		words []string
	}{
		"a dict": {Dict{}, []string{"a tensor and its labels, but is: dict of 0"}},
		"labels first": {Tuple{eleven, matrix(11)},
			[]string{"but is: list of 11, tensor with sizes [11 4]"}},
		"a label too few":    {Tuple{matrix(11), eleven[:10]}, []string{"sizes [11 4], list of 10"}},
		"a vector":           {Tuple{tensor(11, 11), eleven}, []string{"sizes [11]"}},
		"an unknown label":   {Tuple{matrix(2), Ints{0, 11}}, []string{"label of its row 1 is not one of the 11"}},
		"a label below zero": {Tuple{matrix(2), Ints{-1, 0}}, []string{"label of its row 0"}},
		"a class is missing": {Tuple{matrix(10), eleven[:10]}, []string{"no image of the class sweater"}},
		"another length":     {Tuple{tensor(55, 11, 5), eleven}, []string{"5 values", "others have 4"}},
	} {
		t.Run(what, func(t *testing.T) {
			files := maps.Clone(base)
			files[name] = Save(c.value)
			_, err := Load(t.Context(), files.Zip(t, "c.zip", ""), DefaultType)
			demand.Error(t, err, append(c.words, name+" in ")...)
		})
	}
}

// A data set that cannot be used as a whole is an error.
func TestBadSet(t *testing.T) {
	m := Default()
	m.Images, m.Types = 1, []string{"moco_b0"}
	names := func(lines ...string) func(f Files) {
		return func(f Files) { f["class_names.txt"] = []byte(strings.Join(lines, "\n")) }
	}
	for name, c := range map[string]struct {
		change func(f Files)
		words  []string
	}{
		"a missing file": {func(f Files) { delete(f, bus) }, []string{"is incomplete", bus, "files missing: 1"}},
		"nine classes":   {names(Official[:10]...), []string{"9 classes without BACKGROUND"}},
		"a class twice": {names(append(Official[1:], "bus")...),
			[]string{"11 classes without BACKGROUND, 10 of them different"}},
		"no names": {func(f Files) { delete(f, "class_names.txt") }, []string{"class_names.txt", "names of the labels"}},
		"a path":   {names(append(Official[2:], "../../5/bus")...), []string{"files missing: 10"}},
	} {
		t.Run(name, func(t *testing.T) {
			files := m.Features("")
			c.change(files)
			_, err := Load(t.Context(), files.Zip(t, "c.zip", ""), DefaultType)
			demand.Error(t, err, c.words...)
		})
	}
}

func TestBadPath(t *testing.T) {
	m := Default()
	m.Images, m.Types = 1, []string{"moco_b0"}
	text := filepath.Join(t.TempDir(), "text.zip")
	demand.NoError(t, os.WriteFile(text, []byte("no zip"), 0o644))
	for name, c := range map[string]struct {
		path  string
		words []string
	}{
		"no file":      {filepath.Join(t.TempDir(), "none"), []string{"none"}},
		"empty folder": {t.TempDir(), []string{"no features of CLEAR-10", "clear10-public.zip"}},
		"no zip":       {text, []string{text, "neither a folder nor a complete zip"}},
		"another zip":  {Files{"a/b": nil}.Zip(t, "a.zip", ""), []string{"no features of CLEAR-10"}},
		"only the part test": {m.Features("test").Zip(t, "clear10-test.zip", ""),
			[]string{"has only CLEAR-10's part test", "clear10-train.zip"}},
		"features empty": {Files{"features/readme": nil}.Folder(t), []string{`no features of the type "moco_b0"`}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Load(t.Context(), c.path, DefaultType)
			demand.Error(t, err, c.words...)
		})
	}
}

// Missing files are in the report of Describe, which reads none.
func TestReport(t *testing.T) {
	m := Default()
	m.Types = []string{"moco_b0"}
	files := m.Parts()
	files["train/"+bus] = []byte("no file of torch")
	r, err := Describe(files.Zip(t, "c.zip", ""), DefaultType)
	if err != nil || r.Err() != nil || r.Images != nil {
		t.Errorf("%v, %+v", err, r)
	}
	delete(files, "train/"+bus)
	r, err = Describe(files.Zip(t, "c.zip", ""), DefaultType)
	if err != nil || len(r.Missing) != 1 || r.Missing[0] != "train/"+bus {
		t.Errorf("%v, %+v", err, r)
	}
}

// Classes may have different numbers of images. The note says so.
func TestUnequal(t *testing.T) {
	files := Default().Features("")
	files[bus] = vectors([]float32{1, 2, 3, 4})
	s := load(t, files.Zip(t, "c.zip", ""))
	if !strings.Contains(s.Report.Note(), "28 to 30 images of each class") || s.Len() != 298 || s.Report.Published() {
		t.Errorf("%d images, %q", s.Len(), s.Report.Note())
	}
	rows := s.ByClass()[1]
	if len(rows) != 28 || s.Row(int(rows[6]))[3] != 4 || s.Bucket[rows[6]] != 3 {
		t.Errorf("the rows of class bus are %d", rows)
	}
}

func TestNumbers(t *testing.T) {
	for want, n := range map[string][]int{"": nil, "3": {3}, "1, 2": {1, 2}, "1 to 3": {1, 2, 3}, "1, 3, 4": {1, 3, 4}} {
		if got := numbers(n); got != want {
			t.Errorf("Numbers(%d) is %q, want %q", n, got, want)
		}
	}
	for want, n := range map[string][]int{"7": {7, 7}, "2,950 to 3,000": {3000, 2950}, "1,234,567": {1234567}} {
		if got := span(n); got != want {
			t.Errorf("span(%d) is %q, want %q", n, got, want)
		}
	}
}
