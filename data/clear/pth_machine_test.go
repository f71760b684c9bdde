package clear

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"tvps/ci/demand"
)

// malicious are pickles that would execute code in Python, or that Python does not write.
var malicious = []struct {
	name, pickle string
	words        []string
}{
	{"GLOBAL and REDUCE", "\x80\x02cos\nsystem\nX\x02\x00\x00\x00id\x85R.", []string{"global os.system"}},
	{"STACK_GLOBAL", "\x80\x04\x8c\x08builtins\x8c\x04eval\x93\x8c\x011\x85R.", []string{"global builtins.eval"}},
	{"GLOBAL alone", "\x80\x02cposix\nsystem\n.", []string{"global posix.system"}},
	{"a dotted name", "\x80\x04\x8c\x05torch\x8c\x11FloatStorage.eval\x93.", []string{"global torch.FloatStorage.eval"}},
	{"STACK_GLOBAL of numbers", "\x80\x04K\x01K\x02\x93.", []string{"global", "not a string"}},
	{"INST", "\x80\x02(S'id'\nios\nsystem\n.", []string{"opcode STRING at byte 3"}},
	{"INST at once", "\x80\x02(ios\nsystem\n.", []string{"opcode INST at byte 3"}},
	{"OBJ", "\x80\x02(cos\nsystem\nX\x02\x00\x00\x00ido.", []string{"global os.system"}},
	{"OBJ of a supported name", "\x80\x02(ccollections\nOrderedDict\no.", []string{"opcode OBJ"}},
	{"BUILD", "\x80\x02ccollections\nOrderedDict\n)R}b.", []string{"opcode BUILD"}},
	{"NEWOBJ", "\x80\x02csubprocess\nPopen\n)\x81.", []string{"global subprocess.Popen"}},
	{"NEWOBJ of a supported name", "\x80\x02ccollections\nOrderedDict\n)\x81.", []string{"opcode NEWOBJ"}},
	{"NEWOBJ_EX", "\x80\x04\x8c\x0bcollections\x8c\x0bOrderedDict\x93)}\x92.", []string{"opcode NEWOBJ_EX"}},
	{"EXT1", "\x80\x02\x82\x01.", []string{"opcode EXT1 at byte 2"}},
	{"EXT2", "\x80\x02\x83\x01\x00.", []string{"opcode EXT2"}},
	{"EXT4", "\x80\x02\x84\x01\x00\x00\x00.", []string{"opcode EXT4"}},
	{"PERSID", "\x80\x02Pstorage\n.", []string{"opcode PERSID"}},
	{"BINPERSID of a string", "\x80\x02X\x01\x00\x00\x00aQ.", []string{"persistent id of type str"}},
	{"BINPERSID of another tuple", "\x80\x02(X\x06\x00\x00\x00moduleNNNNtQ.", []string{"persistent id"}},
	{"storage of None", "\x80\x02(X\x07\x00\x00\x00storageNNNNtQ.", []string{"not described by kind, key"}},
	{"a tensor function as storage",
		"\x80\x02(X\x07\x00\x00\x00storagectorch._utils\n_rebuild_tensor_v2\nX\x01\x00\x00\x000X\x00\x00\x00\x00K\x01tQ.",
		[]string{"not described by kind, key"}},
	{"NEXT_BUFFER", "\x80\x05\x97.", []string{"opcode NEXT_BUFFER"}},
	{"bytes", "\x80\x03C\x01a.", []string{"opcode SHORT_BINBYTES"}},
	{"a set", "\x80\x04\x8f.", []string{"opcode EMPTY_SET"}},
	{"no opcode", "\x80\x02\xff.", []string{"0xff", "unknown in Python"}},
	{"a called string", "\x80\x02X\x01\x00\x00\x00a)R.", []string{"calls a value of type str"}},
	{"a called storage", "\x80\x02ctorch\nFloatStorage\nK\x05\x85R.", []string{"type global torch.FloatStorage"}},
	{"OrderedDict of pairs", "\x80\x02ccollections\nOrderedDict\n]\x85R.",
		[]string{"type global collections.OrderedDict"}},
	{"a tensor of nothing", "\x80\x02ctorch._utils\n_rebuild_tensor_v2\n)R.", []string{"by 0 values"}},
	{"a tensor of None", "\x80\x02ctorch._utils\n_rebuild_tensor_v2\n(NNNNNNtR.", []string{"not described by storage"}},
	{"a message of several lines", "\x80\x04\x8c\x05a\nb\nc\x8c\x01d\x93.", []string{`global a\nb\nc.d`}},
	{"a name without end", "\x80\x02cos", []string{"truncated"}},

	{"protocol 0", "(dp0\n.", []string{"opcode DICT"}},
	{"protocol 1", "\x80\x01N.", []string{"protocol 1"}},
	{"protocol 6", "\x80\x06N.", []string{"protocol 6"}},
	{"empty", "", []string{"truncated"}},
	{"no STOP", "\x80\x02N", []string{"truncated"}},
	{"STOP without a value", "\x80\x02.", []string{"0 values"}},
	{"two values", "\x80\x02NN.", []string{"2 values"}},
	{"a mark that stays", "\x80\x02N(.", []string{"values on the stack"}},
	{"a long string", "\x80\x02X\xff\xff\xff\xffa.", []string{"truncated", "4294967295 bytes"}},
	{"a longer string", "\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\xffa.",
		[]string{"truncated", "18446744073709551615 bytes"}},
	{"a long frame", "\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\x7fN.", []string{"truncated", "frame"}},
	{"a long integer", "\x80\x02\x8b\xff\xff\xff\x7f\x00.", []string{"integer of 2147483647 bytes"}},
	{"an integer of 9 bytes", "\x80\x02\x8a\x09123456789.", []string{"integer of 9 bytes"}},
	{"a far memo number", "\x80\x02Nr\xff\xff\xff\x7f.", []string{"memo number 2147483647"}},
	{"a far memo number to get", "\x80\x02j\xff\xff\xff\xff.", []string{"memo number 4294967295"}},
	{"a memo number that was not set", "\x80\x02h\x01.", []string{"memo number 1", "not set"}},
	{"POP of nothing", "\x80\x020N.", []string{"empty stack"}},
	{"POP below a mark", "\x80\x02N(0.", []string{"empty stack"}},
	{"POP_MARK without a mark", "\x80\x02N1.", []string{"a mark that does not exist"}},
	{"a tuple without a mark", "\x80\x02Nt.", []string{"a mark that does not exist"}},
	{"a tuple of nothing", "\x80\x02N\x86.", []string{"empty stack"}},
	{"APPEND to None", "\x80\x02NNa.", []string{"appends to a value of type None"}},
	{"APPENDS to nothing", "\x80\x02(Ne.", []string{"empty stack"}},
	{"APPENDS to a tuple", "\x80\x02)(Ne.", []string{"appends to a value of type tuple"}},
	{"SETITEM of a list", "\x80\x02]NNs.", []string{"sets items of a value of type list"}},
	{"SETITEMS without a value", "\x80\x02}(K\x01u.", []string{"key without a value"}},
	{"a list as key", "\x80\x02}]Ns.", []string{"key of type list"}},
	{"a float as key", "\x80\x02}G\x7f\xf8\x00\x00\x00\x00\x00\x00Ns.", []string{"key of type float"}},
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
		"\x80\x02\x8a\x00.":                                           "0",
		"\x80\x02\x8a\x02\xff\x7f.":                                   "32767",
		"\x80\x02\x8b\x02\x00\x00\x00\x00\x80.":                       "-32768",
		"\x80\x02J\xfe\xff\xff\xff.":                                  "-2",
		"\x80\x02NK\x010.":                                            "None",
		"\x80\x02N(K\x01K\x021.":                                      "None",
		"\x80\x02}K\x01K\x02sK\x01K\x03s.":                            "{1: 3}",
		"\x80\x02]q\x00K\x07a0h\x00.":                                 "[7]",
		"\x80\x04\x8d\x01\x00\x00\x00\x00\x00\x00\x00a\x94h\x00\x86.": "('a', 'a')",
	} {
		v, err := unpickle([]byte(pickle), noStorage)
		if err != nil || repr(v) != want {
			t.Errorf("%q: %s, %v; want %s", pickle, repr(v), err, want)
		}
	}
}

