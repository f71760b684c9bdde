package table

import (
	"encoding/binary"

	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/pierrec/lz4/v4"
)

// codec is one of arrow-go's that reads a page of nulls alone, which may have no bytes.
type codec struct{ compress.Codec }

// DecodeWithError decompresses a page.
func (c codec) DecodeWithError(dst, src []byte) ([]byte, error) {
	if len(src) == 0 {
		return dst[:0], nil
	}
	return compress.Decode(c.Codec, dst, src)
}

// hadoop is LZ4 as Hadoop frames it, which arrow-go lacks.
type hadoop struct{ compress.Codec }

// arrow-go's readers take codecs from one table of the process, and no reader can have its own. Codecs that were there
// before still encode, and decode all that they did.
func init() {
	compress.RegisterCodec(compress.Codecs.Lz4, codec{hadoop{}})
	for _, kind := range []compress.Compression{compress.Codecs.Snappy, compress.Codecs.Zstd} {
		of, _ := compress.GetCodec(kind)
		compress.RegisterCodec(kind, codec{of})
	}
}

// DecodeWithError decompresses blocks, each after its two sizes, as Hadoop writes them, or one bare block.
func (hadoop) DecodeWithError(dst, src []byte) ([]byte, error) {
	n := 0
	for rest := src; len(rest) >= 8; {
		end := 8 + int64(binary.BigEndian.Uint32(rest[4:]))
		if end > int64(len(rest)) {
			break
		}
		got, err := lz4.UncompressBlock(rest[8:end], dst[n:])
		if err != nil || got != int(binary.BigEndian.Uint32(rest)) {
			break
		}
		if n, rest = n+got, rest[end:]; len(rest) == 0 {
			return dst[:n], nil
		}
	}
	n, err := lz4.UncompressBlock(src, dst)
	return dst[:max(n, 0)], err
}
