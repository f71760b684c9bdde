package clear

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"tvps/ci/demand"

	"github.com/nlpodyssey/gopickle/types"
)

func fixture(tb testing.TB, name string) []byte {
	tb.Helper()
	return demand.Read(tb, filepath.Join("testdata", name))
}

// Files that torch wrote are read as Python reads them.
func TestPython(t *testing.T) {
	for line := range strings.Lines(string(fixture(t, "expected.txt"))) {
		name, want, _ := strings.Cut(strings.TrimSpace(line), "\t")
		v, err := readPTH(fixture(t, name))
		if err != nil || repr(v) != want {
			t.Errorf("%s: %v\n got %s\nwant %s", name, err, repr(v), want)
		}
	}
}

// Other objects that torch writes are errors that name them.
func TestTorchRefused(t *testing.T) {
	for name, words := range map[string][]string{
		"legacy.pth":    {"before 1.6"},
		"parameter.pth": {`global "torch._utils._rebuild_parameter"`},
		"bytes.pth":     {`global "torch.ByteStorage"`},
	} {
		_, err := readPTH(fixture(t, name))
		demand.Error(t, err, words...)
	}
}

// A truncated file is an error, never a shorter value or a panic; so is a changed bit in a number of a tensor.
func TestDamagedPTH(t *testing.T) {
	whole := fixture(t, "class.pth")
	for n := range len(whole) {
		if v, err := readPTH(whole[:n]); err == nil {
			t.Fatalf("%d bytes instead of %d are read as %s", n, len(whole), repr(v))
		}
	}
	whole[bytes.Index(whole, floats(0.25))+1] ^= 1
	_, err := readPTH(whole)
	demand.Error(t, err, "class/data/0", "checksum")
}

// twoNumbers is a pickle of a tensor of the storage 0, of two numbers.
const twoNumbers = "ctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\nFloatStorage\n" +
	"X\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x02tQK\x00K\x02\x85K\x01\x85\x89}tR"

// A pickle that would execute code in Python, or that is damaged, is an error.
func TestMalicious(t *testing.T) {
	for name, c := range map[string]struct{ pickle, words string }{
		"a function":      {"\x80\x02cos\nsystem\nX\x02\x00\x00\x00id\x85R.", `global "os.system"`},
		"a longer name":   {"\x80\x02ctorch\nFloatStorage.eval\n.", `global "torch.FloatStorage.eval"`},
		"another storage": {"\x80\x02(X\x06\x00\x00\x00moduleNNNNtQ.", "no storage of float32"},
		"an empty tensor": {"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n)R.", "not described by storage"},
		"a key of a key":  {"\x80\x02}(K\x01u.", "pickle is damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readPTH(Archive([]byte(c.pickle)))
			demand.Error(t, err, c.words)
		})
	}
}

// floats returns a float32 as in a .pth file.
func floats(v float32) []byte { return binary.LittleEndian.AppendUint32(nil, math.Float32bits(v)) }

// view returns the file of a tensor with the given description over the numbers 0 to 11.
func view(offset int64, size, stride []int64) []byte {
	integer := func(n int64) string { return "\x8a\x08" + string(binary.LittleEndian.AppendUint64(nil, uint64(n))) }
	tuple := func(values []int64) string {
		text := "("
		for _, n := range values {
			text += integer(n)
		}
		return text + "t"
	}
	start, _, _ := strings.Cut(twoNumbers, "K\x02tQ")
	pickle := "\x80\x02" + start + "K\x0ctQ" + integer(offset) + tuple(size) + tuple(stride) + "\x89NtR."
	var data []byte
	for i := range 12 {
		data = append(data, floats(float32(i))...)
	}
	return Archive([]byte(pickle), data)
}

// A tensor is a row-major part of its storage.
func TestViews(t *testing.T) {
	type n = []int64
	for _, c := range []struct {
		offset       int64
		size, stride []int64
		want         string // empty: an error
	}{
		{0, n{12}, n{1}, "[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0]"},
		{5, n{2, 3}, n{3, 1}, "[[5.0, 6.0, 7.0], [8.0, 9.0, 10.0]]"},
		{11, n{}, n{}, "11.0"},
		{0, n{3, 2}, n{1, 3}, ""},
		{-1, n{2}, n{1}, ""},
		{0, n{13}, n{1}, ""},
		{0, n{0}, n{1}, ""},
	} {
		v, err := readPTH(view(c.offset, c.size, c.stride))
		if c.want == "" {
			demand.Error(t, err, fmt.Sprintf("offset %d", c.offset), "no row-major part of its 12 numbers")
		} else if err != nil || repr(v) != c.want {
			t.Errorf("%d %d %d: %s, %v; want %s", c.offset, c.size, c.stride, repr(v), err, c.want)
		}
	}
	_, err := readPTH(view(0, n{2, 2}, n{1}))
	demand.Error(t, err, "not described by storage, offset, sizes and strides")
}

// repr formats a value as Python's repr, a tensor as its tolist().
func repr(v any) string {
	switch v := v.(type) {
	case string:
		return "'" + v + "'"
	case *types.Tuple:
		return "(" + reprs(*v) + ")"
	case *types.List:
		return "[" + reprs(*v) + "]"
	case *types.Dict:
		var parts []string
		for _, entry := range *v {
			parts = append(parts, repr(entry.Key)+": "+repr(entry.Value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case *tensor:
		if len(v.Shape) == 0 {
			return strings.TrimSuffix(fmt.Sprintf("%.2f", v.Values[0]), "0")
		}
		var rows []any
		for i := range v.Shape[0] {
			rows = append(rows, v.Sub(i))
		}
		return "[" + reprs(rows) + "]"
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
