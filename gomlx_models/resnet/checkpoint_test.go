package resnet

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/gomlx_models/net"
)

// small is a checkpoint with few values.
func small() Checkpoint {
	return Checkpoint{
		Params:   []net.Param{{Name: "w", Dims: []int{2, 3}}, {Name: "b", Dims: []int{2}}, {Name: "a", Dims: nil}},
		Values:   net.Values{{1, 2, 3, 4, 5, 6}, {-.5, .25}, {7}},
		Metadata: map[string]string{"width": "16"},
	}
}

func save(t *testing.T, c Checkpoint) (path string, data []byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "x.safetensors")
	if err := c.Save(path); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, data
}

func TestCheckpointRoundTrip(t *testing.T) {
	for _, c := range []Checkpoint{small(), *randomCheckpoint(t, 1), {Metadata: nil}} {
		path, first := save(t, c)
		read, err := ReadCheckpoint(path)
		if err != nil {
			t.Fatal(err)
		}
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
		if got := math.Float32frombits(binary.LittleEndian.Uint32(body[4*i:])); got != want {
			t.Errorf("value %d is %v, want %v", i, got, want)
		}
	}
	if len(body) != 36 {
		t.Errorf("%d bytes of arrays", len(body))
	}
}

func TestDamagedCheckpoint(t *testing.T) {
	replace := func(old, new string) func([]byte) []byte {
		return func(b []byte) []byte { // of text in the header, whose length stays right
			b = bytes.Replace(b, []byte(old), []byte(new), 1)
			length := binary.LittleEndian.Uint64(b) + uint64(len(new)-len(old))
			return append(binary.LittleEndian.AppendUint64(nil, length), b[8:]...)
		}
	}
	infinite := small()
	infinite.Values[1][1] = float32(math.NaN())
	for _, c := range []struct {
		name   string
		of     Checkpoint
		damage func([]byte) []byte
		words  []string
	}{
		{"empty", small(), func(b []byte) []byte { return nil }, []string{"ends at byte 0"}},
		{"truncated length", small(), func(b []byte) []byte { return b[:5] }, []string{"ends at byte 5"}},
		{"truncated header", small(), func(b []byte) []byte { return b[:50] },
			[]string{"header of", "does not fit into 50"}},
		{"truncated arrays", small(), func(b []byte) []byte { return b[:len(b)-3] },
			[]string{`"a"`, "bytes 32 to 36 of 33"}},
		{"too long", small(), func(b []byte) []byte { return append(b, 0) }, []string{"36 bytes, but 37 follow"}},
		{"not JSON", small(), replace(`"dtype"`, `"dtype `), []string{"not JSON"}},
		{"wrong type", small(), replace(`"F32"`, `"F64"`), []string{`"a"`}},
		{"wrong shape", small(), replace(`[2,3]`, `[2,4]`), []string{`"w"`, "bytes 0 to 24"}},
		{"huge shape", small(), replace(`[2,3]`, `[4611686018427387904]`), []string{`"w"`, "does not fit into 36 bytes"}},
		{"shape whose size overflows", small(), replace(`[2,3]`, `[4294967296,4294967296,6]`),
			[]string{`"w"`, "does not fit"}},
		{"negative shape", small(), replace(`[2,3]`, `[-2,-3]`), []string{`"w"`, "does not fit"}},
		{"shape of a fraction", small(), replace(`[2,3]`, `[1.5,4]`), []string{`"w"`}},
		{"no shape", small(), replace(`"shape":[2,3]`, `"shape":null`), []string{`"w"`, "must be F32 with a shape"}},
		{"one offset", small(), replace(`[0,24]`, `[24]`), []string{`"w"`, "two offsets"}},
		{"three offsets", small(), replace(`[0,24]`, `[0,24,0]`), []string{`"w"`, "two offsets"}},
		{"offsets in reverse", small(), replace(`[0,24]`, `[24,0]`), []string{`"w"`, "is not complete"}},
		{"overlap", small(), replace(`[24,32]`, `[20,28]`), []string{`"b" begins at byte 20`, "end at 24"}},
		{"gap", small(), func(b []byte) []byte {
			return append(bytes.Replace(b, []byte(`[32,36]`), []byte(`[36,40]`), 1), 0, 0, 0, 0)
		}, []string{`"a" begins at byte 36`, "end at 32"}},
		{"gap at the start", small(), replace(`[0,24]`, `[4,28]`), []string{`"w" begins at byte 4`, "end at 0"}},
		{"key of an array twice", small(), replace(`"b":`, `"a":`), []string{`the key "a" twice`}},
		{"escaped key twice", small(), replace(`"F32","shape":[2,3]`, `"F32","shape":[2,3],"shap\u0065":[3,2]`),
			[]string{`the key "shape" twice`}},
		{"another key", small(), replace(`"shape":[2,3]`, `"shapes":[2,3]`), []string{`"w"`, "no other"}},
		{"key in upper case", small(), replace(`"shape":[2,3]`, `"SHAPE":[2,3]`), []string{`"w"`, "no other"}},
		{"metadata of numbers", small(), replace(`"16"`, `1616`), []string{"metadata"}},
		{"header that begins with a space", small(), replace(`{"__m`, ` {"_m`), []string{"begins with {"}},
		{"header that is a list", small(), replace(`{"__`, `[["_`), []string{"begins with {"}},
		{"text after the header's value", small(), replace(`"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}}`,
			`"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}}x`), []string{"not JSON"}},
		{"text that is not UTF-8", small(), replace(`"16"`, "\"1\xff\""), []string{"header"}},
		{"no checksum", small(), replace(`"sha256"`, `"sha257"`), []string{"no checksum sha256"}},
		{"no metadata", small(), replace(`__metadata__`, `__metadata_x`), []string{"__metadata_x"}},
		{"other shape of the same size", small(), replace(`[2,3]`, `[3,2]`), []string{"checksum"}},
		{"shape that is no list", small(), replace(`[2,3]`, `"2 3"`), []string{`"w"`}},
		{"negative offset", small(), replace(`[0,24]`, `[-9,5]`), []string{`"w"`, "is not complete"}},
		{"flipped bit", small(), func(b []byte) []byte { b[len(b)-10] ^= 1; return b }, []string{"checksum"}},
		{"other name", small(), replace(`"w":`, `"v":`), []string{"checksum"}},
		{"other metadata", small(), replace(`"16"`, `"64"`), []string{"checksum"}},
		{"NaN", infinite, func(b []byte) []byte { return b }, []string{`"b"`, "NaN"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path, data := save(t, c.of)
			if err := os.WriteFile(path, c.damage(data), 0o644); err != nil {
				t.Fatal(err)
			}
			_, err := ReadCheckpoint(path)
			demand.Error(t, err, append(c.words, path, "damaged", "train again")...)
		})
	}
}

