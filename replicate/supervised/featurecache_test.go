package supervised

import (
	"bytes"
	"crypto/sha256"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tvps/ci/demand"

	"github.com/gomlx/compute/dtypes/float16"
	"github.com/klauspost/compress/zstd"
)

// TestFeatureCache: features are computed once. A file with another number of features, or a damaged one, is named in
// the log and written again. Features that cannot be written say so.
func TestFeatureCache(t *testing.T) {
	const n = 1000
	path := filepath.Join(t.TempDir(), "features", "x.zst")
	var log bytes.Buffer
	calls := 0
	get := func(path string) []float16.Float16 {
		t.Helper()
		out, err := cachedFeatures(t.Context(), path, n, &log, func() ([]float32, error) {
			calls++
			values := make([]float32, n)
			for i := range values {
				values[i] = float32(i%100) / 4 // which float16 represents exactly
			}
			return values, nil
		})
		demand.NoError(t, err)
		return out
	}
	first := get(path)
	for i, v := range first {
		if v.Float32() != float32(i%100)/4 {
			t.Fatalf("value %d is %v", i, v.Float32())
		}
	}
	if again := get(path); calls != 1 || !slices.Equal(again, first) || log.Len() > 0 {
		t.Fatalf("computed %d times, log %q", calls, &log)
	}
	whole := demand.Read(t, path)
	packed := func(raw []byte) []byte {
		encoder, err := zstd.NewWriter(nil)
		demand.NoError(t, err)
		defer encoder.Close()
		return encoder.EncodeAll(raw, nil)
	}
	ofZeros := sha256.Sum256(make([]byte, 2*n+2))
	for name, damaged := range map[string][]byte{
		"truncated":      whole[:len(whole)-9],
		"one more":       packed(append(make([]byte, 2*n+2), ofZeros[:]...)),
		"wrong checksum": packed(make([]byte, 2*n+sha256.Size)),
		"a large one":    packed(make([]byte, 64<<20)),
	} {
		calls = 0
		log.Reset()
		demand.Write(t, path, damaged)
		if got := get(path); calls != 1 || !slices.Equal(got, first) {
			t.Errorf("%s: computed %d times", name, calls)
		}
		demand.Words(t, log.String(), path, "damaged")
		if !bytes.Equal(demand.Read(t, path), whole) {
			t.Errorf("%s: the file was not written again", name)
		}
	}
	log.Reset()
	get(filepath.Join(path, "below a file.zst"))
	demand.Words(t, log.String(), "could not be cached")
}

// TestFeaturesOfTwoProcesses: of two that need the same features, one computes them and the other waits for it.
func TestFeaturesOfTwoProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.zst")
	var calls atomic.Int64
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			got, err := cachedFeatures(t.Context(), path, 3, nil, func() ([]float32, error) {
				calls.Add(1)
				time.Sleep(200 * time.Millisecond)
				return []float32{1, 2, 3}, nil
			})
			if err != nil || len(got) != 3 || got[2].Float32() != 3 {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
	both.Wait()
	if calls.Load() != 1 {
		t.Errorf("computed %d times", calls.Load())
	}
}
