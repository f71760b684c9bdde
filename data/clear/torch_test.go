package clear

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
)

// The types that Save writes, in addition to string and int. The writer shares no code with the reader; files that
// torch wrote are in testdata.
type (
	// Entry is a key and its value in a Dict.
	Entry struct {
		Key   string
		Value any
	}
	// Dict is a Python dict.
	Dict []Entry
	// Tuple is a Python tuple.
	Tuple []any
	// Ints is a Python list of int.
	Ints []int
	// Tensor is a float32 tensor in row-major order.
	Tensor struct {
		Shape []int
		Data  []float32
	}
)

// Save returns what torch.save(v, file) writes, but for shorter opcodes of integers and the memo.
func Save(v any) []byte {
	w := &pickler{}
	w.out.WriteString("\x80\x02")
	w.value(v)
	w.out.WriteByte('.')
	return Archive(w.out.Bytes(), w.storages...)
}

// Archive returns the zip that torch.save writes for a pickle and the storages 0, 1, ...
func Archive(pickle []byte, storages ...[]byte) []byte {
	files := []Member{{"data.pkl", pickle}, {"byteorder", []byte("little")}}
	for i, s := range storages {
		files = append(files, Member{fmt.Sprintf("data/%d", i), s})
	}
	return Zip(append(files, Member{"version", []byte("3\n")}))
}

// Member is a file of the zip. Its name is relative to the folder "archive".
type Member struct {
	Name string
	Data []byte
}

// Zip returns a zip of uncompressed files.
func Zip(files []Member) []byte {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, f := range files {
		w, err := z.CreateHeader(&zip.FileHeader{Name: "archive/" + f.Name, Method: zip.Store})
		if err == nil {
			_, err = w.Write(f.Data)
		}
		if err != nil {
			panic(err)
		}
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// pickler writes a pickle in protocol 2.
type pickler struct {
	out      bytes.Buffer
	storages [][]byte
}

func (w *pickler) value(v any) {
	switch v := v.(type) {
	case string:
		w.out.WriteByte('X')
		w.number(len(v), 4)
		w.out.WriteString(v)
	case int:
		w.int(v)
	case Ints:
		w.out.WriteString("](")
		for _, n := range v {
			w.int(n)
		}
		w.out.WriteByte('e')
	case Tuple:
		w.out.WriteByte('(')
		for _, e := range v {
			w.value(e)
		}
		w.out.WriteByte('t')
	case Dict:
		w.out.WriteString("}(")
		for _, e := range v {
			w.value(e.Key)
			w.value(e.Value)
		}
		w.out.WriteByte('u')
	case Tensor:
		w.tensor(v)
	default:
		panic(fmt.Sprintf("cannot write a %T", v))
	}
}

// int writes an integer of four bytes.
func (w *pickler) int(n int) {
	w.out.WriteByte('J')
	w.number(n, 4)
}

func (w *pickler) number(n, bytes int) {
	w.out.Write(binary.LittleEndian.AppendUint64(nil, uint64(n))[:bytes])
}

func (w *pickler) global(module, name string) { fmt.Fprintf(&w.out, "c%s\n%s\n", module, name) }

func (w *pickler) tensor(t Tensor) {
	w.global("torch._utils", "_rebuild_tensor_v2")
	w.out.WriteString("((")
	w.value("storage")
	w.global("torch", "FloatStorage")
	w.value(fmt.Sprint(len(w.storages)))
	w.value("cpu")
	w.int(len(t.Data))
	w.out.WriteString("tQ")
	w.int(0)
	shape, stride := make(Tuple, len(t.Shape)), make(Tuple, len(t.Shape))
	for step, i := 1, len(t.Shape)-1; i >= 0; i-- {
		shape[i], stride[i] = t.Shape[i], step
		step *= t.Shape[i]
	}
	w.value(shape)
	w.value(stride)
	w.out.WriteByte(0x89) // requires_grad
	w.global("collections", "OrderedDict")
	w.out.WriteString(")RtR")
	var data []byte
	for _, v := range t.Data {
		data = append(data, floats(v)...)
	}
	w.storages = append(w.storages, data)
}
