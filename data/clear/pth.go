package clear

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
)

// maxPickle is the largest size of data.pkl; for 300 tensors it has 20 KB. One byte of a
// pickle can create an object of some hundred bytes, so this limits the memory for objects.
const maxPickle = 4 << 20

// legacy is the beginning of files of torch before 1.6: a pickled magic number.
var legacy = []byte("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19")

// readPTH returns the value in an untrusted file that torch.save wrote (torch 1.6 or later).
// Tensors refer to raw, which must not change while they are in use. An error is one sentence
// about "it", the file, whose name the caller must add.
//
// Such a file (.pth, .pt) is a zip of uncompressed entries: NAME/data.pkl is a pickle, a
// program for a small stack machine, and NAME/data/0, NAME/data/1, ... are the numbers of the
// tensors. In Python a pickle may call any function. This reader calls none: it implements
// the opcodes that build plain values, the tensor storages and two functions,
// torch._utils._rebuild_tensor_v2 and collections.OrderedDict. Everything else is an error
// that names it. Lengths, shapes, strides and memo numbers are checked against the size of
// the file before memory is allocated, so the size of the file limits the memory.
//
// Python values are returned as
//
//	None           nil
//	bool           bool
//	int            int64 (larger integers are an error)
//	float          float64
//	str            string
//	tuple          pyTuple
//	list           *pyList
//	dict           *pyDict (OrderedDict too), in insertion order, keys str or int
//	torch.Tensor   *tensor of float, half, double or long
func readPTH(raw []byte) (any, error) {
	if bytes.HasPrefix(raw, legacy) {
		return nil, errors.New("it has the format of torch before 1.6; load and save it with a newer torch")
	}
	a, err := openPTH(raw)
	if err != nil {
		return nil, err
	}
	if order, found := a.entries["byteorder"]; found {
		text, err := a.bytes(order)
		if err != nil {
			return nil, err
		}
		if string(text) != "little" {
			return nil, fmt.Errorf("its byte order is %s; only little-endian files are supported", plain(string(text)))
		}
	}
	program, err := a.bytes(a.entries["data.pkl"])
	if err != nil {
		return nil, err
	}
	if len(program) > maxPickle {
		return nil, fmt.Errorf("its pickle has %d bytes; at most %d are supported", len(program), maxPickle)
	}
	return unpickle(program, a.storage)
}

// archive is the zip: its entries by their names in the one folder that torch.save creates.
type archive struct {
	raw     []byte
	entries map[string]*zip.File
}

func openPTH(raw []byte) (*archive, error) {
	r, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return nil, fmt.Errorf("it is not a file of torch.save, or it is truncated (%v)", err)
	}
	a := &archive{raw: raw, entries: map[string]*zip.File{}}
	top := ""
	for _, f := range r.File {
		if folder, found := strings.CutSuffix(f.Name, "data.pkl"); found && strings.Count(folder, "/") == 1 {
			if top != "" {
				return nil, errors.New("it has two entries data.pkl")
			}
			top = folder
		}
	}
	if top == "" {
		return nil, errors.New("it is a zip without data.pkl, so it is not a file of torch.save")
	}
	for _, f := range r.File {
		name, found := strings.CutPrefix(f.Name, top)
		if !found {
			continue
		}
		if a.entries[name] != nil {
			return nil, fmt.Errorf("it has two entries %s", plain(f.Name))
		}
		a.entries[name] = f
	}
	return a, nil
}

// bytes returns an entry as a slice of the file. torch.save does not compress, so an entry is
// never longer than the file.
func (a *archive) bytes(f *zip.File) ([]byte, error) {
	if f.Method != zip.Store || f.CompressedSize64 != f.UncompressedSize64 {
		return nil, fmt.Errorf("its entry %s is compressed, which torch.save never does", plain(f.Name))
	}
	start, err := f.DataOffset()
	size := int64(len(a.raw))
	if err != nil || start < 0 || start > size || f.UncompressedSize64 > uint64(size-start) {
		return nil, fmt.Errorf("its entry %s is damaged: it is outside of the file", plain(f.Name))
	}
	part := a.raw[start : start+int64(f.UncompressedSize64)]
	if crc32.ChecksumIEEE(part) != f.CRC32 {
		return nil, fmt.Errorf("its entry %s is damaged: the checksum differs", plain(f.Name))
	}
	return part, nil
}

// storage returns the n numbers of a kind that a pickle refers to by key.
func (a *archive) storage(kind kind, key string, n int64) (*storage, error) {
	f := a.entries["data/"+key]
	if f == nil {
		return nil, fmt.Errorf("it has no entry data/%s, to which its pickle refers", plain(key))
	}
	part, err := a.bytes(f)
	if err != nil {
		return nil, err
	}
	if n < 0 || n > int64(len(part)) || n*kind.size != int64(len(part)) {
		return nil, fmt.Errorf("its entry data/%s has %d bytes; its pickle says %d numbers of %d bytes",
			plain(key), len(part), n, kind.size)
	}
	return &storage{kind: kind, data: part, n: n}, nil
}
