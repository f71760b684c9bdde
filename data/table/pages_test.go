package table

import (
	"testing"

	"github.com/klauspost/compress/snappy"
)

// FuzzPages decodes any bytes as a page of any type, encoding and codec: no panic, and as many values as it states.
func FuzzPages(f *testing.F) {
	for _, encoding := range []byte{0, 2, 3, 5, 6, 7, 8, 9} {
		for physical := range byte(8) {
			f.Add(physical, encoding, byte(0), false, uint16(3), []byte{2, 3, 3, 3, 0x80, 1, 4, 3, 2, 2, 0, 0, 0, 1, 2, 3, 4})
		}
	}
	f.Add(byte(6), byte(0), byte(1), true, uint16(9), snappy.Encode(nil,
		[]byte("\x02\x00\x00\x00\x12\x01\x00\x00\x00\x00")))
	f.Fuzz(func(t *testing.T, physical, encoding, codec byte, second bool, n uint16, body []byte) {
		l := &leaf{physical: int64(physical % 8), length: 3, optional: encoding&16 > 0}
		d := pageDecoder{leaf: l, codec: int64(codec % 8)}
		defer d.close()
		d.dictionary = &page{}
		dictionary := make([]byte, 48)
		if err := d.plain(d.dictionary, dictionary, 4); err != nil {
			t.Fatal(err)
		}
		h := header{values: int64(n), encoding: int64(encoding & 15), levelEncoding: encodingRLE,
			uncompressed: int64(min(len(body)*3, 1<<16))}
		if d.codec == 0 {
			h.uncompressed = int64(len(body))
		} else if size, err := snappy.DecodedLen(body); d.codec == 1 && err == nil && size < 1<<16 {
			h.uncompressed = int64(size)
		}
		if second {
			h.kind, h.levels, h.plain = dataPageV2, int64(min(len(body), 4)), codec&8 > 0
		}
		p, err := d.read(h, body)
		if err != nil {
			return
		}
		present := p.rows
		for _, v := range p.defined {
			present -= 1 - int(v)
		}
		for k := range present {
			at := p.at(k)
			if at >= len(p.ints)+len(p.floats)+len(p.bytes) {
				t.Fatalf("value %d of %d is not there", k, present)
			}
		}
	})
}
