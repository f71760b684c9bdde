package clear

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
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
		"parameter.pth": {"global torch._utils._rebuild_parameter"},
		"bytes.pth":     {"global torch.ByteStorage"},
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
	demand.Error(t, err, "class/data/0", "damaged", "checksum")
}

func TestArchive(t *testing.T) {
	member := func(name, data string) Member { return Member{Name: name, Data: []byte(data)} }
	tensor := member("data.pkl", "\x80\x02"+twoNumbers+".")
	for _, c := range []struct {
		name  string
		files []Member
		words []string
	}{
		{"no pickle", []Member{member("data/0", "")}, []string{"zip without the entry data.pkl"}},
		{"no storage", []Member{tensor}, []string{"without the entry data/0"}},
		{"short storage", []Member{tensor, member("data/0", "1234567")},
			[]string{"data/0 has 7 bytes", "2 numbers of 4"}},
		{"long storage", []Member{tensor, member("data/0", "123456789")}, []string{"data/0 has 9 bytes"}},
		{"long pickle", []Member{member("data.pkl", strings.Repeat("N", maxPickle+1))}, []string{"4194305 bytes"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := readPTH(Zip(c.files))
			demand.Error(t, err, c.words...)
		})
	}
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	_, err := z.Create("archive/data.pkl")
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	_, err = readPTH(packed.Bytes())
	demand.Error(t, err, "archive/data.pkl is compressed")
}

// twoNumbers is a pickle of a tensor of the storage 0, of two numbers.
const twoNumbers = "ctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\nFloatStorage\n" +
	"X\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x02tQK\x00K\x02\x85K\x01\x85\x89}tR"

// malicious are pickles that would execute code in Python, or that Python does not write.
var malicious = []struct {
	name, pickle string
	words        []string
}{
	{"GLOBAL and REDUCE", "\x80\x02cos\nsystem\nX\x02\x00\x00\x00id\x85R.", []string{"global os.system"}},
	{"a longer name", "\x80\x02ctorch\nFloatStorage.eval\n.", []string{"global torch.FloatStorage.eval"}},
	{"a message of several lines", "\x80\x02ca\x01b\nc\n.", []string{`global a\x01b.c`}},
	{"a name without end", "\x80\x02cos", []string{"truncated"}},
	{"STACK_GLOBAL", "\x80\x02X\x02\x00\x00\x00osX\x02\x00\x00\x00id\x93.", []string{"opcode 0x93 at byte 16"}},
	{"BUILD", "\x80\x02ccollections\nOrderedDict\n)R}b.", []string{"opcode 0x62"}},
	{"BINPERSID of a string", "\x80\x02X\x01\x00\x00\x00aQ.", []string{"persistent id", "no storage"}},
	{"BINPERSID of another tuple", "\x80\x02(X\x06\x00\x00\x00moduleNNNNtQ.", []string{"persistent id"}},
	{"a function as storage",
		"\x80\x02(X\x07\x00\x00\x00storagectorch._utils\n_rebuild_tensor_v2\nX\x01\x00\x00\x000X\x00\x00\x00\x00K\x01tQ.",
		[]string{"persistent id"}},
	{"a storage of None", "\x80\x02(X\x07\x00\x00\x00storagectorch\nFloatStorage\nNNNtQ.",
		[]string{"not described by kind, key"}},
	{"a called string", "\x80\x02X\x01\x00\x00\x00a)R.", []string{"calls a value of type str"}},
	{"a called storage", "\x80\x02ctorch\nFloatStorage\nK\x05\x85R.", []string{"type global torch.FloatStorage"}},
	{"OrderedDict of pairs", "\x80\x02ccollections\nOrderedDict\n]\x85R.",
		[]string{"type global collections.OrderedDict"}},
	{"a tensor of nothing", "\x80\x02ctorch._utils\n_rebuild_tensor_v2\n)R.", []string{"not described by storage"}},
	{"a tensor of None", "\x80\x02ctorch._utils\n_rebuild_tensor_v2\n(NNNNNNtR.", []string{"not described by storage"}},

	{"protocol 4", "\x80\x04N.", []string{"protocol 4"}},
	{"empty", "", []string{"truncated"}},
	{"STOP without a value", "\x80\x02.", []string{"0 values"}},
	{"two values", "\x80\x02NN.", []string{"2 values"}},
	{"a mark that stays", "\x80\x02N(.", []string{"values on the stack"}},
	{"a long string", "\x80\x02X\xff\xff\xff\xffa.", []string{"truncated", "4294967295 bytes"}},
	{"an integer of 9 bytes", "\x80\x02\x8a\x09123456789.", []string{"integer of 9 bytes"}},
	{"a memo number that was not set", "\x80\x02j\xff\xff\xff\xff.", []string{"memo number 4294967295", "not set"}},
	{"a tuple without a mark", "\x80\x02Nt.", []string{"a mark that does not exist"}},
	{"a tuple of nothing", "\x80\x02N\x86.", []string{"empty stack"}},
	{"a tuple across a mark", "\x80\x02N(N\x86.", []string{"empty stack"}},
	{"APPEND to None", "\x80\x02NNa.", []string{"appends", "no list"}},
	{"APPENDS to nothing", "\x80\x02(Ne.", []string{"empty stack"}},
	{"SETITEM of a list", "\x80\x02]NNs.", []string{"no dict"}},
	{"SETITEMS without a value", "\x80\x02}(K\x01u.", []string{"key without a value"}},
	{"a list as key", "\x80\x02}]Ns.", []string{"key of type list"}},
	{"no UTF-8", "\x80\x02X\x01\x00\x00\x00\xff.", []string{"not UTF-8"}},
}

