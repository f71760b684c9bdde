package table

import (
	"bytes"
	"encoding/binary"
	"math"
	"unicode/utf8"
)

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

// checkText refuses bytes that are not text.
func checkText(b []byte) *Error {
	if !utf8.Valid(b) || bytes.IndexByte(b, 0) >= 0 {
		return &Error{Problem: "bytes that are not UTF-8 text", Fix: "convert the column to text, or drop it"}
	}
	return nil
}
