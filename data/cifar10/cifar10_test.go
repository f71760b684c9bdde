package cifar10

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tvps/ci/demand"
)

// fakeDir creates the six official files with zeros only: labels 0, black images. The files
// are sparse and need no disk space.
func fakeDir(t *testing.T, dir string) string {
	t.Helper()
	demand.NoError(t, os.MkdirAll(dir, 0o755))
	for _, name := range officialFiles {
		resize(t, filepath.Join(dir, name), batchRecords*recordBytes)
	}
	return dir
}

func resize(t *testing.T, path string, size int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644)
	demand.NoError(t, err)
	defer f.Close()
	demand.NoError(t, f.Truncate(size))
}

func put(t *testing.T, path string, at int64, bytes ...byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	demand.NoError(t, err)
	defer f.Close()
	_, err = f.WriteAt(bytes, at)
	demand.NoError(t, err)
}

func TestReadBatch(t *testing.T) {
	path := filepath.Join(fakeDir(t, t.TempDir()), "data_batch_2.bin")
	put(t, path, 5*recordBytes, 7, 1, 2)
	put(t, path, 9999*recordBytes+3072, 200)
	n := 2 * batchRecords
	set := Set{Pixels: make([]byte, n*Pixels), Labels: make([]uint8, n), Index: make([]int32, n)}
	demand.NoError(t, readBatch(path, set, batchRecords))
	image := set.Image(batchRecords + 5)
	if set.Labels[batchRecords+5] != 7 || image[0] != 1 || image[1] != 2 || len(image) != Pixels {
		t.Errorf("record 5: label %d, pixels %v", set.Labels[batchRecords+5], image[:3])
	}
	if set.Pixels[n*Pixels-1] != 200 || set.Index[n-1] != 19999 || set.Index[batchRecords] != 10000 {
		t.Error("the last record is at the wrong place, or the indices are wrong")
	}
}

func TestReadDirErrors(t *testing.T) {
	const first = "data_batch_1.bin"
	for name, c := range map[string]struct {
		damage func(path string)
		words  string
	}{
		"short":     {func(path string) { resize(t, path, 3*recordBytes+10) }, "has 9229 bytes instead of 30730000"},
		"long":      {func(path string) { resize(t, path, batchRecords*recordBytes+1) }, "30730001 bytes"},
		"bad label": {func(path string) { put(t, path, 2*recordBytes, 10) }, "record 2 has label 10"},
		"missing":   {func(path string) { os.Remove(path) }, "no such file"},
	} {
		dir := fakeDir(t, t.TempDir())
		c.damage(filepath.Join(dir, first))
		_, err := readDir(dir)
		t.Log(name)
		demand.Error(t, err, first, c.words, "replicate data cifar10")
	}
}

func TestSplit(t *testing.T) {
	train, validation := Split(TrainImages, 0)
	if len(train) != 45000 || len(validation) != 5000 || !slices.IsSorted(train) || !slices.IsSorted(validation) {
		t.Fatalf("%d and %d rows, or not sorted", len(train), len(validation))
	}
	all := slices.Concat(train, validation)
	slices.Sort(all)
	for i, row := range all {
		if row != int32(i) {
			t.Fatalf("row %d is missing or twice", i)
		}
	}
	h := sha256.New()
	binary.Write(h, binary.LittleEndian, train)
	const golden = "3d0ba73cb3ec71bc8bcae74b695700bb2a47a8adffd99f06e731b0c7046ee6be"
	demand.Equal(t, hex.EncodeToString(h.Sum(nil)), golden,
		"the hash of the split of seed 0, on which committed checkpoints depend")
	if again, _ := Split(TrainImages, 0); !slices.Equal(again, train) {
		t.Error("the same seed gives two splits")
	}
	if other, _ := Split(TrainImages, 1); slices.Equal(other, train) {
		t.Error("seeds 0 and 1 give the same split")
	}
	if a, b := Split(7, 0); len(a) != 6 || len(b) != 1 {
		t.Errorf("7 images are split into %d and %d", len(a), len(b))
	}
}

// A set is split by official positions, not by rows.
func TestSetSplit(t *testing.T) {
	official, held := Split(TrainImages, 3)
	set := Set{Index: []int32{held[0], official[5], held[7], official[0]}}
	train, validation := set.Split(3)
	demand.Equal(t, fmt.Sprint(train, validation), "[1 3] [0 2]", "rows")
}

func TestByClassAndSelect(t *testing.T) {
	set := Set{Pixels: make([]byte, 4*Pixels), Labels: []uint8{3, 0, 3, 9}, Index: []int32{5, 6, 8, 11}}
	set.Pixels[2*Pixels] = 42
	rows := set.ByClass()
	demand.Equal(t, fmt.Sprint(rows), "[[1] [] [] [0 2] [] [] [] [] [] [3]]", "by class")
	part := set.Select([]int32{2, 1})
	if part.Len() != 2 || part.Image(0)[0] != 42 || fmt.Sprint(part.Labels, part.Index) != "[3 0] [8 6]" {
		t.Errorf("selected %v %v", part.Labels, part.Index)
	}
}
