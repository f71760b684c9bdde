package clear

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"unicode/utf8"
)

// The Python values that have no type of their own in Go. A tensor is a *tensor, an int an int64; larger ones are
// errors.
type (
	pyTuple []any
	pyList  struct{ Items []any }
	// pyDict is a dict: Keys[i] has the value Values[i]. A key is a string or an int64.
	pyDict struct{ Keys, Values []any }
	// global is one of the names in Python that the machine accepts.
	global string
)

const (
	floatStorage  global = "torch.FloatStorage"
	rebuildTensor global = "torch._utils._rebuild_tensor_v2"
	orderedDict   global = "collections.OrderedDict"
)

// machine executes a pickle. Every opcode has at least one byte and creates at most one
// object, so the length of the program limits the stack, the memo and the objects. After the
// first error opcodes read zeros and push what nobody uses, until the machine stops.
type machine struct {
	program []byte
	next    int // position of the next byte
	stack   []any
	marks   []int // stack heights at the marks
	memo    map[uint64]any
	storage func(key string, n int64) (storage, error)
	err     error // the first one
}

const stop = '.'

// opcodes are the opcodes of protocol 2, which torch.save uses, that build the values of readPTH. unpickle handles
// STOP.
var opcodes = [256]func(*machine){
	0x80: proto,
	'(':  func(m *machine) { m.marks = append(m.marks, len(m.stack)) },

	'N':  func(m *machine) { m.push(nil) },
	0x88: func(m *machine) { m.push(true) },
	0x89: func(m *machine) { m.push(false) },
	'K':  func(m *machine) { m.push(int64(m.number(1))) },
	'M':  func(m *machine) { m.push(int64(m.number(2))) },
	'J':  func(m *machine) { m.push(int64(int32(m.number(4)))) },
	0x8a: long,
	'X':  text,

	')':  func(m *machine) { m.push(pyTuple{}) },
	0x85: func(m *machine) { m.push(pyTuple(m.pop(1))) },
	0x86: func(m *machine) { m.push(pyTuple(m.pop(2))) },
	0x87: func(m *machine) { m.push(pyTuple(m.pop(3))) },
	't':  func(m *machine) { m.push(pyTuple(m.popMark())) },
	']':  func(m *machine) { m.push(&pyList{}) },
	'a':  func(m *machine) { m.extend(m.pop(1)) },
	'e':  func(m *machine) { m.extend(m.popMark()) },
	'}':  func(m *machine) { m.push(&pyDict{}) },
	's':  func(m *machine) { m.update(m.pop(2)) },
	'u':  func(m *machine) { m.update(m.popMark()) },

	'q': func(m *machine) { m.memo[m.number(1)] = m.top() },
	'r': func(m *machine) { m.memo[m.number(4)] = m.top() },
	'h': func(m *machine) { m.get(m.number(1)) },
	'j': func(m *machine) { m.get(m.number(4)) },

	'c': lookUp,
	'R': reduce,
	'Q': persistent,
}

// unpickle executes a program up to STOP and returns the value on the stack. storage returns
// the numbers of the tensors.
func unpickle(program []byte, storage func(string, int64) (storage, error)) (any, error) {
	m := &machine{program: program, memo: map[uint64]any{}, storage: storage}
	for m.err == nil {
		start := m.next
		code := m.number(1)
		if code == stop && len(m.stack) == 1 && len(m.marks) == 0 {
			return m.stack[0], nil
		}
		switch run := opcodes[code]; {
		case code == stop:
			m.fail("ends with %d values on the stack instead of one", len(m.stack))
		case run == nil:
			m.fail("has the opcode %#02x at byte %d; only plain values and tensors are supported", code, start)
		default:
			run(m)
		}
	}
	return nil, m.err
}

func (m *machine) fail(format string, values ...any) {
	if m.err == nil {
		m.err = fmt.Errorf("its pickle "+format, values...)
	}
}

// take returns the next n bytes of the program, not copied.
func (m *machine) take(n uint64) []byte {
	if left := len(m.program) - m.next; n > uint64(left) {
		m.fail("is truncated: %d bytes are needed at byte %d, %d are left", n, m.next, left)
		return nil
	}
	part := m.program[m.next : m.next+int(n)]
	m.next += int(n)
	return part
}

// number reads an unsigned little-endian number of the given width in bytes.
func (m *machine) number(width uint64) uint64 {
	var whole [8]byte
	copy(whole[:], m.take(width))
	return binary.LittleEndian.Uint64(whole[:])
}

func (m *machine) push(v any) { m.stack = append(m.stack, v) }

// pop returns the top n values; none below the last mark may be popped.
func (m *machine) pop(n int) []any {
	height := len(m.stack) - n
	if height < m.floor() {
		m.fail("pops a value from an empty stack before byte %d", m.next)
		return make([]any, n)
	}
	values := slices.Clone(m.stack[height:])
	m.stack = m.stack[:height]
	return values
}

func (m *machine) popMark() []any {
	if len(m.marks) == 0 {
		m.fail("pops a mark that does not exist before byte %d", m.next)
		return nil
	}
	values := m.pop(len(m.stack) - m.floor())
	m.marks = m.marks[:len(m.marks)-1]
	return values
}

// floor is the stack height at the last mark.
func (m *machine) floor() int {
	if len(m.marks) == 0 {
		return 0
	}
	return m.marks[len(m.marks)-1]
}

func (m *machine) top() any {
	v := m.pop(1)[0]
	m.push(v)
	return v
}

func (m *machine) get(index uint64) {
	v, found := m.memo[index]
	if !found {
		m.fail("asks for the memo number %d, which is not set", index)
	}
	m.push(v)
}

