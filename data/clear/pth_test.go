package clear

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tvps/ci/demand"
)

func fixture(tb testing.TB, name string) []byte {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// expected returns what Python reads from the files of testdata, by name.
func expected(t *testing.T) map[string]string {
	t.Helper()
	lines := map[string]string{}
	for line := range strings.Lines(string(fixture(t, "expected.txt"))) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "\t")
		lines[name] = value
	}
	return lines
}

// Files that torch wrote, and pickles that Python wrote, are read as Python reads them.
func TestPython(t *testing.T) {
	want := expected(t)
	if len(want) != 8 {
		t.Fatalf("%d expectations", len(want))
	}
	for name, value := range want {
		if filepath.Ext(name) != ".pth" {
			continue
		}
		v, err := readPTH(fixture(t, name))
		if err != nil || repr(v) != value {
			t.Errorf("%s: %v\n got %s\nwant %s", name, err, repr(v), value)
		}
	}
	for protocol := 2; protocol <= 5; protocol++ {
		v, err := unpickle(fixture(t, fmt.Sprintf("protocol%d.pkl", protocol)), noStorage)
		if err != nil || repr(v) != want["protocol.pkl"] {
			t.Errorf("protocol %d: %v\n got %s\nwant %s", protocol, err, repr(v), want["protocol.pkl"])
		}
	}
	v, err := unpickle(fixture(t, "protocol2.pkl"), noStorage)
	if err != nil {
		t.Fatal(err)
	}
	dict := v.(*pyDict)
	shared := dict.Values[len(dict.Values)-1].(*pyList).Items
	if shared[0] != shared[1] {
		t.Error("a list that is referred to twice was read as two lists")
	}
}

// Other objects that torch writes are errors that name them.
func TestTorchRefused(t *testing.T) {
	for name, words := range map[string][]string{
		"legacy.pth":    {"before 1.6"},
		"parameter.pth": {"global torch._utils._rebuild_parameter"},
		"bytes.pth":     {"global torch.ByteStorage"},
	} {
		_, err := readPTH(fixture(t, name))
		demand.Error(t, err, words...)
	}
}

// Read returns what Save wrote. The two share no code.
func TestRoundTrip(t *testing.T) {
	tensor := Tensor{Shape: []int{2, 3}, Data: []float32{0, 1, 2, 3, 4, 5.5}}
	got, err := readPTH(Save(Dict{
		{Key: "a", Value: tensor}, {Key: "é", Value: Tuple{tensor, Ints{1, 300, 70000, -1}}}}))
	want := "{'a': [[0.0, 1.0, 2.0], [3.0, 4.0, 5.5]], 'é': ([[0.0, 1.0, 2.0], [3.0, 4.0, 5.5]], [1, 300, 70000, -1])}"
	if err != nil || repr(got) != want {
		t.Errorf("%v\n got %s\nwant %s", err, repr(got), want)
	}
}

// A truncated file is an error, never a shorter value or a panic.
func TestTruncated(t *testing.T) {
	for _, name := range []string{"class.pth", "types.pth"} {
		whole := fixture(t, name)
		for n := range len(whole) {
			v, err := readPTH(whole[:n])
			if err == nil {
				t.Fatalf("%s of %d bytes instead of %d is read as %s", name, n, len(whole), repr(v))
			}
		}
	}
	program := fixture(t, "protocol4.pkl")
	for n := range len(program) {
		if _, err := unpickle(program[:n], noStorage); err == nil {
			t.Fatalf("a pickle of %d bytes instead of %d is read", n, len(program))
		}
	}
}

// A changed bit in a number of a tensor is an error.
func TestDamagedPTH(t *testing.T) {
	whole := fixture(t, "class.pth")
	number := []byte{0, 0, 0x80, 0x3e} // 0.25 in float32
	at := bytes.Index(whole, number)
	if at < 0 {
		t.Fatal("no number 0.25")
	}
	whole[at+1] ^= 1
	_, err := readPTH(whole)
	demand.Error(t, err, "class/data/0", "damaged", "checksum")
}

func TestArchive(t *testing.T) {
	member := func(name, data string) Member { return Member{Name: name, Data: []byte(data)} }
	none := member("data.pkl", "\x80\x02N.")
	tensor := "ctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\nFloatStorage\n" +
		"X\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x02tQK\x00K\x02\x85K\x01\x85\x89}tR."
	if v, err := readPTH(Zip([]Member{none})); err != nil || v != nil {
		t.Errorf("without byteorder, as torch 1.6 wrote it: %v, %v", v, err)
	}
	for _, c := range []struct {
		name  string
		files []Member
		words []string
	}{
		{"big-endian", []Member{none, member("byteorder", "big")}, []string{"byte order is big", "little-endian"}},
		{"no pickle", []Member{member("data/0", "")}, []string{"zip without data.pkl"}},
		{"two pickles", []Member{none, none}, []string{"two entries data.pkl"}},
		{"an entry twice", []Member{none, member("data/0", ""), member("data/0", "")},
			[]string{"two entries archive/data/0"}},
		{"no storage", []Member{member("data.pkl", tensor)}, []string{"no entry data/0"}},
		{"short storage", []Member{member("data.pkl", tensor), member("data/0", "1234567")},
			[]string{"data/0 has 7 bytes", "2 numbers of 4"}},
		{"long storage", []Member{member("data.pkl", tensor), member("data/0", "123456789")},
			[]string{"data/0 has 9 bytes"}},
		{"long pickle", []Member{member("data.pkl", strings.Repeat("N", maxPickle+1))}, []string{"4194305 bytes"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := readPTH(Zip(c.files))
			demand.Error(t, err, c.words...)
		})
	}
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	w, err := z.Create("archive/data.pkl")
	if err != nil {
		t.Fatal(err)
	}
	w.Write([]byte("\x80\x02N."))
	z.Close()
	_, err = readPTH(packed.Bytes())
	demand.Error(t, err, "archive/data.pkl is compressed")
	_, err = readPTH([]byte("no zip at all"))
	demand.Error(t, err, "not a file of torch.save")
}

func noStorage(kind, string, int64) (*storage, error) { return nil, fmt.Errorf("no storage here") }

// repr formats a value as Python's repr, a tensor as its tolist().
func repr(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		return strings.ToUpper(fmt.Sprint(v)[:1]) + fmt.Sprint(v)[1:]
	case float64:
		text := strconv.FormatFloat(v, 'g', -1, 64)
		if !strings.ContainsAny(text, ".e") {
			text += ".0"
		}
		return text
	case string:
		return "'" + v + "'"
	case pyTuple:
		if len(v) == 1 {
			return "(" + repr(v[0]) + ",)"
		}
		return "(" + reprs(v) + ")"
	case *pyList:
		return "[" + reprs(v.Items) + "]"
	case *pyDict:
		var parts []string
		for i, key := range v.Keys {
			parts = append(parts, repr(key)+": "+repr(v.Values[i]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case *tensor:
		return reprTensor(v)
	}
	return fmt.Sprint(v)
}

func reprs(values []any) string {
	var parts []string
	for _, v := range values {
		parts = append(parts, repr(v))
	}
	return strings.Join(parts, ", ")
}

func reprTensor(t *tensor) string {
	if len(t.Shape) == 0 {
		text := repr(float64(t.AppendFloat32(nil)[0]))
		if t.storage.kind.size == 8 {
			text = strings.TrimSuffix(text, ".0")
		}
		return text
	}
	var parts []string
	for i := range t.Shape[0] {
		parts = append(parts, reprTensor(t.Sub(i)))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}
