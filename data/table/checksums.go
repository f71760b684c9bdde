package table

import (
	"bufio"
	"context"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/thrift/lib/go/thrift"
)

// mostHeader limits the size of a page's header.
const mostHeader = 16 << 20

// checkPages compares the pages of a column chunk with the checksums that their headers have, which arrow-go does not
// read. From the first page without one on nothing is checked. What cannot be read is left to arrow-go, whose errors
// name it.
func (f *parquetFile) checkPages(c *metadata.ColumnChunkMetaData) error {
	begin := c.DataPageOffset()
	if c.HasDictionaryPage() && c.DictionaryPageOffset() > 0 {
		begin = min(begin, c.DictionaryPageOffset())
	}
	in := bufio.NewReaderSize(io.NewSectionReader(f.r, begin, c.TotalCompressedSize()), 1<<16)
	for number := 1; ; number++ {
		size, want, ok := pageHeader(in)
		if size < 0 || !ok {
			return nil
		}
		sum := crc32.NewIEEE()
		if n, err := io.CopyN(sum, in, size); err != nil || n < size {
			return nil
		}
		if sum.Sum32() != want {
			return fmt.Errorf("page %d of a column is not what its checksum says", number)
		}
	}
}

// pageHeader reads the header of a page up to its data: their size, negative at the end or if there is no header, and
// their checksum if there is one.
func pageHeader(in *bufio.Reader) (size int64, sum uint32, ok bool) {
	ctx := context.Background()
	p := thrift.NewTCompactProtocolConf(thrift.NewStreamTransportR(in), &thrift.TConfiguration{MaxMessageSize: mostHeader})
	if _, err := p.ReadStructBegin(ctx); err != nil {
		return -1, 0, false
	}
	size = -1
	for {
		_, kind, id, err := p.ReadFieldBegin(ctx)
		switch {
		case err != nil:
			return -1, 0, false
		case kind == thrift.STOP:
			return size, sum, ok
		case kind == thrift.I32 && (id == 3 || id == 4): // compressed_page_size, crc
			v, err := p.ReadI32(ctx)
			if err != nil {
				return -1, 0, false
			}
			if id == 3 {
				size = int64(v)
			} else {
				sum, ok = uint32(v), true
			}
		default:
			if err := thrift.SkipDefaultDepth(ctx, p, kind); err != nil {
				return -1, 0, false
			}
		}
	}
}