// A list may contain itself; reading must end.
func TestCycle(t *testing.T) {
	v, err := unpickle([]byte("\x80\x02]q\x00h\x00a."), noStorage)
	if err != nil {
		t.Fatal(err)
	}
	if list := v.(*pyList); len(list.Items) != 1 || list.Items[0] != v {
		t.Error("it is not the list that contains itself")
	}
}

// A million nested lists must not exhaust the call stack.
func TestDeep(t *testing.T) {
	const depth = 1_000_000
	v, err := unpickle([]byte("\x80\x02"+strings.Repeat("]", depth)+strings.Repeat("a", depth-1)+"."), noStorage)
	if err != nil {
		t.Fatal(err)
	}
	n := 1
	for list := v.(*pyList); len(list.Items) > 0; n++ {
		list = list.Items[0].(*pyList)
	}
	if n != depth {
		t.Errorf("%d lists deep, want %d", n, depth)
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
	pickle := "\x80\x02ctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\nFloatStorage\n" +
		"X\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x0ctQ" +
		integer(offset) + tuple(size) + tuple(stride) + "\x89NtR."
	var data []byte
	for i := range 12 {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(i)))
	}
	return Archive([]byte(pickle), data)
}

func TestViews(t *testing.T) {
	type n = []int64
	for _, c := range []struct {
		offset       int64
		size, stride []int64
		want         string // empty: an error
	}{
		{0, n{12}, n{1}, "[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0]"},
		{1, n{2, 3}, n{6, 2}, "[[1.0, 3.0, 5.0], [7.0, 9.0, 11.0]]"},
		{2, n{2, 3}, n{6, 2}, ""},
		{0, n{3, 2}, n{1, 3}, "[[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]"},
		{11, n{}, n{}, "11.0"},
		{11, n{1, 1}, n{100, math.MaxInt64}, "[[11.0]]"},
		{0, n{2, 2}, n{0, 1}, "[[0.0, 1.0], [0.0, 1.0]]"},
		{12, n{}, n{}, ""},
		{-1, n{2}, n{1}, ""},
		{0, n{13}, n{1}, ""},
		{1, n{12}, n{1}, ""},
		{0, n{13}, n{0}, ""},
		{0, n{4, 4}, n{0, 0}, ""},
		{0, n{1 << 32, 1 << 32}, n{0, 0}, ""},
		{0, n{math.MaxInt64, 3}, n{0, 0}, ""},
		{0, n{2}, n{math.MaxInt64}, ""},
		{1, n{2, 2}, n{math.MaxInt64, math.MaxInt64}, ""},
		{math.MaxInt64, n{2}, n{1}, ""},
		{11, n{2}, n{-1}, ""},
		{0, n{-1}, n{1}, ""},
		{0, n{-2, -2}, n{1, 1}, ""},
		{0, n{0}, n{1}, ""},
		{0, n{1, 1, 1, 1, 1, 1, 1, 1, 1}, n{1, 1, 1, 1, 1, 1, 1, 1, 1}, ""},
	} {
		v, err := readPTH(view(c.offset, c.size, c.stride))
		if c.want == "" {
			demand.Error(t, err, fmt.Sprintf("offset %d", c.offset), "do not fit into its 12 numbers")
			continue
		}
		if err != nil || repr(v) != c.want {
			t.Errorf("%d %d %d: %s, %v; want %s", c.offset, c.size, c.stride, repr(v), err, c.want)
		}
		flat := strings.NewReplacer("[", "", "]", "", ".0", "", ",", "").Replace(c.want)
		if got := fmt.Sprint(v.(*tensor).AppendFloat32(nil)); got != "["+flat+"]" {
			t.Errorf("%d %d %d: the elements are %s, want %s", c.offset, c.size, c.stride, got, flat)
		}
	}
	_, err := readPTH(view(0, n{2, 2}, n{1}))
	demand.Error(t, err, "not described by storage, offset, sizes and strides")
}
