package clear

import (
	"archive/zip"
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

// repr formats images as Python's repr.
func repr(v any) string {
	var parts []string
	for _, image := range *v.(*types.Dict) {
		var numbers []string
		for _, x := range image.Value.(vector) {
			numbers = append(numbers, strings.TrimSuffix(fmt.Sprintf("%.2f", x), "0"))
		}
		parts = append(parts, fmt.Sprintf("'%s': [%s]", image.Key, strings.Join(numbers, ", ")))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// Files that torch wrote are read as Python reads them.
func TestPython(t *testing.T) {
	for line := range strings.Lines(string(fixture(t, "expected.txt"))) {
		name, want, _ := strings.Cut(strings.TrimSpace(line), "\t")
		v, err := readPTH(fixture(t, name))
		if err != nil || repr(v) != want {
			t.Errorf("%s: %v\n got %v\nwant %s", name, err, v, want)
		}
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
	whole[bytes.Index(whole, binary.LittleEndian.AppendUint32(nil, math.Float32bits(0.25)))+1] ^= 1
	_, err := readPTH(whole)
	demand.Error(t, err, "class/data/0", "checksum")
}

// view is a pickle of a tensor with an offset, a size and a stride.
func view(offset, size, stride byte) string {
	return "\x80\x02ctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\nFloatStorage\n" +
		"X\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x0ctQK" + string(rune(offset)) + "K" + string(rune(size)) + "\x85K" +
		string(rune(stride)) + "\x85\x89}tR."
}

// A pickle that would execute code in Python, or that is damaged, is an error. A tensor is a part of its storage.
func TestMalicious(t *testing.T) {
	for name, c := range map[string]struct{ pickle, words string }{
		"a function":      {"\x80\x02cos\nsystem\nX\x02\x00\x00\x00id\x85R.", `global "os.system"`},
		"a longer name":   {"\x80\x02ctorch\nFloatStorage.eval\n.", `global "torch.FloatStorage.eval"`},
		"another storage": {"\x80\x02(X\x06\x00\x00\x00moduleNNNNtQ.", "no storage of float32"},
		"an empty tensor": {"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n)R.", "pickle is damaged"},
		"a key of a key":  {"\x80\x02}(K\x01u.", "pickle is damaged"},
		"too long":        {view(1, 12, 1), "pickle is damaged"},
		"a stride":        {view(0, 6, 2), "only vectors"},
		"a view":          {view(3, 9, 1), ""},
	} {
		var file bytes.Buffer
		z := zip.NewWriter(&file)
		for name, data := range map[string]string{"data.pkl": c.pickle, "data/0": strings.Repeat("\x00\x00\x80\x3f", 12)} {
			w, err := z.Create("archive/" + name)
			demand.NoError(t, err)
			fmt.Fprint(w, data)
		}
		demand.NoError(t, z.Close())
		v, err := readPTH(file.Bytes())
		if c.words == "" {
			if x, ok := v.(vector); err != nil || !ok || len(x) != 9 || x[8] != 1 {
				t.Errorf("%s: %v, %v", name, v, err)
			}
			continue
		}
		t.Log(name)
		demand.Error(t, err, c.words)
	}
}
