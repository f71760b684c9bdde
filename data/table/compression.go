package table

import "github.com/apache/arrow-go/v18/parquet/compress"

// codec is one of arrow-go's that reads a page of nulls alone, which may have no bytes.
type codec struct{ compress.Codec }

// DecodeWithError decompresses a page.
func (c codec) DecodeWithError(dst, src []byte) ([]byte, error) {
	if len(src) == 0 {
		return dst[:0], nil
	}
	return compress.Decode(c.Codec, dst, src)
}

// arrow-go's readers take codecs from one table of the process, and no reader can have its own. Codecs that were there
// before still encode, and decode all that they did.
func init() {
	for _, kind := range []compress.Compression{compress.Codecs.Snappy, compress.Codecs.Zstd} {
		of, _ := compress.GetCodec(kind)
		compress.RegisterCodec(kind, codec{of})
	}
}
