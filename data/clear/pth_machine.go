package clear

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"
)

// machine executes a pickle. Every opcode has at least one byte and creates at most one
// object, so the length of the program limits the stack, the memo and the objects.
type machine struct {
	program []byte
	next    int // position of the next byte
	stack   []any
	marks   []int // stack heights at the marks
	memo    map[int]any
	storage func(kind kind, key string, n int64) (*storage, error)
}

// unpickle executes a program up to STOP and returns the value on the stack. storage returns
// the numbers of the tensors.
func unpickle(program []byte, storage func(kind, string, int64) (*storage, error)) (any, error) {
	m := &machine{program: program, memo: map[int]any{}, storage: storage}
	for {
		start := m.next
		code, err := m.take(1)
		if err != nil {
			return nil, err
		}
		if code[0] == stop {
			return m.result()
		}
		run := opcodes[code[0]]
		if run == nil {
			return nil, fmt.Errorf("its pickle has the opcode %s at byte %d; only plain values and tensors are supported",
				opcodeName(code[0]), start)
		}
		if err := run(m); err != nil {
			return nil, err
		}
	}
}

// result returns the only value on the stack.
func (m *machine) result() (any, error) {
	if len(m.stack) != 1 || len(m.marks) != 0 {
		return nil, fmt.Errorf("its pickle ends with %d values on the stack instead of one", len(m.stack))
	}
	return m.stack[0], nil
}

// take returns the next n bytes of the program, not copied.
func (m *machine) take(n uint64) ([]byte, error) {
	if left := len(m.program) - m.next; n > uint64(left) {
		return nil, fmt.Errorf("its pickle is truncated: %d bytes are needed at byte %d, %d are left", n, m.next, left)
	}
	part := m.program[m.next : m.next+int(n)]
	m.next += int(n)
	return part, nil
}

// length reads an unsigned little-endian number of the given width in bytes.
func (m *machine) length(width uint64) (uint64, error) {
	part, err := m.take(width)
	if err != nil {
		return 0, err
	}
	var whole [8]byte
	copy(whole[:], part)
	return binary.LittleEndian.Uint64(whole[:]), nil
}

// line reads text up to the next newline.
func (m *machine) line() (string, error) {
	n := bytes.IndexByte(m.program[m.next:], '\n')
	if n < 0 {
		return "", errors.New("its pickle is truncated: it ends in a name")
	}
	text := string(m.program[m.next : m.next+n])
	m.next += n + 1
	return text, nil
}

func (m *machine) push(v any) { m.stack = append(m.stack, v) }

// floor is the stack height at the last mark, below which no value may be popped.
func (m *machine) floor() int {
	if len(m.marks) == 0 {
		return 0
	}
	return m.marks[len(m.marks)-1]
}

func (m *machine) pop() (any, error) {
	v, err := m.top()
	if err == nil {
		m.stack = m.stack[:len(m.stack)-1]
	}
	return v, err
}

func (m *machine) top() (any, error) {
	if len(m.stack) <= m.floor() {
		return nil, fmt.Errorf("its pickle pops a value from an empty stack before byte %d", m.next)
	}
	return m.stack[len(m.stack)-1], nil
}

// popMark pops the values above the last mark. They are valid until the next push.
func (m *machine) popMark() ([]any, error) {
	if len(m.marks) == 0 {
		return nil, fmt.Errorf("its pickle pops a mark that does not exist before byte %d", m.next)
	}
	height := m.floor()
	values := m.stack[height:]
	m.stack, m.marks = m.stack[:height], m.marks[:len(m.marks)-1]
	return values, nil
}

// put stores the top of the stack in the memo. Python numbers the memo from 0, so a number
// beyond the length of the program is an error.
func (m *machine) put(index uint64) error {
	v, err := m.top()
	if err != nil {
		return err
	}
	if index >= uint64(len(m.program)) {
		return fmt.Errorf("its pickle uses the memo number %d, more than it has bytes", index)
	}
	m.memo[int(index)] = v
	return nil
}

// get pushes a value of the memo.
func (m *machine) get(index uint64) error {
	if index >= uint64(len(m.program)) {
		return fmt.Errorf("its pickle uses the memo number %d, more than it has bytes", index)
	}
	v, found := m.memo[int(index)]
	if !found {
		return fmt.Errorf("its pickle asks for the memo number %d, which is not set", index)
	}
	m.push(v)
	return nil
}

// text pushes the next n bytes as a string.
func (m *machine) text(n uint64) error {
	part, err := m.take(n)
	if err != nil {
		return err
	}
	if !utf8.Valid(part) {
		return fmt.Errorf("its pickle has a string before byte %d that is not UTF-8", m.next)
	}
	m.push(string(part))
	return nil
}

// integer pushes the next n bytes as an integer in two's complement, little-endian.
func (m *machine) integer(n uint64) error {
	if n > 8 {
		return fmt.Errorf("its pickle has an integer of %d bytes; at most 8 are supported", n)
	}
	part, err := m.take(n)
	if err != nil {
		return err
	}
	var v uint64
	if n > 0 && part[n-1]&0x80 != 0 {
		v = math.MaxUint64
	}
	for i := len(part) - 1; i >= 0; i-- {
		v = v<<8 | uint64(part[i])
	}
	m.push(int64(v))
	return nil
}