func proto(m *machine) {
	if version := m.number(1); version != 2 {
		m.fail("has protocol %d; torch.save writes protocol 2", version)
	}
}

// long pushes an integer of as many bytes as the next one says, in two's complement.
func long(m *machine) {
	n := m.number(1)
	if n > 8 {
		m.fail("has an integer of %d bytes; at most 8 are supported", n)
	}
	unused := 64 - 8*min(n, 8)
	m.push(int64(m.number(min(n, 8))<<unused) >> unused)
}

func text(m *machine) {
	part := m.take(m.number(4))
	if !utf8.Valid(part) {
		m.fail("has a string before byte %d that is not UTF-8", m.next)
	}
	m.push(string(part))
}

func (m *machine) extend(values []any) {
	list, ok := m.top().(*pyList)
	if !ok {
		m.fail("appends before byte %d to what is no list", m.next)
		return
	}
	list.Items = append(list.Items, values...)
}

// update sets items of the dict on top; values alternates keys and values.
func (m *machine) update(values []any) {
	dict, ok := m.top().(*pyDict)
	if !ok || len(values)%2 != 0 {
		m.fail("sets before byte %d items of what is no dict, or a key without a value", m.next)
		return
	}
	for pair := range slices.Chunk(values, 2) {
		switch pair[0].(type) {
		case string, int64:
		default:
			m.fail("has a dict with a key of type %s; only strings and integers are supported", describe(pair[0]))
		}
		dict.Keys, dict.Values = append(dict.Keys, pair[0]), append(dict.Values, pair[1])
	}
}

// lookUp pushes the global whose module and name are the next two lines. A name that tensors do not need is an error.
func lookUp(m *machine) {
	lines := bytes.SplitN(m.program[m.next:], []byte("\n"), 3)
	if len(lines) < 3 {
		m.fail("is truncated: it ends in a name")
		return
	}
	m.next = len(m.program) - len(lines[2])
	g := global(lines[0]) + "." + global(lines[1])
	if g != floatStorage && g != rebuildTensor && g != orderedDict {
		m.fail("asks for the global %s; only plain values and tensors of float32 are supported", plain(string(g)))
	}
	m.push(g)
}

// reduce evaluates a call of one of the two supported functions.
func reduce(m *machine) {
	call := m.pop(2)
	args, ok := call[1].(pyTuple)
	switch {
	case ok && call[0] == rebuildTensor:
		m.rebuild(args)
	case ok && call[0] == orderedDict && len(args) == 0:
		m.push(&pyDict{})
	default:
		m.fail("calls a value of type %s with one of type %s; only tensors and empty OrderedDicts are supported",
			describe(call[0]), describe(call[1]))
	}
}

// persistent replaces ("storage", kind, key, device, n) on the stack by the storage.
func persistent(m *machine) {
	args, _ := m.pop(1)[0].(pyTuple)
	if len(args) != 5 || args[0] != "storage" || args[1] != floatStorage {
		m.fail("has a persistent id before byte %d that names no storage of float32", m.next)
		return
	}
	key, ok1 := args[2].(string)
	n, ok2 := args[4].(int64)
	if !ok1 || !ok2 {
		m.fail("has a storage that is not described by kind, key, device and length")
		return
	}
	numbers, err := m.storage(key, n)
	if err != nil && m.err == nil {
		m.err = err
	}
	m.push(numbers)
}

// rebuild pushes the tensor of _rebuild_tensor_v2(storage, offset, size, stride,
// requires_grad, backward_hooks[, metadata]). Its elements must follow each other in the
// storage, and there must be one.
func (m *machine) rebuild(args pyTuple) {
	args = append(args, make(pyTuple, 4)...)
	numbers, ok1 := args[0].(storage)
	offset, ok2 := args[1].(int64)
	size, ok3 := integers(args[2])
	stride, ok4 := integers(args[3])
	if !ok1 || !ok2 || !ok3 || !ok4 || len(size) != len(stride) {
		m.fail("has a tensor that is not described by storage, offset, sizes and strides")
		return
	}
	t := &tensor{Shape: make([]int, len(size))}
	elements, stored := int64(1), int64(len(numbers)/4)
	fits := stored > 0 && len(size) <= 8
	for i := len(size) - 1; i >= 0 && fits; i-- {
		fits = size[i] == 1 || size[i] > 1 && stride[i] == elements && size[i] <= stored/elements
		elements *= size[i]
		t.Shape[i] = int(size[i])
	}
	if !fits || offset < 0 || offset > stored-elements {
		m.fail("has a tensor with offset %d, sizes %d and strides %d, which is no row-major part of its %d numbers",
			offset, size[:min(len(size), 8)], stride[:min(len(size), 8)], stored)
		return
	}
	t.data = numbers[4*offset : 4*(offset+elements)]
	m.push(t)
}

func integers(v any) ([]int64, bool) {
	t, ok := v.(pyTuple)
	out := make([]int64, len(t))
	for i, e := range t {
		n, isInt := e.(int64)
		out[i], ok = n, ok && isInt
	}
	return out, ok
}

// describe returns the type of a value in Python, for messages: tensor with sizes [300 2048].
func describe(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case int64:
		return "int"
	case string:
		return "str"
	case *tensor:
		return fmt.Sprintf("tensor with sizes %d", v.Shape)
	case *pyDict:
		return fmt.Sprintf("dict of %d", len(v.Keys))
	case *pyList:
		return fmt.Sprintf("list of %d", len(v.Items))
	case pyTuple:
		return fmt.Sprintf("tuple of %d", len(v))
	case global:
		return "global " + string(v)
	}
	return fmt.Sprintf("%T", v)
}
