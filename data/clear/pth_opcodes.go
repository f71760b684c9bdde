package clear

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

const stop = '.'

// opcodes are the supported opcodes: those of protocols 2 to 5 that build plain values.
// unpickle handles STOP.
var opcodes = [256]func(*machine) error{
	0x80: proto,
	0x95: frame,
	'(':  func(m *machine) error { m.marks = append(m.marks, len(m.stack)); return nil },
	'0':  func(m *machine) error { _, err := m.pop(); return err },
	'1':  func(m *machine) error { _, err := m.popMark(); return err },

	'N':  constant(nil),
	0x88: constant(true),
	0x89: constant(false),
	'K':  unsigned(1),
	'M':  unsigned(2),
	'J':  func(m *machine) error { return m.integer(4) },
	0x8a: sized(1, (*machine).integer),
	0x8b: sized(4, (*machine).integer),
	'G':  float,
	0x8c: sized(1, (*machine).text),
	'X':  sized(4, (*machine).text),
	0x8d: sized(8, (*machine).text),

	')':  func(m *machine) error { m.push(pyTuple{}); return nil },
	0x85: tuple(1),
	0x86: tuple(2),
	0x87: tuple(3),
	't':  markedTuple,
	']':  func(m *machine) error { m.push(&pyList{}); return nil },
	'a':  appendOne,
	'e':  appendMarked,
	'}':  func(m *machine) error { m.push(&pyDict{}); return nil },
	's':  setItem,
	'u':  setMarked,

	'q':  sized(1, (*machine).put),
	'r':  sized(4, (*machine).put),
	0x94: func(m *machine) error { return m.put(uint64(len(m.memo))) },
	'h':  sized(1, (*machine).get),
	'j':  sized(4, (*machine).get),

	'c':  globalLines,
	0x93: globalStack,
	'R':  reduce,
	'Q':  persistent,
}

// refused are the names of the unsupported opcodes, for messages.
var refused = map[byte]string{
	'2': "DUP", 'F': "FLOAT", 'I': "INT", 'L': "LONG", 'P': "PERSID",
	'S': "STRING", 'T': "BINSTRING", 'U': "SHORT_BINSTRING", 'V': "UNICODE",
	'b': "BUILD", 'd': "DICT", 'g': "GET", 'i': "INST", 'l': "LIST", 'o': "OBJ", 'p': "PUT",
	'B': "BINBYTES", 'C': "SHORT_BINBYTES",
	0x81: "NEWOBJ", 0x82: "EXT1", 0x83: "EXT2", 0x84: "EXT4",
	0x8e: "BINBYTES8", 0x8f: "EMPTY_SET", 0x90: "ADDITEMS", 0x91: "FROZENSET", 0x92: "NEWOBJ_EX",
	0x96: "BYTEARRAY8", 0x97: "NEXT_BUFFER", 0x98: "READONLY_BUFFER",
}

func opcodeName(code byte) string {
	if name := refused[code]; name != "" {
		return name
	}
	return fmt.Sprintf("%#02x (unknown in Python)", code)
}

// constant returns an opcode that pushes v.
func constant(v any) func(*machine) error {
	return func(m *machine) error { m.push(v); return nil }
}

// sized returns an opcode that reads an unsigned number of the given width and calls next.
func sized(width uint64, next func(*machine, uint64) error) func(*machine) error {
	return func(m *machine) error {
		n, err := m.length(width)
		if err != nil {
			return err
		}
		return next(m, n)
	}
}

// unsigned returns an opcode that pushes an unsigned integer of the given width.
func unsigned(width uint64) func(*machine) error {
	return sized(width, func(m *machine, n uint64) error { m.push(int64(n)); return nil })
}

// proto checks the protocol.
func proto(m *machine) error {
	version, err := m.length(1)
	if err == nil && (version < 2 || version > 5) {
		err = fmt.Errorf("its pickle has protocol %d; 2 to 5 are supported", version)
	}
	return err
}

// frame checks the length of a frame and ignores it otherwise.
func frame(m *machine) error {
	n, err := m.length(8)
	if left := len(m.program) - m.next; err == nil && n > uint64(left) {
		err = fmt.Errorf("its pickle is truncated: a frame of %d bytes begins at byte %d, %d are left", n, m.next, left)
	}
	return err
}

func float(m *machine) error {
	part, err := m.take(8)
	if err == nil {
		m.push(math.Float64frombits(binary.BigEndian.Uint64(part)))
	}
	return err
}

// tuple returns an opcode that replaces the top n values by a tuple of them.
func tuple(n int) func(*machine) error {
	return func(m *machine) error {
		values := make(pyTuple, n)
		for i := n - 1; i >= 0; i-- {
			v, err := m.pop()
			if err != nil {
				return err
			}
			values[i] = v
		}
		m.push(values)
		return nil
	}
}

func markedTuple(m *machine) error {
	values, err := m.popMark()
	if err == nil {
		m.push(pyTuple(slices.Clone(values)))
	}
	return err
}

func appendOne(m *machine) error {
	v, err := m.pop()
	if err != nil {
		return err
	}
	return appendTo(m, v)
}

func appendMarked(m *machine) error {
	values, err := m.popMark()
	if err != nil {
		return err
	}
	return appendTo(m, values...)
}

// appendTo appends to the list on top.
func appendTo(m *machine, values ...any) error {
	v, err := m.top()
	if err != nil {
		return err
	}
	list, ok := v.(*pyList)
	if !ok {
		return fmt.Errorf("its pickle appends to a value of type %s", typeName(v))
	}
	list.Items = append(list.Items, values...)
	return nil
}

func setItem(m *machine) error {
	value, err := m.pop()
	if err != nil {
		return err
	}
	key, err := m.pop()
	if err != nil {
		return err
	}
	return setIn(m, []any{key, value})
}

func setMarked(m *machine) error {
	values, err := m.popMark()
	if err != nil {
		return err
	}
	return setIn(m, values)
}

// setIn sets items of the dict on top; values alternates keys and values.
func setIn(m *machine, values []any) error {
	v, err := m.top()
	if err != nil {
		return err
	}
	dict, ok := v.(*pyDict)
	if !ok {
		return fmt.Errorf("its pickle sets items of a value of type %s", typeName(v))
	}
	if len(values)%2 != 0 {
		return fmt.Errorf("its pickle sets a key without a value before byte %d", m.next)
	}
	for i := 0; i < len(values); i += 2 {
		if err := dict.set(values[i], values[i+1]); err != nil {
			return err
		}
	}
	return nil
}
