package table

import "encoding/binary"

// thrift reads Thrift's compact protocol, of Parquet's metadata. It reads the fields that are asked for and skips
// others, so that the memory it uses does not depend on sizes that the file states. After damage, bad is true, and
// everything is 0.
type thrift struct {
	b   []byte
	i   int
	bad bool
}

// Types of Thrift's fields.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI16    = 4
	thriftI32    = 5
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
)

func (t *thrift) byte() byte {
	if t.i >= len(t.b) {
		t.bad = true
	}
	if t.bad {
		return 0
	}
	t.i++
	return t.b[t.i-1]
}

func (t *thrift) uvarint() uint64 {
	if t.bad {
		return 0
	}
	v, n := binary.Uvarint(t.b[t.i:])
	if n <= 0 {
		t.bad = true
		return 0
	}
	t.i += n
	return v
}

// int reads an integer of type typ, or a boolean.
func (t *thrift) int(typ byte) int64 {
	switch typ {
	case thriftTrue:
		return 1
	case thriftFalse:
		return 0
	case thriftByte:
		return int64(int8(t.byte()))
	case thriftI16, thriftI32, thriftI64:
		v := t.uvarint()
		return int64(v>>1) ^ -int64(v&1)
	}
	t.bad = true
	return 0
}

func (t *thrift) bytes(typ byte) []byte {
	n := t.uvarint()
	if typ != thriftBinary || n > uint64(len(t.b)-t.i) {
		t.bad = true
	}
	if t.bad {
		return nil
	}
	t.i += int(n)
	return t.b[t.i-int(n) : t.i]
}

// list calls each for every item of a list.
func (t *thrift) list(typ byte, each func(typ byte)) {
	head := t.byte()
	n := uint64(head >> 4)
	if n == 15 {
		n = t.uvarint()
	}
	if typ != thriftList && typ != thriftSet {
		t.bad = true
	}
	for ; n > 0 && !t.bad; n-- {
		before := t.i
		each(head & 15)
		if t.i == before { // every item has at least one byte
			t.bad = true
		}
	}
}

// fields calls each for every field of a struct. each reads the value, or skips it.
func (t *thrift) fields(typ byte, each func(id int, typ byte)) {
	if typ != thriftStruct {
		t.bad = true
	}
	id := 0
	for !t.bad {
		head := t.byte()
		if head == 0 {
			return
		}
		if delta := int(head >> 4); delta > 0 {
			id += delta
		} else {
			id = int(t.int(thriftI16))
		}
		each(id, head&15)
	}
}

// skip skips a value.
func (t *thrift) skip(typ byte, depth int) {
	if depth > 32 {
		t.bad = true
	}
	if t.bad {
		return
	}
	switch typ {
	case thriftTrue, thriftFalse:
	case thriftByte, thriftI16, thriftI32, thriftI64:
		t.int(typ)
	case thriftDouble:
		if t.i += 8; t.i > len(t.b) {
			t.bad = true
		}
	case thriftBinary:
		t.bytes(typ)
	case thriftList, thriftSet:
		t.list(typ, func(typ byte) {
			if typ == thriftTrue || typ == thriftFalse {
				t.byte() // in lists a boolean has a byte
			} else {
				t.skip(typ, depth+1)
			}
		})
	case thriftMap:
		n := t.uvarint()
		if n == 0 {
			return
		}
		types := t.byte()
		for ; n > 0 && !t.bad; n-- {
			before := t.i
			t.skip(types>>4, depth+1)
			t.skip(types&15, depth+1)
			if t.i == before {
				t.bad = true
			}
		}
	case thriftStruct:
		t.fields(typ, func(_ int, typ byte) { t.skip(typ, depth+1) })
	default:
		t.bad = true
	}
}
