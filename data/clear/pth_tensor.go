package clear

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gomlx/compute/dtypes/float16"
)

// kind is a number type.
type kind struct {
	size int64 // bytes
	at   func(b []byte) float32
}

// kinds are the supported storages. Values of double and long are rounded to float32.
var kinds = map[global]kind{
	"torch.FloatStorage": {4, func(b []byte) float32 {
		return math.Float32frombits(binary.LittleEndian.Uint32(b))
	}},
	"torch.HalfStorage": {2, func(b []byte) float32 {
		return float16.FromBits(binary.LittleEndian.Uint16(b)).Float32()
	}},
	"torch.DoubleStorage": {8, func(b []byte) float32 {
		return float32(math.Float64frombits(binary.LittleEndian.Uint64(b)))
	}},
	"torch.LongStorage": {8, func(b []byte) float32 {
		return float32(int64(binary.LittleEndian.Uint64(b)))
	}},
}

const (
	rebuildTensor global = "torch._utils._rebuild_tensor_v2"
	orderedDict   global = "collections.OrderedDict"
)

// maxAxes is the largest number of axes of a tensor.
const maxAxes = 8

// storage holds n numbers. Several tensors may be views of it.
type storage struct {
	kind kind
	data []byte
	n    int64
}

// tensor is a view of a storage: element (i, j, ...) is the storage's number
// offset + i stride[0] + j stride[1] + ...
type tensor struct {
	Shape []int

	stride  []int64
	offset  int64
	storage *storage
}

// Len returns the number of elements, at most the number in the storage.
func (t *tensor) Len() int {
	n := 1
	for _, size := range t.Shape {
		n *= size
	}
	return n
}

// Sub returns row i of the first axis, not copied. It panics if i is out of range.
func (t *tensor) Sub(i int) *tensor {
	if i < 0 || i >= t.Shape[0] {
		panic(fmt.Sprintf("clear: row %d of %d", i, t.Shape[0]))
	}
	offset := t.offset + int64(i)*t.stride[0]
	return &tensor{Shape: t.Shape[1:], stride: t.stride[1:], offset: offset, storage: t.storage}
}

// AppendFloat32 appends the elements to dst in row-major order.
func (t *tensor) AppendFloat32(dst []float32) []float32 {
	n := t.Len()
	dst = slices.Grow(dst, n)
	index, at := make([]int, len(t.Shape)), t.offset
	kind, data := t.storage.kind, t.storage.data
	for range n {
		dst = append(dst, kind.at(data[at*kind.size:]))
		for axis := len(index) - 1; axis >= 0; axis-- {
			index[axis]++
			at += t.stride[axis]
			if index[axis] < t.Shape[axis] {
				break
			}
			at -= t.stride[axis] * int64(index[axis])
			index[axis] = 0
		}
	}
	return dst
}

// globalLines pushes the global whose module and name are the next two lines.
func globalLines(m *machine) error {
	module, err := m.line()
	if err != nil {
		return err
	}
	name, err := m.line()
	if err != nil {
		return err
	}
	return m.pushGlobal(module, name)
}

// globalStack pushes the global whose module and name are on the stack.
func globalStack(m *machine) error {
	name, err := m.pop()
	if err != nil {
		return err
	}
	module, err := m.pop()
	if err != nil {
		return err
	}
	moduleText, ok1 := module.(string)
	nameText, ok2 := name.(string)
	if !ok1 || !ok2 {
		return errors.New("its pickle asks for a global whose name is not a string")
	}
	return m.pushGlobal(moduleText, nameText)
}

// pushGlobal pushes a name that tensors need. Every other name is an error.
func (m *machine) pushGlobal(module, name string) error {
	g := global(module + "." + name)
	if _, storage := kinds[g]; !storage && g != rebuildTensor && g != orderedDict {
		return fmt.Errorf("its pickle asks for the global %s; only plain values and tensors are supported", plain(string(g)))
	}
	m.push(g)
	return nil
}

// reduce evaluates a call of one of the two supported functions.
func reduce(m *machine) error {
	v, err := m.pop()
	if err != nil {
		return err
	}
	f, err := m.pop()
	if err != nil {
		return err
	}
	args, ok := v.(pyTuple)
	switch {
	case ok && f == rebuildTensor:
		t, err := rebuild(args)
		if err != nil {
			return err
		}
		m.push(t)
	case ok && f == orderedDict && len(args) == 0:
		m.push(&pyDict{})
	default:
		return fmt.Errorf("its pickle calls a value of type %s with one of type %s; "+
			"only tensors and empty OrderedDicts are supported", typeName(f), typeName(v))
	}
	return nil
}

// persistent replaces ("storage", kind, key, device, n) on the stack by the storage.
func persistent(m *machine) error {
	v, err := m.pop()
	if err != nil {
		return err
	}
	args, ok := v.(pyTuple)
	if !ok || len(args) != 5 || args[0] != "storage" {
		return fmt.Errorf("its pickle has a persistent id of type %s that names no storage", typeName(v))
	}
	g, ok1 := args[1].(global)
	kind, ok2 := kinds[g]
	key, ok3 := args[2].(string)
	_, ok4 := args[3].(string)
	n, ok5 := args[4].(int64)
	if !ok1 || !ok2 || !ok3 || !ok4 || !ok5 {
		return errors.New("its pickle has a storage that is not described by kind, key, device and length")
	}
	s, err := m.storage(kind, key, n)
	if err != nil {
		return err
	}
	m.push(s)
	return nil
}

// rebuild returns the tensor of _rebuild_tensor_v2(storage, offset, size, stride,
// requires_grad, backward_hooks[, metadata]).
func rebuild(args pyTuple) (*tensor, error) {
	if len(args) != 6 && len(args) != 7 {
		return nil, fmt.Errorf("its pickle describes a tensor by %d values instead of 6 or 7", len(args))
	}
	s, ok1 := args[0].(*storage)
	offset, ok2 := args[1].(int64)
	size, ok3 := integers(args[2])
	stride, ok4 := integers(args[3])
	if !ok1 || !ok2 || !ok3 || !ok4 || len(size) != len(stride) {
		return nil, errors.New("its pickle has a tensor that is not described by storage, offset, sizes and strides")
	}
	if !s.holds(offset, size, stride) {
		return nil, fmt.Errorf("its pickle has a tensor with offset %d, sizes %d and strides %d, "+
			"which do not fit into its %d numbers",
			offset, size[:min(len(size), maxAxes)], stride[:min(len(stride), maxAxes)], s.n)
	}
	t := &tensor{Shape: make([]int, len(size)), stride: stride, offset: offset, storage: s}
	for i, n := range size {
		t.Shape[i] = int(n)
	}
	return t, nil
}

// holds says whether every element of a view is in the storage. It is false for a tensor
// without elements, and for one with more elements than its storage (by a stride of 0).
func (s *storage) holds(offset int64, size, stride []int64) bool {
	if len(size) > maxAxes || offset < 0 || offset >= s.n {
		return false
	}
	elements, last := int64(1), offset
	for i, n := range size {
		if n < 1 || stride[i] < 0 || elements > s.n/n || n > 1 && stride[i] > (s.n-1-last)/(n-1) {
			return false
		}
		elements *= n
		last += (n - 1) * stride[i]
	}
	return true
}

// integers returns the elements of a tuple of integers.
func integers(v any) ([]int64, bool) {
	t, ok := v.(pyTuple)
	if !ok {
		return nil, false
	}
	out := make([]int64, len(t))
	for i, e := range t {
		if out[i], ok = e.(int64); !ok {
			return nil, false
		}
	}
	return out, true
}
