package table

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
)

// Encodings of Parquet's pages.
const (
	encodingPlain           = 0
	encodingPlainDictionary = 2
	encodingRLE             = 3
	encodingDelta           = 5
	encodingDeltaLength     = 6
	encodingDeltaBytes      = 7
	encodingDictionary      = 8
	encodingSplit           = 9
)

// page has the values of a data page: one of the slices, by the physical type. INT96, texts and bytes are bytes.
type page struct {
	rows       int
	defined    []uint8 // 1 for a row that has a value; nil if all have
	ints       []int64
	floats     []float64
	bytes      [][]byte
	index      []uint32 // the values are those of a dictionary, at these places
	dictionary bool
	id         int // of the dictionary
}

// at is where the n-th value is.
func (p *page) at(n int) int {
	if p.dictionary {
		return int(p.index[n])
	}
	return n
}

// header is a page header.
type header struct {
	kind, uncompressed, compressed int64
	values, encoding               int64
	levels, repetitions            int64 // DataPageV2: sizes
	levelEncoding                  int64
	plain                          bool // DataPageV2: not compressed
}

// Types of pages.
const (
	dataPage       = 0
	dictionaryPage = 2
	dataPageV2     = 3
)

func (t *thrift) header() header {
	h := header{levelEncoding: encodingRLE}
	t.fields(thriftStruct, func(id int, typ byte) {
		switch id {
		case 1:
			h.kind = t.int(typ)
		case 2:
			h.uncompressed = t.int(typ)
		case 3:
			h.compressed = t.int(typ)
		case 5, 7, 8:
			t.fields(typ, func(field int, typ byte) {
				switch {
				case field == 1:
					h.values = t.int(typ)
				case field == 2 && id != 8 || field == 4 && id == 8:
					h.encoding = t.int(typ)
				case field == 3 && id == 5:
					h.levelEncoding = t.int(typ)
				case field == 5 && id == 8:
					h.levels = t.int(typ)
				case field == 6 && id == 8:
					h.repetitions = t.int(typ)
				case field == 7 && id == 8:
					h.plain = t.int(typ) == 0
				default:
					t.skip(typ, 0)
				}
			})
		default:
			t.skip(typ, 0)
		}
	})
	return h
}

// each calls use for every page of a column. row is the page's first row.
func (r *parquetReader) each(l *leaf, at int, use func(row int, p *page) error) error {
	row, dictionaries := int64(0), 0
	var d pageDecoder
	defer d.close()
	for i, g := range r.meta.groups {
		c := g.chunks[at]
		data := make([]byte, c.compressed)
		if _, err := r.r.ReadAt(data, c.start()); err != nil && err != io.EOF {
			return &Error{Problem: "cannot be read: " + cause(err), Err: err}
		}
		d.leaf, d.codec, d.dictionary = l, c.codec, nil
		done := int64(0)
		for done < g.rows {
			t := &thrift{b: data}
			h := t.header()
			data = data[min(t.i, len(data)):]
			if t.bad || h.compressed < 0 || h.compressed > int64(len(data)) || h.uncompressed < 0 {
				return torn("a page of row group %d cannot be read", i)
			}
			body := data[:h.compressed]
			data = data[h.compressed:]
			if r.left.Add(-max(h.uncompressed, 1)) < 0 {
				return &Error{Problem: fmt.Sprintf("the pages expand to more than %s, too much for the file's size",
					bytesText(r.limits.expanded(r.size))), Fix: "raise the limit if you trust the file"}
			}
			switch h.kind {
			case dictionaryPage:
				dictionaries++
				if err := d.readDictionary(h, body); err != nil {
					return err
				}
			case dataPage, dataPageV2:
				if h.values < 0 || h.values > g.rows-done {
					return torn("a page of row group %d has %d values, more than rows are left", i, h.values)
				}
				p, err := d.read(h, body)
				if err != nil {
					return err
				}
				p.id = dictionaries
				if err := use(int(row+done), p); err != nil {
					return err
				}
				done += h.values
			}
		}
		row += g.rows
	}
	return nil
}

// pageDecoder decodes the pages of a column chunk.
type pageDecoder struct {
	leaf       *leaf
	codec      int64
	dictionary *page
	zstd       *zstd.Decoder
	gzip       *gzip.Reader
	index      []uint32
	defined    []uint8
	scratch    page // whose slices are used again
}

