package supervised

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"tvps/data/artifact"

	"github.com/gomlx/compute/dtypes/float16"
	"github.com/klauspost/compress/zstd"
)

// cachedFeatures returns the n features in a file. If the file is missing or damaged it computes and writes them; other
// processes wait for it. A cache that cannot be written costs only time: the log says so.
func cachedFeatures(ctx context.Context, path string, n int, log io.Writer,
	compute func() ([]float32, error)) ([]float16.Float16, error) {
	if features, err := readFeatures(path, n); err == nil {
		return features, nil
	}
	if unlock, err := artifact.Lock(ctx, path+".lock", "the features "+path, log); err == nil {
		defer unlock()
	} else if ctx.Err() != nil {
		return nil, err
	}
	features, err := readFeatures(path, n) // another process may have written them meanwhile
	if err == nil {
		return features, nil
	}
	if !errors.Is(err, fs.ErrNotExist) && log != nil {
		fmt.Fprintf(log, "The cached features %s are damaged (%v); computing them again.\n", path, err)
	}
	values, err := compute()
	if err != nil {
		return nil, err
	}
	features = make([]float16.Float16, len(values))
	for i, v := range values {
		features[i].SetFloat32(v)
	}
	if err := writeFeatures(path, features); err != nil && log != nil {
		fmt.Fprintf(log, "The features could not be cached: %v\n", err)
	}
	return features, ctx.Err()
}

// readFeatures reads n features. The file is a zstd stream of little-endian float16, then the SHA-256 of those bytes.
func readFeatures(path string, n int) ([]float16.Float16, error) {
	packed, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		return nil, err
	}
	defer decoder.Close()
	raw, err := decoder.DecodeAll(packed, make([]byte, 0, 2*n+sha256.Size))
	if err != nil {
		return nil, err
	}
	if len(raw) != 2*n+sha256.Size {
		return nil, fmt.Errorf("it holds %d bytes, not %d", len(raw), 2*n+sha256.Size)
	}
	if sum := sha256.Sum256(raw[:2*n]); !bytes.Equal(sum[:], raw[2*n:]) {
		return nil, errors.New("its checksum does not match")
	}
	out := make([]float16.Float16, n)
	for i := range out {
		out[i] = float16.Float16(binary.LittleEndian.Uint16(raw[2*i:]))
	}
	return out, nil
}

// writeFeatures writes the file that readFeatures reads.
func writeFeatures(path string, features []float16.Float16) error {
	raw := make([]byte, 0, 2*len(features)+sha256.Size)
	for _, f := range features {
		raw = binary.LittleEndian.AppendUint16(raw, uint16(f))
	}
	sum := sha256.Sum256(raw)
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return err
	}
	defer encoder.Close()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return artifact.Replace(path, encoder.EncodeAll(append(raw, sum[:]...), nil), 0o644)
}