func TestMalicious(t *testing.T) {
	for _, c := range malicious {
		t.Run(c.name, func(t *testing.T) {
			_, err := readPTH(Archive([]byte(c.pickle)))
			demand.Error(t, err, c.words...)
		})
	}
}

// Harmless opcodes that no other test covers.
func TestPlainOpcodes(t *testing.T) {
	for pickle, want := range map[string]string{
		"\x8a\x00":                     "0",
		"\x8a\x02\xff\x7f":             "32767",
		"\x8a\x02\x00\x80":             "-32768",
		"\x8a\x05\x00\xf2\x05\x2a\x01": "5000000000",
		"J\xfe\xff\xff\xff":            "-2",
		"(N\x88)K\x01K\x02K\x03\x87t":  "(<nil>, true, (), (1, 2, 3))",
		"}K\x01K\x02s":                 "{1: 2}",
		"]r\x00\x01\x00\x00K\x07aj\x00\x01\x00\x00\x86": "([7], [7])",
	} {
		v, err := readPTH(Archive([]byte("\x80\x02" + pickle + ".")))
		if err != nil || repr(v) != want {
			t.Errorf("%q: %s, %v; want %s", pickle, repr(v), err, want)
		}
	}
}

// A million nested lists must not exhaust the call stack.
func TestDeep(t *testing.T) {
	const depth = 1_000_000
	_, err := readPTH(Archive([]byte("\x80\x02" + strings.Repeat("]", depth) + strings.Repeat("a", depth-1) + ".")))
	if err != nil {
		t.Error(err)
	}
}

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
		{11, n{1, 1}, n{100, math.MaxInt64}, "[[11.0]]"},
		{0, n{3, 2}, n{1, 3}, ""},
		{0, n{2, 2}, n{0, 1}, ""},
		{12, n{}, n{}, ""},
		{-1, n{2}, n{1}, ""},
		{0, n{13}, n{1}, ""},
		{1, n{12}, n{1}, ""},
		{0, n{1 << 62, 4}, n{4, 1}, ""},
		{math.MaxInt64, n{2}, n{1}, ""},
		{0, n{-2, -2}, n{-2, 1}, ""},
		{0, n{0}, n{1}, ""},
		{0, n{1, 1, 1, 1, 1, 1, 1, 1, 1}, n{1, 1, 1, 1, 1, 1, 1, 1, 1}, ""},
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

// FuzzRead: any file gives a value or an error of one line.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"class.pth", "all.pth", "legacy.pth", "bytes.pth"} {
		f.Add(fixture(f, name))
	}
	f.Fuzz(func(t *testing.T, raw []byte) { inspect(t, raw) })
}

// FuzzPickle reads the fuzzed bytes as the pickle of a correct zip, with storages of 16 and 2 numbers.
func FuzzPickle(f *testing.F) {
	f.Add([]byte("\x80\x02" + twoNumbers + "."))
	for _, c := range malicious {
		f.Add([]byte(c.pickle))
	}
	numbers := make([]byte, 64)
	f.Fuzz(func(t *testing.T, pickle []byte) { inspect(t, Archive(pickle, numbers, numbers[:8])) })
}

// inspect checks the value or the error of readPTH.
func inspect(t *testing.T, raw []byte) {
	v, err := readPTH(raw)
	if err != nil && v != nil {
		t.Errorf("a %s together with the error %v", describe(v), err)
	}
	if err != nil && strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' }) {
		t.Errorf("control characters in %q", err)
	}
	if x, ok := v.(*tensor); ok && 4*len(x.AppendFloat32(nil)) > len(raw) {
		t.Errorf("%d values from %d bytes", x.Len(), len(raw))
	}
}

// repr formats a value as Python's repr, a tensor as its tolist().
func repr(v any) string {
	switch v := v.(type) {
	case string:
		return "'" + v + "'"
	case pyTuple:
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
		if len(v.Shape) == 0 {
			return strings.TrimSuffix(fmt.Sprintf("%.2f", v.AppendFloat32(nil)[0]), "0")
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
