package table

import (
	"encoding/binary"
	"errors"

	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// codec decompresses pages. It takes no memory that compressed bytes ask for: dst has the size that the page's header
// states, which was checked.
type codec struct {
	compress.Codec // compresses
	decode         func(dst, src []byte) ([]byte, error)
}

// DecodeWithError decompresses a page. A page of nulls alone may have no bytes.
func (c codec) DecodeWithError(dst, src []byte) ([]byte, error) {
	if len(src) == 0 {
		return dst[:0], nil
	}
	return c.decode(dst, src)
}

// Arrow-go lacks LZ4 as Hadoop frames it, and its snappy and zstd take the memory that compressed bytes ask for.
func init() {
	unzstd, _ := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true)) // no error
	for kind, decode := range map[compress.Compression]func(dst, src []byte) ([]byte, error){
		compress.Codecs.Zstd: func(dst, src []byte) ([]byte, error) { return unzstd.DecodeAll(src, dst[:0]) },
		compress.Codecs.Snappy: func(dst, src []byte) ([]byte, error) {
			if n, err := snappy.DecodedLen(src); err != nil || n > len(dst) {
				return nil, errors.Join(err, errors.New("more bytes than the page states"))
			}
			return snappy.Decode(dst, src)
		},
		compress.Codecs.Lz4: unlz4,
	} {
		encode, _ := compress.GetCodec(kind) // none for LZ4, which is not written
		compress.RegisterCodec(kind, codec{encode, decode})
	}
}

// unlz4 decompresses the deprecated LZ4: blocks, each after its two sizes, as Hadoop writes them, or one bare block.
func unlz4(dst, src []byte) ([]byte, error) {
	n := 0
	for rest := src; ; {
		if len(rest) == 0 {
			return dst[:n], nil
		}
		if len(rest) < 8 {
			break
		}
		size, compressed := binary.BigEndian.Uint32(rest), binary.BigEndian.Uint32(rest[4:])
		if rest = rest[8:]; int64(compressed) > int64(len(rest)) || int64(size) > int64(len(dst)-n) {
			break
		}
		got, err := lz4.UncompressBlock(rest[:compressed], dst[n:n+int(size)])
		if err != nil || got != int(size) {
			break
		}
		n, rest = n+got, rest[compressed:]
	}
	n, err := lz4.UncompressBlock(src, dst)
	return dst[:max(n, 0)], err
}
