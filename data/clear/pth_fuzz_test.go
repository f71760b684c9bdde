package clear

import (
	"testing"
)

// fixtures are files of testdata that torch wrote.
var fixtures = []string{
	"class.pth", "views.pth", "all.pth", "types.pth", "protocol3.pth", "protocol4.pth", "protocol5.pth",
	"legacy.pth", "parameter.pth", "bytes.pth",
}

// FuzzRead: for any file, Read returns a value or an error of one line. Every tensor of the
// value can be read and is not larger than the file.
func FuzzRead(f *testing.F) {
	for _, name := range fixtures {
		f.Add(fixture(f, name))
	}
	f.Add(view(1, []int64{2, 3}, []int64{6, 2}))
	f.Fuzz(func(t *testing.T, raw []byte) { inspect(t, raw) })
}

// FuzzPickle reads the fuzzed bytes as the pickle of a correct zip, with storages of 16 and 2
// numbers.
func FuzzPickle(f *testing.F) {
	for _, name := range fixtures {
		if a, err := openPTH(fixture(f, name)); err == nil {
			program, err := a.bytes(a.entries["data.pkl"])
			if err != nil {
				f.Fatal(err)
			}
			f.Add(program)
		}
	}
	for _, name := range []string{"protocol2.pkl", "protocol5.pkl"} {
		f.Add(fixture(f, name))
	}
	for _, c := range malicious {
		f.Add([]byte(c.pickle))
	}
	numbers := make([]byte, 64)
	f.Fuzz(func(t *testing.T, pickle []byte) { inspect(t, Archive(pickle, numbers, numbers[:8])) })
}

// inspect checks the value or the error of Read.
func inspect(t *testing.T, raw []byte) {
	v, err := readPTH(raw)
	if err != nil {
		if v != nil {
			t.Errorf("a %s together with the error %v", typeName(v), err)
		}
		for _, r := range err.Error() {
			if r < ' ' {
				t.Errorf("control characters in %q", err)
			}
		}
		return
	}
	// A value may contain itself, so the walk needs a limit.
	next := []any{v}
	for range 10_000 {
		if len(next) == 0 {
			return
		}
		v, next = next[len(next)-1], next[:len(next)-1]
		switch v := v.(type) {
		case pyTuple:
			next = append(next, v...)
		case *pyList:
			next = append(next, v.Items...)
		case *pyDict:
			next = append(next, v.Values...)
			if len(v.Keys) != len(v.Values) {
				t.Errorf("%d keys, %d values", len(v.Keys), len(v.Values))
			}
		case *tensor:
			if x := v.AppendFloat32(nil); len(x) != v.Len() || 2*len(x) > len(raw) {
				t.Errorf("%d values of %d from %d bytes", len(x), v.Len(), len(raw))
			}
		}
	}
}