// A changed byte of the arrays is an error, and a changed byte of the header never makes the
// reader panic.
func TestEveryFlippedByte(t *testing.T) {
	_, data := save(t, small())
	body := len(data) - 36
	for i := range data {
		flipped := bytes.Clone(data)
		flipped[i] ^= 0x10
		if _, err := decode(flipped); err == nil && i >= body {
			t.Errorf("no error with byte %d changed", i)
		}
	}
}

// decode reads a file's bytes.
func decode(data []byte) (*Checkpoint, error) {
	c, _, err := decodeCheckpoint(bytes.NewReader(data), int64(len(data)))
	return c, err
}

// TestEmptyArrays: an array of no values takes no bytes, at any place.
func TestEmptyArrays(t *testing.T) {
	c := small()
	empty := func(name string, dims ...int) []net.Param { return []net.Param{{Name: name, Dims: dims}} }
	c.Params = slices.Concat(empty("z", 0), c.Params, empty("0", 4, 0))
	c.Values = slices.Concat(net.Values{{}}, c.Values, net.Values{{}})
	_, data := save(t, c)
	read, err := decode(data)
	if err != nil || len(read.Params) != 5 || len(read.Values[0]) != 0 || read.Values[1][5] != 6 {
		t.Errorf("%+v, %v", read, err)
	}
}

