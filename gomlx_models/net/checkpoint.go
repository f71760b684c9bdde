package net

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"tvps/data/artifact"
)

// Checkpoint is the content of a file of trained networks.
//
// The file has the safetensors format, which PyTorch and JAX can read: 8 bytes with the length
// of the header, a JSON header with the dtype, shape and byte range of each array, then the
// arrays as little-endian float32. The header's "__metadata__" is Metadata, and under "sha256"
// the SHA-256 of the file without this entry. Only what Save writes is read.
type Checkpoint struct {
	Params   []Param           // names and shapes, in file order
	Values   Values            // in the same order
	Metadata map[string]string // provenance: settings, data, accuracy, versions
}

const checksumKey = "sha256"

// tensorEntry is the header's entry of one array. Offsets count from the end of the header.
type tensorEntry struct {
	DType   string   `json:"dtype"`
	Shape   []int    `json:"shape"`
	Offsets [2]int64 `json:"data_offsets"`
}

// Save writes the checkpoint atomically: a reader sees either the old file or the new one.
func (c Checkpoint) Save(path string) error {
	data, err := c.encode()
	if err != nil {
		return err
	}
	if err := artifact.Replace(path, data, 0o644); err != nil {
		return fmt.Errorf("cannot write the checkpoint %s: %w", path, err)
	}
	return nil
}

// encode returns the file's bytes, with the checksum in the metadata.
func (c Checkpoint) encode() ([]byte, error) {
	metadata := maps.Clone(c.Metadata)
	if metadata == nil {
		metadata = map[string]string{}
	}
	delete(metadata, checksumKey)
	c.Metadata = metadata
	plain, err := c.bytes()
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(plain)
	metadata[checksumKey] = hex.EncodeToString(sum[:])
	return c.bytes()
}

// bytes returns the file's bytes with the metadata as they are.
func (c Checkpoint) bytes() ([]byte, error) {
	header := map[string]any{"__metadata__": c.Metadata}
	at := int64(0)
	for _, p := range c.Params {
		end := at + 4*int64(p.Size())
		header[p.Name] = tensorEntry{DType: "F32", Shape: append([]int{}, p.Dims...), Offsets: [2]int64{at, end}}
		at = end
	}
	head, err := json.Marshal(header) // sorts map keys, so equal contents give equal bytes
	if err != nil {
		return nil, err
	}
	for len(head)%8 != 0 {
		head = append(head, ' ')
	}
	out := append(binary.LittleEndian.AppendUint64(nil, uint64(len(head))), head...)
	for _, array := range c.Values {
		for _, v := range array {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v))
		}
	}
	return out, nil
}

// maxCheckpoint is the largest file that is read, in bytes.
const maxCheckpoint = 8 << 30

// ReadCheckpoint reads a file that Save wrote. It fails if the file is missing (fs.ErrNotExist) or damaged.
func ReadCheckpoint(path string) (*Checkpoint, error) {
	data, err := artifact.ReadFile(path, maxCheckpoint)
	if err != nil {
		return nil, err
	}
	c, err := DecodeCheckpoint(data)
	if err != nil {
		return nil, fmt.Errorf("the checkpoint %s is damaged (%w); delete it and train again", path, err)
	}
	return c, nil
}

// DecodeCheckpoint returns what a file of these bytes holds. It fails if they are not those of Save.
func DecodeCheckpoint(data []byte) (*Checkpoint, error) {
	if len(data) < 8 || binary.LittleEndian.Uint64(data) > uint64(len(data)-8) {
		return nil, errors.New("it ends inside its header")
	}
	body := data[8+binary.LittleEndian.Uint64(data):]
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(data[8:len(data)-len(body)], &raw); err != nil {
		return nil, fmt.Errorf("its header is not JSON: %w", err)
	}
	c, entries := &Checkpoint{}, map[string]tensorEntry{}
	for name, text := range raw {
		if name == "__metadata__" {
			if err := json.Unmarshal(text, &c.Metadata); err != nil {
				return nil, fmt.Errorf("metadata: %w", err)
			}
			continue
		}
		var e tensorEntry
		if err := json.Unmarshal(text, &e); err != nil {
			return nil, fmt.Errorf("array %q: %w", name, err)
		}
		if from, to := e.Offsets[0], e.Offsets[1]; from < 0 || to < from || to > int64(len(body)) {
			return nil, fmt.Errorf("array %q is not complete (bytes %d to %d of %d)", name, from, to, len(body))
		}
		entries[name] = e
		c.Params = append(c.Params, Param{Name: name, Dims: e.Shape})
	}
	slices.SortFunc(c.Params, func(a, b Param) int {
		x, y := entries[a.Name].Offsets, entries[b.Name].Offsets
		return cmp.Or(slices.Compare(x[:], y[:]), cmp.Compare(a.Name, b.Name))
	})
	for _, p := range c.Params {
		part := body[entries[p.Name].Offsets[0]:entries[p.Name].Offsets[1]]
		values := make([]float32, len(part)/4)
		for i := range values {
			values[i] = math.Float32frombits(binary.LittleEndian.Uint32(part[4*i:]))
		}
		c.Values = append(c.Values, values)
	}
	// Written again it must be the same bytes: so the checksum, every offset and every shape are right.
	if again, err := c.encode(); err != nil || !bytes.Equal(again, data) {
		return nil, errors.New("its checksum or an entry of its header is wrong")
	}
	delete(c.Metadata, checksumKey)
	return c, nil
}

// Select returns the values of the arrays named prefix + parameter name, in the order of params.
// It fails if an array is missing or has another shape. The result shares memory with c.
func (c Checkpoint) Select(params []Param, prefix string) (Values, error) {
	at := map[string]int{}
	for i, p := range c.Params {
		at[p.Name] = i
	}
	out := make(Values, len(params))
	for i, p := range params {
		k, ok := at[prefix+p.Name]
		if !ok || !slices.Equal(c.Params[k].Dims, p.Dims) {
			return nil, fmt.Errorf("the checkpoint has no array %q of shape %v; it belongs to another network or width",
				prefix+p.Name, p.Dims)
		}
		out[i] = c.Values[k]
	}
	return out, nil
}