func (d *pageDecoder) close() {
	if d.zstd != nil {
		d.zstd.Close()
	}
}

// readDictionary decodes a dictionary page.
func (d *pageDecoder) readDictionary(h header, body []byte) error {
	body, err := d.decompress(body, h.uncompressed)
	if err != nil {
		return err
	}
	if h.encoding != encodingPlain && h.encoding != encodingPlainDictionary {
		return torn("a dictionary has encoding %d", h.encoding)
	}
	if h.values < 0 || h.values > int64(len(body))*8 {
		return torn("a dictionary of %s would have %d values", bytesText(int64(len(body))), h.values)
	}
	d.dictionary = &page{}
	return d.plain(d.dictionary, body, int(h.values))
}

// read decodes a data page. The page is valid until the next call.
func (d *pageDecoder) read(h header, body []byte) (*page, error) {
	var err error
	var levels []byte
	if h.kind == dataPage {
		if body, err = d.decompress(body, h.uncompressed); err != nil {
			return nil, err
		}
		if d.leaf.optional {
			if h.levelEncoding != encodingRLE {
				return nil, torn("levels have encoding %d", h.levelEncoding)
			}
			if len(body) < 4 || uint64(binary.LittleEndian.Uint32(body)) > uint64(len(body)-4) {
				return nil, torn("the levels of a page are cut off")
			}
			n := binary.LittleEndian.Uint32(body)
			levels, body = body[4:4+n], body[4+n:]
		}
	} else {
		if h.levels < 0 || h.repetitions < 0 || h.levels > int64(len(body)) ||
			h.repetitions > int64(len(body))-h.levels || h.uncompressed < h.levels+h.repetitions {
			return nil, torn("the levels of a page are cut off")
		}
		levels = body[h.repetitions : h.repetitions+h.levels]
		body = body[h.repetitions+h.levels:]
		if !h.plain {
			if body, err = d.decompress(body, h.uncompressed-h.levels-h.repetitions); err != nil {
				return nil, err
			}
		}
	}
	n := int(h.values)
	p := &page{rows: n, ints: d.scratch.ints[:0], floats: d.scratch.floats[:0], bytes: d.scratch.bytes[:0]}
	present := n
	if d.leaf.optional {
		d.index = grow(d.index, n)
		if err := hybrid(d.index[:n], levels, 1); err != nil {
			return nil, err
		}
		d.defined = grow(d.defined, n)
		present = 0
		for i, v := range d.index[:n] {
			d.defined[i] = uint8(v)
			present += int(v)
		}
		if present < n {
			p.defined = d.defined[:n]
		}
	}
	if err := d.decode(p, body, present, h.encoding); err != nil {
		return nil, err
	}
	if !p.dictionary { // a dictionary's slices must not be written to
		d.scratch = *p
	}
	return p, nil
}

// grow returns a slice of at least n values, whose content is not kept.
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:max(n, len(s))]
}

// decode decodes n values.
func (d *pageDecoder) decode(p *page, body []byte, n int, encoding int64) error {
	physical := d.leaf.physical
	switch {
	case n == 0:
		return nil
	case encoding == encodingDictionary || encoding == encodingPlainDictionary:
		if d.dictionary == nil {
			return torn("a page refers to a dictionary that the file does not have")
		}
		if len(body) == 0 || body[0] > 32 {
			return torn("the indices of a page are cut off")
		}
		d.index = grow(d.index, n)
		if err := hybrid(d.index[:n], body[1:], int(body[0])); err != nil {
			return err
		}
		size := uint32(len(d.dictionary.ints) + len(d.dictionary.floats) + len(d.dictionary.bytes))
		for _, v := range d.index[:n] {
			if v >= size {
				return torn("a page refers to value %d of a dictionary of %d", v, size)
			}
		}
		p.ints, p.floats, p.bytes = d.dictionary.ints, d.dictionary.floats, d.dictionary.bytes
		p.index, p.dictionary = d.index[:n], true
		return nil
	case encoding == encodingPlain:
		return d.plain(p, body, n)
	case encoding == encodingRLE && physical == typeBoolean:
		if len(body) < 4 {
			return torn("the values of a page are cut off")
		}
		d.index = grow(d.index, n)
		if err := hybrid(d.index[:n], body[4:], 1); err != nil {
			return err
		}
		for _, v := range d.index[:n] {
			p.ints = append(p.ints, int64(v))
		}
		return nil
	case encoding == encodingDelta && (physical == typeInt32 || physical == typeInt64):
		var err error
		p.ints, _, err = delta(p.ints, body, n)
		if physical == typeInt32 {
			for i, v := range p.ints {
				p.ints[i] = int64(int32(v))
			}
		}
		return err
	case encoding == encodingDeltaLength && physical == typeBytes:
		return deltaLength(p, body, n)
	case encoding == encodingDeltaBytes && (physical == typeBytes || physical == typeFixed):
		return deltaBytes(p, body, n)
	case encoding == encodingSplit:
		return d.split(p, body, n)
	}
	return &Error{Problem: fmt.Sprintf("the column has pages of encoding %d, which is not read", encoding),
		Fix: "write the file with plain or dictionary encoding"}
}

