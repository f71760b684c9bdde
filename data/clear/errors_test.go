package clear

import (
	"bytes"
	"encoding/binary"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
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
		"shorter":         {vectors([]float32{1, 2, 3}), []string{"3 values", "others have 4"}},
		"damaged":         {bytes.Replace(good, floats(3021.0), floats(3021.5), 1), []string{"data/1", "checksum"}},
		"cut short":       {good[:len(good)/2], []string{"truncated"}},
		"empty":           {nil, []string{"not a file of torch.save"}},
		"no images":       {Save(Dict{}), []string{"dict of images, but is: dict of 0"}},
		"a list":          {Save(Ints{1}), []string{"but is: list of 1"}},
		"a number":        {Save(1), []string{"but is: int"}},
		"numbers":         {oneOf(1), []string{`"a"`, "vector, but is: int"}},
		"a matrix":        {oneOf(matrix), []string{`"a"`, "vector, but is: tensor with sizes [2 4]"}},
		"a program":       {program, []string{"global os.system"}},
		"one, many times": {aliased(10_000), []string{"10000 images of 4 values", "more than"}},
	} {
		t.Run(name, func(t *testing.T) {
			files := maps.Clone(base)
			files[bus] = c.data
			zipped := files.Zip(t, "c.zip", "top")
			_, err := Load(t.Context(), zipped, Options{})
			demand.Error(t, err, append(c.words, "top/"+bus+" in "+zipped)...)
			r, err := Check(t.Context(), zipped, Options{})
			demand.Error(t, err, append(c.words, "top/"+bus)...)
			if r == nil || len(r.Types) != 1 {
				t.Error("Check returns no report with the error")
			}
		})
	}
}

