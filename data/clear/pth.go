package clear

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strings"

	"github.com/nlpodyssey/gopickle/pickle"
	"github.com/nlpodyssey/gopickle/types"
)

// legacy is the beginning of files of torch before 1.6: a pickled magic number.
var legacy = []byte("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19")

// readPTH returns the value in a file that torch.save wrote (torch 1.6 or later): dicts, lists, tuples, numbers, text
// and float32 tensors. An error is one sentence about "it", the file, whose name the caller must add.
//
// Such a file (.pth, .pt) is a zip: NAME/data.pkl is a pickle, a program for a small stack machine, and NAME/data/0,
// NAME/data/1, ... are the numbers of the tensors. In Python a pickle may call any function. Here it may call only
// what makes a tensor of float32; any other name is an error.
func readPTH(raw []byte) (value any, err error) {
	if bytes.HasPrefix(raw, legacy) {
		return nil, errors.New("it has the format of torch before 1.6; load and save it with a newer torch")
	}
	a, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil || len(a.File) == 0 {
		return nil, fmt.Errorf("it is not a file of torch.save, or it is truncated (%v)", err)
	}
	folder, _, _ := strings.Cut(a.File[0].Name, "/")
	program, err := fs.ReadFile(a, folder+"/data.pkl")
	if err != nil {
		return nil, fmt.Errorf("it is not a whole file of torch.save (%w)", err)
	}
	u := pickle.NewUnpickler(bytes.NewReader(program))
	u.FindClass = findClass
	u.PersistentLoad = func(id any) (any, error) { return readStorage(a, folder, id) }
	defer func() {
		if r := recover(); r != nil { // of the unpickler, at operations on values of the wrong type
			value, err = nil, fmt.Errorf("its pickle is damaged (%v)", r)
		}
	}()
	if value, err = u.Load(); err != nil {
		return nil, fmt.Errorf("its pickle cannot be read (%w)", err)
	}
	return value, nil
}

// findClass returns what a name in Python stands for, beside those of plain values, which the unpickler knows.
func findClass(module, name string) (any, error) {
	switch global := module + "." + name; global {
	case "torch.FloatStorage":
		return floatStorage{}, nil
	case "torch._utils._rebuild_tensor_v2":
		return rebuildTensor{}, nil
	default:
		return nil, fmt.Errorf("it asks for the global %q; only plain values and tensors of float32 are supported", global)
	}
}

type (
	floatStorage  struct{} // the type of storages of float32
	rebuildTensor struct{} // the function that makes a tensor
	storage       []float32
)

// tensor is a part of a storage in row-major order.
type tensor struct {
	Shape  []int
	Values []float32
}

// Sub returns row i of the first axis, not copied.
func (t *tensor) Sub(i int) *tensor {
	size := len(t.Values) / t.Shape[0]
	return &tensor{t.Shape[1:], t.Values[i*size : (i+1)*size]}
}

// readStorage returns the numbers that ("storage", type, key, device, number of values) names.
func readStorage(a fs.FS, folder string, id any) (storage, error) {
	args, _ := id.(*types.Tuple)
	if args == nil || args.Len() != 5 || args.Get(0) != "storage" || args.Get(1) != (floatStorage{}) {
		return nil, errors.New("a tensor has no storage of float32")
	}
	name := fmt.Sprintf("%s/data/%v", folder, args.Get(2))
	part, err := fs.ReadFile(a, name)
	if err != nil {
		return nil, fmt.Errorf("its numbers cannot be read: %q: %w", name, err)
	}
	if n, ok := args.Get(4).(int); !ok || len(part) != 4*n {
		return nil, fmt.Errorf("%q has %d bytes; its pickle says %v numbers of 4 bytes", name, len(part), args.Get(4))
	}
	numbers := make(storage, len(part)/4)
	for i := range numbers {
		numbers[i] = math.Float32frombits(binary.LittleEndian.Uint32(part[4*i:]))
	}
	return numbers, nil
}

// Call returns the tensor of _rebuild_tensor_v2(storage, offset, size, stride, ...). Its elements must follow each
// other in the storage, and there must be one.
func (rebuildTensor) Call(args ...any) (any, error) {
	args = append(args, make([]any, 4)...)
	numbers, ok1 := args[0].(storage)
	offset, ok2 := args[1].(int)
	size, ok3 := integers(args[2])
	stride, ok4 := integers(args[3])
	if !ok1 || !ok2 || !ok3 || !ok4 || len(size) != len(stride) {
		return nil, errors.New("a tensor is not described by storage, offset, sizes and strides")
	}
	elements, fits := 1, true
	for i := len(size) - 1; i >= 0; i-- {
		fits = fits && size[i] > 0 && (size[i] == 1 || stride[i] == elements)
		elements *= size[i]
	}
	if !fits || offset < 0 || offset+elements > len(numbers) {
		return nil, fmt.Errorf("a tensor with offset %d, sizes %d and strides %d is no row-major part of its %d numbers",
			offset, size, stride, len(numbers))
	}
	return &tensor{size, numbers[offset : offset+elements]}, nil
}

func integers(v any) ([]int, bool) {
	t, ok := v.(*types.Tuple)
	if !ok {
		return nil, false
	}
	out := make([]int, t.Len())
	for i, e := range *t {
		n, isInt := e.(int)
		out[i], ok = n, ok && isInt
	}
	return out, ok
}

// describe returns the type of a value in Python, for messages: tensor with sizes [300 2048].
func describe(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case int:
		return "int"
	case string:
		return "str"
	case *tensor:
		return fmt.Sprintf("tensor with sizes %d", v.Shape)
	case *types.Dict:
		return fmt.Sprintf("dict of %d", v.Len())
	case *types.List:
		return fmt.Sprintf("list of %d", v.Len())
	case *types.Tuple:
		return fmt.Sprintf("tuple of %d", v.Len())
	}
	return fmt.Sprintf("%T", v)
}
