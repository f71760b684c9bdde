package resnet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"tvps/ci/demand"
	"tvps/data/cifar10"
	"tvps/gomlx_models/net"
)

// TestCommittedAccuracy runs the committed network on 100 test images of each class from the
// embedded sample, which were not used in its training.
func TestCommittedAccuracy(t *testing.T) {
	c, _, err := Load(t.TempDir(), 16, 0)
	demand.NoError(t, err)
	data, err := cifar10.Sample()
	demand.NoError(t, err)
	var rows []int32
	for _, class := range data.Test.ByClass() {
		rows = append(rows, class[:100]...)
	}
	test := data.Test.Select(rows)
	got, err := Accuracy(context.Background(), open(t, ""), c, 16, Images{test.Pixels, test.Labels})
	demand.NoError(t, err)
	t.Logf("accuracy %.3f on %d test images", got, test.Len())
	stated := c.Metadata["test-accuracy"]
	whole, err := strconv.ParseFloat(stated, 64)
	if err != nil || whole < .88 {
		t.Errorf("its stated test accuracy is %q, want at least .88", stated)
	}
	if sd := math.Sqrt(whole * (1 - whole) / float64(test.Len())); got < .85 || math.Abs(got-whole) > 4*sd {
		t.Errorf("accuracy %.3f on %d test images; it states %.3f", got, test.Len(), whole)
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	demand.Equal(t, FileName(4, 7), "resnet18-w4-split7.safetensors", "file name")
	_, _, err := Load(dir, 4, 7)
	demand.Error(t, err, "width 4 for split 7", "replicate pretrain --width 4 --seed 7")
	path := filepath.Join(dir, FileName(4, 7))
	want := net.Checkpoint{Params: []net.Param{{Name: "w", Dims: []int{2, 3}}, {Name: "b"}, {Name: "a"}},
		Values: net.Values{{1, 2, 3, 4, 5, 6}, {7}, {8}}}
	demand.NoError(t, want.Save(path))
	data := demand.Read(t, path)
	c, hash, err := Load(dir, 4, 7)
	if err != nil || c.Values[0][5] != 6 {
		t.Fatalf("%v, %v", c, err)
	}
	if sum := sha256.Sum256(data); hash != hex.EncodeToString(sum[:8]) {
		t.Errorf("hash %s", hash)
	}
	demand.NoError(t, os.WriteFile(path, data[:60], 0o644))
	_, _, err = Load(dir, 4, 7)
	demand.Error(t, err, FileName(4, 7), dir, "damaged", "replicate pretrain")
	demand.NoError(t, want.Save(filepath.Join(dir, FileName(16, 0))))
	// a file in dir has precedence over the committed one
	for from, arrays := range map[string]int{dir: 3, "": len(randomCheckpoint(t, 16).Params)} {
		c, _, err := Load(from, 16, 0)
		if err != nil || len(c.Params) != arrays {
			t.Errorf("Load(%q) holds %d arrays, want %d, %v", from, len(c.Params), arrays, err)
		}
	}
}
