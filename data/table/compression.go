package table

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
)

// decompress decompresses a page of size bytes.
func (d *pageDecoder) decompress(b []byte, size int64) ([]byte, error) {
	bad := func(err error) error {
		if err == nil {
			return torn("a page has another size than it states")
		}
		return torn("a page cannot be decompressed (%s)", cause(err))
	}
	switch d.codec {
	case 0:
		if int64(len(b)) != size {
			return nil, bad(nil)
		}
		return b, nil
	case 1:
		if n, err := snappy.DecodedLen(b); err != nil || int64(n) != size {
			return nil, bad(err)
		}
		out, err := snappy.Decode(nil, b)
		if err != nil {
			return nil, bad(err)
		}
		return out, nil
	case 2:
		var err error
		if d.gzip == nil {
			d.gzip, err = gzip.NewReader(bytes.NewReader(b))
		} else {
			err = d.gzip.Reset(bytes.NewReader(b))
		}
		if err != nil {
			d.gzip = nil
			return nil, bad(err)
		}
		return exactly(d.gzip, size, bad)
	case 6:
		if d.zstd == nil {
			var err error
			if d.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
				zstd.WithDecoderMaxWindow(128<<20)); err != nil {
				return nil, bad(err)
			}
		}
		if err := d.zstd.Reset(bytes.NewReader(b)); err != nil {
			return nil, bad(err)
		}
		return exactly(d.zstd, size, bad)
	case 7:
		out, ok := unlz4(b, int(size))
		if !ok {
			return nil, bad(nil)
		}
		return out, nil
	}
	name := map[int64]string{3: "LZO", 4: "Brotli", 5: "the deprecated LZ4"}[d.codec]
	if name == "" {
		name = fmt.Sprintf("codec %d", d.codec)
	}
	return nil, &Error{Problem: "the column is compressed with " + name + ", which is not read",
		Fix: "write the file with zstd or snappy"}
}

// exactly reads size bytes, then the end.
func exactly(r io.Reader, size int64, bad func(error) error) ([]byte, error) {
	out := make([]byte, size)
	if _, err := io.ReadFull(r, out); err != nil {
		return nil, bad(err)
	}
	var more [1]byte
	if n, err := io.ReadFull(r, more[:]); n > 0 || err != io.EOF {
		if err == io.EOF {
			err = nil
		}
		return nil, bad(err)
	}
	return out, nil
}

// unlz4 decompresses a block of LZ4 of size bytes.
func unlz4(b []byte, size int) (out []byte, ok bool) {
	if size > 255*len(b) {
		return nil, false
	}
	out = make([]byte, 0, size)
	length := func(n int) (int, bool) {
		if n < 15 {
			return n, true
		}
		for len(b) > 0 {
			c := b[0]
			b = b[1:]
			if n += int(c); n > size+15 {
				return 0, false
			}
			if c < 255 {
				return n, true
			}
		}
		return 0, false
	}
	for len(b) > 0 {
		token := b[0]
		b = b[1:]
		n, ok := length(int(token >> 4))
		if !ok || n > len(b) || len(out)+n > size {
			return nil, false
		}
		out, b = append(out, b[:n]...), b[n:]
		if len(b) == 0 {
			break
		}
		if len(b) < 2 {
			return nil, false
		}
		offset := int(binary.LittleEndian.Uint16(b))
		b = b[2:]
		if n, ok = length(int(token & 15)); !ok || offset == 0 || offset > len(out) || len(out)+n+4 > size {
			return nil, false
		}
		for range n + 4 {
			out = append(out, out[len(out)-offset])
		}
	}
	return out, len(out) == size
}
