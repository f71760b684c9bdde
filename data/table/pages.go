package table

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
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