// plain decodes n values of encoding PLAIN.
func (d *pageDecoder) plain(p *page, b []byte, n int) error {
	cut := torn("the values of a page are cut off")
	size := map[int64]int{typeInt32: 4, typeFloat: 4, typeInt64: 8, typeDouble: 8, typeInt96: 12,
		typeFixed: int(d.leaf.length)}[d.leaf.physical]
	if size > 0 && len(b)/size < n || d.leaf.physical == typeBoolean && len(b)*8 < n {
		return cut
	}
	switch d.leaf.physical {
	case typeBoolean:
		for i := range n {
			p.ints = append(p.ints, int64(b[i/8]>>(i%8)&1))
		}
	case typeInt32:
		for i := range n {
			p.ints = append(p.ints, int64(int32(binary.LittleEndian.Uint32(b[4*i:]))))
		}
	case typeInt64:
		for i := range n {
			p.ints = append(p.ints, int64(binary.LittleEndian.Uint64(b[8*i:])))
		}
	case typeFloat:
		for i := range n {
			p.floats = append(p.floats, float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))))
		}
	case typeDouble:
		for i := range n {
			p.floats = append(p.floats, math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:])))
		}
	case typeInt96, typeFixed:
		for i := range n {
			p.bytes = append(p.bytes, b[size*i:size*i+size])
		}
	case typeBytes:
		for range n {
			if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
				return cut
			}
			k := binary.LittleEndian.Uint32(b)
			p.bytes = append(p.bytes, b[4:4+k:4+k])
			b = b[4+k:]
		}
	}
	return nil
}

// split decodes n values of encoding BYTE_STREAM_SPLIT: first all first bytes, then all second ones, and so on.
func (d *pageDecoder) split(p *page, b []byte, n int) error {
	size := map[int64]int{typeInt32: 4, typeFloat: 4, typeInt64: 8, typeDouble: 8,
		typeFixed: int(d.leaf.length)}[d.leaf.physical]
	if size == 0 || len(b)/size < n {
		return torn("the values of a page are cut off")
	}
	joined := make([]byte, size*n)
	for k := range size {
		for i := range n {
			joined[i*size+k] = b[k*n+i]
		}
	}
	return d.plain(p, joined, n)
}

// hybrid decodes the mixture of runs and bit-packed groups that Parquet calls RLE, until dst is full.
func hybrid(dst []uint32, b []byte, width int) error {
	cut := func() error { return torn("run lengths of a page are cut off") }
	bytesPer := (width + 7) / 8
	for len(dst) > 0 {
		head, n := binary.Uvarint(b)
		if n <= 0 {
			return cut()
		}
		b = b[n:]
		if head&1 == 0 {
			if len(b) < bytesPer {
				return cut()
			}
			var v uint32
			for i := range bytesPer {
				v |= uint32(b[i]) << (8 * i)
			}
			if width < 32 && v >= 1<<width {
				return torn("a run has value %d of %d bits", v, width)
			}
			b = b[bytesPer:]
			count := min(head>>1, uint64(len(dst)))
			if head>>1 == 0 {
				return cut()
			}
			for i := range dst[:count] {
				dst[i] = v
			}
			dst = dst[count:]
			continue
		}
		groups := head >> 1
		if groups == 0 {
			return cut()
		}
		count := len(dst)
		if groups < uint64(count+7)/8 {
			count = int(groups * 8)
		}
		need := (count*width + 7) / 8
		if len(b) < need {
			return cut()
		}
		unpack(dst[:count], b, width)
		dst = dst[count:]
		b = b[min(uint64(len(b)), groups*uint64(width)):]
	}
	return nil
}

