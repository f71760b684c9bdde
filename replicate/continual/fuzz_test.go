package continual

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute/dtypes/float16"
	"github.com/klauspost/compress/zstd"
)

// FuzzFeatures reads bytes as a file of features, and as the features of one. Features that are accepted are the same
// after they were written and read again, and as many as were asked for.
func FuzzFeatures(f *testing.F) {
	for _, n := range []int{0, 1, 100} {
		file, err := encodeFeatures(make([]float16.Float16, n))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(true, uint16(n), file)
		f.Add(true, uint16(n+1), file)
		f.Add(false, uint16(n), slices.Concat(file, bytes.Repeat([]byte{7}, n)))
	}
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(true, uint16(100), encoder.EncodeAll(make([]byte, 1<<20), nil))
	f.Fuzz(func(t *testing.T, whole bool, n uint16, data []byte) {
		file := data
		if !whole {
			sum := sha256.Sum256(data)
			file = encoder.EncodeAll(slices.Concat(data, sum[:]), nil)
		}
		features, err := decodeFeatures(file, int(n))
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\x00") || !whole && len(data) == 2*int(n) {
				t.Fatalf("%d bytes for %d features: %q", len(data), n, err)
			}
			return
		}
		again, err := encodeFeatures(features)
		if err != nil {
			t.Fatal(err)
		}
		if same, err := decodeFeatures(again, int(n)); err != nil || !slices.Equal(same, features) || len(same) != int(n) {
			t.Fatalf("%d features, read again %d, %v", len(features), len(same), err)
		}
	})
}
