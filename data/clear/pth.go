package clear

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"strconv"
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
// what dicts, tuples and lists of float32 tensors, integers and text need. Everything else is
// an error that names it. Lengths and shapes are checked against the size of the file before
// memory is allocated, so the size of the file limits the memory.
func readPTH(raw []byte) (any, error) {
	if bytes.HasPrefix(raw, legacy) {
		return nil, errors.New("it has the format of torch before 1.6; load and save it with a newer torch")
	}
	r, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return nil, fmt.Errorf("it is not a file of torch.save, or it is truncated (%v)", err)
	}
	a := archive{raw: raw, entries: map[string]*zip.File{}}
	for _, f := range r.File {
		_, name, _ := strings.Cut(f.Name, "/")
		a.entries[name] = f
	}
	program, err := a.bytes("data.pkl")
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

// bytes returns an entry as a slice of the file. torch.save does not compress, so an entry is
// never longer than the file.
func (a archive) bytes(name string) ([]byte, error) {
	f := a.entries[name]
	if f == nil {
		return nil, fmt.Errorf("it is a zip without the entry %s, so it is not a whole file of torch.save", plain(name))
	}
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

// storage holds float32 numbers, little-endian. Several tensors may be views of it.
type storage []byte

// storage returns the n numbers that a pickle refers to by key.
func (a archive) storage(key string, n int64) (storage, error) {
	part, err := a.bytes("data/" + key)
	if err == nil && (n < 0 || n > int64(len(part)) || 4*n != int64(len(part))) {
		err = fmt.Errorf("its entry data/%s has %d bytes; its pickle says %d numbers of 4 bytes", plain(key), len(part), n)
	}
	return part, err
}

// tensor is a part of a storage in row-major order.
type tensor struct {
	Shape []int
	data  []byte
}

func (t *tensor) Len() int { return len(t.data) / 4 }

// Sub returns row i of the first axis, not copied.
func (t *tensor) Sub(i int) *tensor {
	size := len(t.data) / t.Shape[0]
	return &tensor{t.Shape[1:], t.data[i*size : (i+1)*size]}
}

func (t *tensor) AppendFloat32(dst []float32) []float32 {
	for at := 0; at < len(t.data); at += 4 {
		dst = append(dst, math.Float32frombits(binary.LittleEndian.Uint32(t.data[at:])))
	}
	return dst
}

// plain returns text from a file for a message: short, one line, no control characters.
func plain(s string) string {
	const limit = 80
	if len(s) > limit {
		s = s[:limit] + "..."
	}
	quoted := strconv.Quote(s)
	return quoted[1 : len(quoted)-1]
}