// TestHeaderTakesNoMemory: a length that the file does not have is refused before it is allocated, also in a file of a
// terabyte.
func TestHeaderTakesNoMemory(t *testing.T) {
	for length, size := range map[uint64]int64{
		1 << 62: 1 << 40, 1<<64 - 1: 1 << 40, maxHeader + 1: 1 << 40, 1 << 33: 1 << 40, maxHeader / 2: 100,
	} {
		data := binary.LittleEndian.AppendUint64(nil, length)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err := decodeCheckpoint(bytes.NewReader(data), size)
		runtime.ReadMemStats(&after)
		demand.Error(t, err, "does not fit")
		if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 1 {
			t.Errorf("a header of %d bytes takes %d MB", length, mb)
		}
	}
}

func TestSaveErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(file, "x.safetensors")
	demand.Error(t, small().Save(path), "cannot write", path)
	if _, err := ReadCheckpoint(filepath.Join(t.TempDir(), "none")); !os.IsNotExist(err) {
		t.Errorf("a missing file: %v", err)
	}
}

func TestSelect(t *testing.T) {
	c := small()
	got, err := c.Select([]net.Param{{Name: "b", Dims: []int{2}}, {Name: "w", Dims: []int{2, 3}}}, "")
	if err != nil || fmt.Sprint(got) != "[[-0.5 0.25] [1 2 3 4 5 6]]" {
		t.Errorf("%v, %v", got, err)
	}
	for _, p := range []net.Param{{Name: "w", Dims: []int{3, 2}}, {Name: "c", Dims: []int{2}}} {
		_, err := c.Select([]net.Param{p}, "")
		demand.Error(t, err, fmt.Sprintf("no array %q of shape %v", p.Name, p.Dims), "width")
	}
}

func TestResumeErrors(t *testing.T) {
	whole := randomCheckpoint(t, 1)
	cfg := tinyConfig(4)
	state := &State{Config: cfg, Epoch: 2, Weights: whole.Values, Velocity: whole.Values, Loss: 1.5}
	other := cfg
	other.Epochs, other.PeakRate, other.Seed = 9, .2, 3
	for _, c := range []struct {
		name   string
		cfg    Config
		change func(*Checkpoint)
		words  []string
	}{
		{"other settings", other, func(c *Checkpoint) {},
			[]string{"Epochs 4, not 9", "PeakRate 0.05, not 0.2", "Seed 0, not 3"}},
		{"no settings", cfg, func(c *Checkpoint) { delete(c.Metadata, "config") }, []string{"no training settings"}},
		{"negative epoch", cfg, func(c *Checkpoint) { c.Metadata["epoch"] = "-1" }, []string{`epoch`, `"-1" of 4`}},
		{"epoch after the last", cfg, func(c *Checkpoint) { c.Metadata["epoch"] = "5" }, []string{`"5" of 4`}},
		{"no epoch", cfg, func(c *Checkpoint) { delete(c.Metadata, "epoch") }, []string{"epoch"}},
		{"no loss", cfg, func(c *Checkpoint) { c.Metadata["loss"] = "low" }, []string{"loss"}},
		{"no velocity", cfg, func(c *Checkpoint) { c.Params = c.Params[:len(whole.Params)] },
			[]string{"velocity/stem/kernel"}},
		{"no weights", cfg, func(c *Checkpoint) { c.Params = c.Params[1:] }, []string{"stem/kernel"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			checkpoint := state.Checkpoint(whole.Params, true, nil)
			c.change(&checkpoint)
			_, err := Resume(&checkpoint, whole.Params, c.cfg)
			demand.Error(t, err, c.words...)
		})
	}
}

// A finished checkpoint has no velocity. The given metadata are added to its own.
func TestFinishedCheckpoint(t *testing.T) {
	whole := randomCheckpoint(t, 1)
	s := &State{Config: tinyConfig(4), Epoch: 4, Weights: whole.Values, Velocity: whole.Values, Loss: 1.5}
	c := s.Checkpoint(whole.Params, false, map[string]string{"data": "noise"})
	for _, p := range c.Params {
		if strings.HasPrefix(p.Name, velocityPrefix) {
			t.Fatalf("it holds %s", p.Name)
		}
	}
	if c.Metadata["data"] != "noise" || c.Metadata["epoch"] != "4" || c.Metadata["loss"] != "1.5" ||
		!strings.Contains(c.Metadata["config"], `"Width":2`) {
		t.Errorf("metadata %v", c.Metadata)
	}
}
