package net

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"tvps/ci/demand"
)

// small is a checkpoint with few values.
func small() Checkpoint {
	return Checkpoint{
		Params:   []Param{{Name: "w", Dims: []int{2, 3}}, {Name: "b", Dims: []int{2}}, {Name: "a", Dims: nil}},
		Values:   Values{{1, 2, 3, 4, 5, 6}, {-.5, .25}, {7}},
		Metadata: map[string]string{"width": "16"},
	}
}

func save(t *testing.T, c Checkpoint) (path string, data []byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "x.safetensors")
	demand.NoError(t, c.Save(path))
	return path, demand.Read(t, path)
}

func TestCheckpointRoundTrip(t *testing.T) {
	for _, c := range []Checkpoint{small(), {}} {
		path, first := save(t, c)
		read, err := ReadCheckpoint(path)
		demand.NoError(t, err)
		if a, b := fmt.Sprint(read.Values, read.Metadata), fmt.Sprint(c.Values, c.Metadata); a != b {
			t.Errorf("read %.200s, saved %.200s", a, b)
		}
		if _, second := save(t, *read); !bytes.Equal(first, second) {
			t.Error("saved again, the file has other bytes")
		}
	}
	c := small()
	if save(t, c); len(c.Metadata) != 1 {
		t.Errorf("saving changed the metadata: %v", c.Metadata)
	}
}

// TestSafetensors reads the file according to the description of the safetensors format.
func TestSafetensors(t *testing.T) {
	_, data := save(t, small())
	length := binary.LittleEndian.Uint64(data)
	head, body := data[8:8+length], data[8+length:]
	var header map[string]struct {
		DType   string `json:"dtype"`
		Shape   []int  `json:"shape"`
		Offsets []int  `json:"data_offsets"`
		Width   string `json:"width"`
	}
	if err := json.Unmarshal(head, &header); err != nil || head[0] != '{' || (8+length)%8 != 0 {
		t.Fatalf("the header %q: %v", head, err)
	}
	got := fmt.Sprint(header["w"], header["b"], header["a"])
	if got != "{F32 [2 3] [0 24] } {F32 [2] [24 32] } {F32 [] [32 36] }" || len(header) != 4 {
		t.Errorf("arrays: %s", got)
	}
	if header["__metadata__"].Width != "16" {
		t.Errorf("metadata: %+v", header["__metadata__"])
	}
	for i, want := range []float32{1, 2, 3, 4, 5, 6, -.5, .25, 7} {
		demand.Equal(t, math.Float32frombits(binary.LittleEndian.Uint32(body[4*i:])), want, "value %d", i)
	}
	if len(body) != 36 {
		t.Errorf("%d bytes of arrays", len(body))
	}
}

// TestDamagedCheckpoint: every changed byte and every length is an error, and so is a header that Save does not write.
func TestDamagedCheckpoint(t *testing.T) {
	path, data := save(t, small())
	for i := range data {
		flipped := bytes.Clone(data)
		flipped[i] ^= 0x10
		if _, err := DecodeCheckpoint(flipped); err == nil {
			t.Errorf("no error with byte %d changed", i)
		}
		if _, err := DecodeCheckpoint(data[:i]); err == nil {
			t.Errorf("no error with %d bytes", i)
		}
	}
	replace := func(old, new string) []byte { // of text in the header, whose length stays right
		b := bytes.Replace(data, []byte(old), []byte(new), 1)
		length := binary.LittleEndian.Uint64(b) + uint64(len(new)-len(old))
		return append(binary.LittleEndian.AppendUint64(nil, length), b[8:]...)
	}
	for name, changed := range map[string][]byte{
		"too long":                       append(bytes.Clone(data), 0),
		"a huge header":                  append(binary.LittleEndian.AppendUint64(nil, 1<<62), data[8:]...),
		"another type":                   replace(`"F32"`, `"F64"`),
		"another shape of the same size": replace(`[2,3]`, `[3,2]`),
		"overlapping arrays":             replace(`[24,32]`, `[20,28]`),
		"a negative offset":              replace(`[0,24]`, `[-9,15]`),
		"a key twice":                    replace(`"F32","shape":[2,3]`, `"F32","shape":[2,3],"shap\u0065":[2,3]`),
		"no checksum":                    replace(`"sha256"`, `"sha257"`),
		"no object":                      replace(`{"__`, `[["_`),
	} {
		demand.NoError(t, os.WriteFile(path, changed, 0o644))
		_, err := ReadCheckpoint(path)
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		demand.Error(t, err, path, "damaged", "train again")
	}
}

func TestSaveErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	demand.NoError(t, os.WriteFile(file, nil, 0o644))
	path := filepath.Join(file, "x.safetensors")
	demand.Error(t, small().Save(path), "cannot write", path)
	if _, err := ReadCheckpoint(filepath.Join(t.TempDir(), "none")); !os.IsNotExist(err) {
		t.Errorf("a missing file: %v", err)
	}
}

func TestSelect(t *testing.T) {
	c := small()
	got, err := c.Select([]Param{{Name: "b", Dims: []int{2}}, {Name: "w", Dims: []int{2, 3}}}, "")
	if err != nil || fmt.Sprint(got) != "[[-0.5 0.25] [1 2 3 4 5 6]]" {
		t.Errorf("%v, %v", got, err)
	}
	for _, p := range []Param{{Name: "w", Dims: []int{3, 2}}, {Name: "c", Dims: []int{2}}} {
		_, err := c.Select([]Param{p}, "")
		demand.Error(t, err, fmt.Sprintf("no array %q of shape %v", p.Name, p.Dims), "width")
	}
}
