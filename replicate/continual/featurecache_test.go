package continual

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"

	"github.com/gomlx/compute/dtypes/float16"
	"github.com/klauspost/compress/zstd"
)

// features returns a function that computes n values which float16 represents exactly.
func features(n int) func() ([]float32, error) {
	return func() ([]float32, error) {
		out := make([]float32, n)
		for i := range out {
			out[i] = float32(i%100) / 4
		}
		return out, nil
	}
}

// TestFeatureCache: features are computed once. A file with another number of features is not used.
func TestFeatureCache(t *testing.T) {
	const n = 1000
	path := filepath.Join(t.TempDir(), "features", "x.zst")
	var log bytes.Buffer
	calls := 0
	get := func(n int) []float16.Float16 {
		t.Helper()
		out, err := cachedFeatures(t.Context(), path, n, &log, func() ([]float32, error) { calls++; return features(n)() })
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	first := get(n)
	for i, v := range first {
		if v.Float32() != float32(i%100)/4 {
			t.Fatalf("value %d is %v", i, v.Float32())
		}
	}
	if again := get(n); calls != 1 || !slices.Equal(again, first) || log.Len() > 0 {
		t.Fatalf("computed %d times, log %q", calls, &log)
	}
	calls = 0
	if get(n + 16); calls != 1 {
		t.Error("a file with another number of features was used")
	}
}

// TestDamagedFeatureCache: a damaged file is named in the log and written again.
func TestDamagedFeatureCache(t *testing.T) {
	const n = 1000
	path := filepath.Join(t.TempDir(), "x.zst")
	var log bytes.Buffer
	calls := 0
	get := func() []float16.Float16 {
		t.Helper()
		out, err := cachedFeatures(t.Context(), path, n, &log, func() ([]float32, error) { calls++; return features(n)() })
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	first := get()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string]func([]byte) []byte{
		"truncated": func(b []byte) []byte { return b[:len(b)-9] },
		"empty":     func(b []byte) []byte { return nil },
		"flipped":   func(b []byte) []byte { b[len(b)/2] ^= 4; return b },
		"no zstd":   func(b []byte) []byte { b[0] ^= 1; return b },
	} {
		calls = 0
		log.Reset()
		if err := os.WriteFile(path, damage(bytes.Clone(whole)), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := get(); calls != 1 || !slices.Equal(got, first) {
			t.Errorf("%s: computed %d times", name, calls)
		}
		if text := log.String(); !strings.Contains(text, path) || !strings.Contains(text, "damaged") {
			t.Errorf("%s: the log says %q", name, text)
		}
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, whole) {
			t.Errorf("%s: the file was not written again: %v", name, err)
		}
	}
}

// TestFeatureChecksum: a valid zstd stream is refused if its SHA-256 is that of other features.
func TestFeatureChecksum(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.zst")
	raw := []byte{1, 2, 3, 4, 5, 6, 7, 8}
	sum := sha256.Sum256(raw)
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer encoder.Close()
	for what, content := range map[string][]byte{"right": raw, "wrong": {1, 2, 3, 4, 5, 6, 7, 9}} {
		if err := os.WriteFile(path, encoder.EncodeAll(slices.Concat(content, sum[:]), nil), 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := readFeatures(path, 4)
		if what == "wrong" {
			demand.Error(t, err, "checksum")
		} else if err != nil || got[1] != 0x0403 {
			t.Errorf("%x, %v", got, err)
		}
	}
}

func TestFeatureCacheCannotBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	out, err := cachedFeatures(t.Context(), filepath.Join(file, "x.zst"), 10, &log, features(10))
	if err != nil || len(out) != 10 || !strings.Contains(log.String(), "could not be cached") {
		t.Errorf("%d features, %v, log %q", len(out), err, &log)
	}
	if _, err := cachedFeatures(t.Context(), filepath.Join(file, "x.zst"), 10, nil, features(10)); err != nil {
		t.Errorf("without a log: %v", err)
	}
	broken := errors.New("broken")
	fails := func() ([]float32, error) { return nil, broken }
	_, err = cachedFeatures(t.Context(), filepath.Join(t.TempDir(), "x"), 10, nil, fails)
	if err != broken {
		t.Errorf("got %v", err)
	}
}