// In a folder the error names the path of the file. In a zip the zip's checksum detects damage.
func TestDamaged(t *testing.T) {
	m := Default()
	m.Images, m.Types = 1, []string{"moco_b0"}
	files := m.Features("")
	zipped := files.Zip(t, "c.zip", "")
	files[bus] = bytes.Replace(files[bus], floats(3020), floats(3020.5), 1)
	dir := files.Folder(t)
	_, err := Load(t.Context(), dir, Options{})
	demand.Error(t, err, filepath.Join(dir, filepath.FromSlash(bus)), "data/0 is damaged", "checksum")

	raw, err := os.ReadFile(zipped)
	if err != nil {
		t.Fatal(err)
	}
	raw[len(raw)/2] ^= 1
	if err := os.WriteFile(zipped, raw, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = Load(t.Context(), zipped, Options{})
	demand.Error(t, err, ".pth in "+zipped)
	if err := os.WriteFile(zipped, raw[:len(raw)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = Load(t.Context(), zipped, Options{})
	demand.Error(t, err, zipped, "nor a complete zip")
}

// floats returns a float32 as in a .pth file.
func floats(v float32) []byte { return binary.LittleEndian.AppendUint32(nil, math.Float32bits(v)) }

// aliased returns a dict of n images that are all the same tensor: many values in a small file.
func aliased(n int) []byte {
	pickle := []byte("\x80\x02ctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\nFloatStorage\n" +
		"X\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x04tQK\x00K\x04\x85K\x01\x85\x89NtRq\x000}(")
	for i := range n {
		pickle = append(binary.LittleEndian.AppendUint32(append(pickle, 'J'), uint32(i)), "h\x00"...)
	}
	return Archive(append(pickle, "u."...), make([]byte, 16))
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
	const unknown = "label of its row 1 is not one of the 11"
	eleven := Ints{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	for what, c := range map[string]struct {
		value any
		words []string
	}{
		"a dict": {Dict{}, []string{"a tensor and its labels, but is: dict of 0"}},
		"three":  {Tuple{1, 2, 3}, []string{"tuple of 3"}},
		"labels first": {Tuple{eleven, matrix(11)},
			[]string{"but is: list of 11, tensor with sizes [11 4]"}},
		"a label too few":    {Tuple{matrix(11), eleven[:10]}, []string{"sizes [11 4], list of 10"}},
		"a vector":           {Tuple{tensor(11, 11), eleven}, []string{"sizes [11]"}},
		"an unknown label":   {Tuple{matrix(2), Ints{0, 11}}, []string{unknown}},
		"a label below zero": {Tuple{matrix(2), Ints{0, -1}}, []string{unknown}},
		"a class is missing": {Tuple{matrix(10), eleven[:10]}, []string{"no image of the class sweater"}},
		"another length":     {Tuple{tensor(55, 11, 5), eleven}, []string{"5 values", "others have 4"}},
	} {
		t.Run(what, func(t *testing.T) {
			files := maps.Clone(base)
			files[name] = Save(c.value)
			_, err := Load(t.Context(), files.Zip(t, "c.zip", ""), Options{})
			demand.Error(t, err, append(c.words, name+" in ")...)
		})
	}
}

// A data set that cannot be used as a whole is an error.
func TestBadSet(t *testing.T) {
	m := Default()
	m.Images, m.Types = 1, []string{"moco_b0"}
	const index = "features/moco_b0/features.json"
	text := func(s string) []byte { return []byte(s) }
	replace := func(name, old, new string) func(f Files) {
		return func(f Files) { f[name] = bytes.Replace(f[name], text(old), text(new), 1) }
	}
	for name, c := range map[string]struct {
		change func(f Files)
		words  []string
	}{
		"a missing class": {func(f Files) {
			f[index] = bytes.ReplaceAll(f[index], text(`"bus":"features/moco_b0/7/bus.pth",`), nil)
		}, []string{"features.json", `no class "bus" in bucket 7`}},
		"a missing file": {func(f Files) { delete(f, bus) }, []string{"is incomplete", bus, "files missing: 1"}},
		"nine classes": {func(f Files) {
			f["class_names.txt"] = text(strings.Join(Official[:10], "\n"))
		}, []string{"9 classes without BACKGROUND"}},
		"a class instead of another": {replace("class_names.txt", "bus", "dress"),
			[]string{"10 classes without BACKGROUND, 9 of them different"}},
		"a class twice": {func(f Files) {
			f["class_names.txt"] = append(f["class_names.txt"], "\nbus"...)
		}, []string{"11 classes without BACKGROUND, 10 of them different"}},
		"a hundred classes": {func(f Files) {
			f["class_names.txt"] = text(strings.Repeat("c\n", 100))
		}, []string{"100 classes", "1 of them different"}},
		"a bucket with a name":   {replace(index, `"7":`, `"x\ny":`), []string{`bucket "x\ny"`, "not a number"}},
		"a bucket with a sign":   {replace(index, `"7":`, `"+7":`), []string{`bucket "+7"`}},
		"no json":                {func(f Files) { f[index] = text("{") }, []string{index, "unexpected end"}},
		"a json of another form": {func(f Files) { f[index] = text(`[1]`) }, []string{index, "cannot unmarshal"}},
	} {
		t.Run(name, func(t *testing.T) {
			files := m.Features("")
			c.change(files)
			_, err := Load(t.Context(), files.Zip(t, "c.zip", ""), Options{})
			demand.Error(t, err, c.words...)
		})
	}
	files := m.Training()
	delete(files, "class_names.txt")
	_, err := Load(t.Context(), files.Zip(t, "c.zip", ""), Options{})
	demand.Error(t, err, "class_names.txt in ", "is missing", "labels in all.pth")
}

func TestBadPath(t *testing.T) {
	m := Default()
	m.Images, m.Types = 1, []string{"moco_b0"}
	text := filepath.Join(t.TempDir(), "text.zip")
	if err := os.WriteFile(text, []byte("no zip"), 0o644); err != nil {
		t.Fatal(err)
	}
	two := Files{}
	for name, data := range m.Features("one") {
		two[name], two["two"+strings.TrimPrefix(name, "one")] = data, data
	}
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
		"two data sets": {two.Zip(t, "c.zip", ""), []string{"several data sets, one and two"}},
		"features empty": {Files{"features/readme": nil}.Folder(t),
			[]string{`no features of the type "moco_b0"`, "it has none"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Load(t.Context(), c.path, Options{})
			demand.Error(t, err, c.words...)
		})
	}
}

// Missing and surplus files are in the report. Surplus files are no error.
func TestReport(t *testing.T) {
	m := Default()
	m.Types = []string{"moco_b0"}
	files := m.Parts()
	files["train/features/moco_b0/3/tram.pth"] = []byte("not read")
	files["train/features/moco_b0/state_dict.pth.tar"] = []byte("weights")
	dir := files.Folder(t)
	r, err := Describe(dir, Options{})
	surplus := []string{"train/features/moco_b0/3/tram.pth"}
	if err != nil || len(r.Missing) != 0 || !slices.Equal(r.Surplus, surplus) || !r.Test || !r.Named || r.Images != nil {
		t.Errorf("%v, %+v", err, r)
	}
	if r.Err() != nil || r.Published() || r.Note() != "CLEAR-10, moco_b0 features, 10 classes, buckets 1 to 10" {
		t.Errorf("%v, %q", r.Err(), r.Note())
	}
	if _, err := Load(t.Context(), dir, Options{}); err != nil {
		t.Error(err)
	}
	if err := os.Remove(filepath.Join(dir, "train", filepath.FromSlash(bus))); err != nil {
		t.Fatal(err)
	}
	r, err = Describe(dir, Options{})
	if err != nil || len(r.Missing) != 1 || r.Missing[0] != "train/"+bus {
		t.Errorf("%v, %+v", err, r)
	}
	r, err = Check(t.Context(), dir, Options{})
	demand.Error(t, err, "is incomplete", bus, "files missing: 1")
	if r == nil || r.Images != nil {
		t.Errorf("Check read files of an incomplete set: %+v", r)
	}
}

// Classes may have different numbers of images. The note says so.
func TestUnequal(t *testing.T) {
	m := Default()
	files := m.Features("")
	files[bus] = vectors([]float32{1, 2, 3, 4})
	s := load(t, files.Zip(t, "c.zip", ""), Options{})
	if !strings.Contains(s.Source.Note, "28 to 30 images of each class") || s.Len() != 298 {
		t.Errorf("%d images, %q", s.Len(), s.Source.Note)
	}
	rows := s.ByClass()[1]
	if len(rows) != 28 || s.Row(int(rows[6]))[3] != 4 || s.Bucket[rows[6]] != 3 {
		t.Errorf("the rows of class bus are %d", rows)
	}
}

// Paths in features.json without the type, as a script of the authors wrote them, and paths
// that lead out of the data set are replaced by the usual place.
func TestPaths(t *testing.T) {
	m := Default()
	const index = "features/moco_b0/features.json"
	for _, prefix := range []string{"features/", "../features/moco_b0/../../../../", "/etc/"} {
		files := m.Features("")
		files[index] = bytes.ReplaceAll(files[index], []byte("features/moco_b0/"), []byte(prefix))
		same(t, load(t, files.Zip(t, "c.zip", ""), Options{}), want(m, "moco_b0", m.Buckets, Official[1:]))
	}
}

func TestNumbers(t *testing.T) {
	for want, n := range map[string][]int{"": nil, "3": {3}, "1, 2": {1, 2}, "1 to 3": {1, 2, 3}, "1, 3, 4": {1, 3, 4}} {
		if got := Numbers(n); got != want {
			t.Errorf("Numbers(%d) is %q, want %q", n, got, want)
		}
	}
	for want, n := range map[string][]int{"7": {7, 7}, "2,950 to 3,000": {3000, 2950}, "1,234,567": {1234567}} {
		if got := Span(n); got != want {
			t.Errorf("Span(%d) is %q, want %q", n, got, want)
		}
	}
}
