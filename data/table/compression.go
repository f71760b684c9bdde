package table

import (
	"encoding/binary"

	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// codec decompresses pages. dst has the size that the page's header states, which was checked.
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

// Arrow-go lacks LZ4 as Hadoop frames it and empty pages, and its zstd takes the memory that compressed bytes ask for.
func init() {
	unzstd, _ := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true)) // no error
	for kind, decode := range map[compress.Compression]func(dst, src []byte) ([]byte, error){
		compress.Codecs.Zstd: func(dst, src []byte) ([]byte, error) { return unzstd.DecodeAll(src, dst[:0]) },
		compress.Codecs.Lz4:  unlz4,
	} {
		encode, _ := compress.GetCodec(kind) // none for LZ4, which is not written
		compress.RegisterCodec(kind, codec{encode, decode})
	}
	snappy, _ := compress.GetCodec(compress.Codecs.Snappy)
	compress.RegisterCodec(compress.Codecs.Snappy, codec{snappy, snappy.(compress.ErrorCodec).DecodeWithError})
}

// unlz4 decompresses the deprecated LZ4: blocks, each after its two sizes, as Hadoop writes them, or one bare block.
func unlz4(dst, src []byte) ([]byte, error) {
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
