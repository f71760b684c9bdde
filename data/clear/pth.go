package clear

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/nlpodyssey/gopickle/pickle"
	"github.com/nlpodyssey/gopickle/types"
)

// readPTH returns the value in a file that torch.save wrote (torch 1.6 or later): dicts, lists, tuples, numbers, text
// and vectors of float32. An error is one sentence about "it", the file, whose name the caller must add.
//
// Such a file (.pth, .pt) is a zip: NAME/data.pkl is a pickle, a program for a small stack machine, and NAME/data/0,
// NAME/data/1, ... are the numbers of the tensors. In Python a pickle may call any function. Here it may call only
// what makes a tensor of float32; any other name is an error.
func readPTH(raw []byte) (value any, err error) {
	a, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil || len(a.File) == 0 {
		return nil, fmt.Errorf("it is not a file of torch.save (1.6 or later), or it is truncated (%v)", err)
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
		if r := recover(); r != nil { // at operations on values of the wrong type
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
	vector        []float32 // a tensor with one axis
)

// readStorage returns the numbers that ("storage", type, key, device, number of values) names.
func readStorage(a fs.FS, folder string, id any) (storage, error) {
	args := id.(*types.Tuple)
	if args.Get(1) != (floatStorage{}) {
		return nil, errors.New("a tensor has no storage of float32")
	}
	name := fmt.Sprintf("%s/data/%v", folder, args.Get(2))
	part, err := fs.ReadFile(a, name)
	if err != nil {
		return nil, fmt.Errorf("its numbers cannot be read: %q: %w", name, err)
	}
	numbers := make([]float32, len(part)/4)
	_, err = binary.Decode(part, binary.LittleEndian, numbers)
	return numbers, err
}

// Call returns the vector of _rebuild_tensor_v2(storage, offset, size, stride, ...). A vector is a part of a storage;
// one outside it, or arguments of other types, panic, which readPTH makes an error.
func (rebuildTensor) Call(args ...any) (any, error) {
	numbers, offset := args[0].(storage), args[1].(int)
	size, stride := *args[2].(*types.Tuple), *args[3].(*types.Tuple)
	if len(size) != 1 || stride[0] != 1 {
		return nil, fmt.Errorf("it has a tensor with sizes %v and strides %v; only vectors are supported", size, stride)
	}
	return vector(numbers[offset : offset+size[0].(int)]), nil
}