// unpack unpacks numbers of width bits, the lowest bits first. b has enough bytes for them.
func unpack(dst []uint32, b []byte, width int) {
	mask := uint64(1)<<width - 1
	var bits uint64
	have, at := 0, 0
	for i := range dst {
		for have < width {
			bits |= uint64(b[at]) << have
			at++
			have += 8
		}
		dst[i] = uint32(bits & mask)
		bits >>= width
		have -= width
	}
}

// delta decodes n integers of encoding DELTA_BINARY_PACKED, and returns what follows.
func delta(dst []int64, b []byte, n int) (values []int64, rest []byte, err error) {
	t := &thrift{b: b} // its varints
	block, minis, total := t.uvarint(), t.uvarint(), t.uvarint()
	value := t.int(thriftI64)
	if t.bad || block == 0 || block > 1<<20 || block%128 != 0 || minis == 0 || minis > block || block%minis != 0 ||
		block/minis%8 != 0 || total != uint64(n) {
		return dst, nil, torn("the deltas of a page cannot be read")
	}
	perMini := int(block / minis)
	if n > 0 {
		dst = append(dst, value)
		n--
	}
	for n > 0 {
		least := t.int(thriftI64)
		if t.bad || len(t.b)-t.i < int(minis) {
			return dst, nil, torn("the deltas of a page are cut off")
		}
		widths := t.b[t.i : t.i+int(minis)]
		t.i += int(minis)
		for _, width := range widths {
			if n == 0 {
				break
			}
			size := perMini / 8 * int(width)
			if width > 64 || len(t.b)-t.i < size {
				return dst, nil, torn("the deltas of a page are cut off")
			}
			packed := t.b[t.i : t.i+size]
			t.i += size
			for i := range min(n, perMini) {
				value += least + int64(bitsAt(packed, i*int(width), int(width)))
				dst = append(dst, value)
			}
			n -= min(n, perMini)
		}
	}
	return dst, t.b[t.i:], nil
}

// bitsAt reads width bits from bit at.
func bitsAt(b []byte, at, width int) (v uint64) {
	for have := 0; have < width; {
		shift := (at + have) % 8
		take := min(8-shift, width-have)
		v |= uint64(b[(at+have)/8]>>shift&(1<<take-1)) << have
		have += take
	}
	return v
}

// deltaLength decodes n texts of encoding DELTA_LENGTH_BYTE_ARRAY.
func deltaLength(p *page, b []byte, n int) error {
	lengths, b, err := delta(nil, b, n)
	if err != nil {
		return err
	}
	for _, k := range lengths {
		if k < 0 || k > int64(len(b)) {
			return torn("the texts of a page are cut off")
		}
		p.bytes = append(p.bytes, b[:k:k])
		b = b[k:]
	}
	return nil
}

// mostText is the size of all texts of a page of encoding DELTA_BYTE_ARRAY.
const mostText = 256 << 20

// deltaBytes decodes n texts of encoding DELTA_BYTE_ARRAY: each begins with a part of the one before.
func deltaBytes(p *page, b []byte, n int) error {
	prefixes, b, err := delta(nil, b, n)
	if err != nil {
		return err
	}
	if err := deltaLength(p, b, n); err != nil {
		return err
	}
	var last []byte
	total := 0
	for i, k := range prefixes {
		if k < 0 || k > int64(len(last)) {
			return torn("the texts of a page are cut off")
		}
		if k > 0 {
			p.bytes[i] = append(append(make([]byte, 0, int(k)+len(p.bytes[i])), last[:k]...), p.bytes[i]...)
			if total += len(p.bytes[i]); total > mostText {
				return &Error{Problem: "the texts of a page expand to more than " + bytesText(mostText),
					Fix: "write the file with plain or dictionary encoding"}
			}
		}
		last = p.bytes[i]
	}
	return nil
}

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

// checkText refuses bytes that are not text.
func checkText(b []byte) *Error {
	if !utf8.Valid(b) || bytes.IndexByte(b, 0) >= 0 {
		return &Error{Problem: "bytes that are not UTF-8 text", Fix: "convert the column to text, or drop it"}
	}
	return nil
}
