package pth

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gomlx/compute/dtypes/float16"
)

// kind is a kind of number.
type kind struct {
	size int64 // bytes
	at   func(b []byte) float32
}

// kinds are the storages that are read. A double or a long that a float32 cannot hold is
// rounded.
var kinds = map[global]kind{
	"torch.FloatStorage":  {4, func(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }},
	"torch.HalfStorage":   {2, func(b []byte) float32 { return float16.FromBits(binary.LittleEndian.Uint16(b)).Float32() }},
	"torch.DoubleStorage": {8, func(b []byte) float32 { return float32(math.Float64frombits(binary.LittleEndian.Uint64(b))) }},
	"torch.LongStorage":   {8, func(b []byte) float32 { return float32(int64(binary.LittleEndian.Uint64(b))) }},
}

const (
	rebuildTensor global = "torch._utils._rebuild_tensor_v2"
	orderedDict   global = "collections.OrderedDict"
)

// maxAxes is the most axes of a tensor that are read.
const maxAxes = 8

// storage is n numbers; several tensors may be views of it.
type storage struct {
	kind kind
	data []byte
	n    int64
}

// Tensor is a view of numbers in the file: element (i, j, ...) is number
// offset + i stride[0] + j stride[1] + ... of its storage.
type Tensor struct {
	Shape []int

	stride  []int64
	offset  int64
	storage *storage
}

// Len is the number of elements, never more than the file holds.
func (t *Tensor) Len() int {
	n := 1
	for _, size := range t.Shape {
		n *= size
	}
	return n
}

// Sub returns row i of the first axis, not copied. It panics if there is none.
func (t *Tensor) Sub(i int) *Tensor {
	if i < 0 || i >= t.Shape[0] {
		panic(fmt.Sprintf("pth: row %d of %d", i, t.Shape[0]))
	}
	return &Tensor{Shape: t.Shape[1:], stride: t.stride[1:], offset: t.offset + int64(i)*t.stride[0], storage: t.storage}
}

// AppendFloat32 appends the elements to dst, the last axis first.
func (t *Tensor) AppendFloat32(dst []float32) []float32 {
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
		return errors.New("its pickle asks for a global whose name is no string")
	}
	return m.pushGlobal(moduleText, nameText)
}

// pushGlobal knows the names that tensors need and refuses all others.
func (m *machine) pushGlobal(module, name string) error {
	g := global(module + "." + name)
	if _, storage := kinds[g]; !storage && g != rebuildTensor && g != orderedDict {
		return fmt.Errorf("its pickle asks for the global %s; only plain values and tensors are read", plain(string(g)))
	}
	m.push(g)
	return nil
}

// reduce stands for a call: of the two functions that are known.
func reduce(m *machine) error {
	v, err := m.pop()
	if err != nil {
		return err
	}
	f, err := m.pop()
	if err != nil {
		return err
	}
	args, ok := v.(Tuple)
	switch {
	case ok && f == rebuildTensor:
		t, err := rebuild(args)
		if err != nil {
			return err
		}
		m.push(t)
	case ok && f == orderedDict && len(args) == 0:
		m.push(&Dict{})
	default:
		return fmt.Errorf("its pickle calls a value of type %s with one of type %s; only tensors and empty OrderedDicts are made", Name(f), Name(v))
	}
	return nil
}

// persistent replaces ("storage", kind, key, device, number) by that storage.
func persistent(m *machine) error {
	v, err := m.pop()
	if err != nil {
		return err
	}
	args, ok := v.(Tuple)
	if !ok || len(args) != 5 || args[0] != "storage" {
		return fmt.Errorf("its pickle has a persistent id of type %s that names no storage", Name(v))
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

// rebuild makes the tensor of _rebuild_tensor_v2(storage, offset, size, stride,
// requires_grad, backward_hooks[, metadata]).
func rebuild(args Tuple) (*Tensor, error) {
	if len(args) != 6 && len(args) != 7 {
		return nil, fmt.Errorf("its pickle describes a tensor by %d values; 6 or 7 are usual", len(args))
	}
	s, ok1 := args[0].(*storage)
	offset, ok2 := args[1].(int64)
	size, ok3 := integers(args[2])
	stride, ok4 := integers(args[3])
	if !ok1 || !ok2 || !ok3 || !ok4 || len(size) != len(stride) {
		return nil, errors.New("its pickle has a tensor that is not described by storage, offset, sizes and strides")
	}
	if !s.holds(offset, size, stride) {
		return nil, fmt.Errorf("its pickle has a tensor with offset %d, sizes %d and strides %d, which do not fit into its %d numbers",
			offset, size[:min(len(size), maxAxes)], stride[:min(len(stride), maxAxes)], s.n)
	}
	t := &Tensor{Shape: make([]int, len(size)), stride: stride, offset: offset, storage: s}
	for i, n := range size {
		t.Shape[i] = int(n)
	}
	return t, nil
}

// holds says whether every element of a view lies in the storage. A tensor without elements
// is refused, and so is one with more elements than its storage, which a stride of 0 makes.
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

// integers returns a tuple of integers.
func integers(v any) ([]int64, bool) {
	t, ok := v.(Tuple)
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
