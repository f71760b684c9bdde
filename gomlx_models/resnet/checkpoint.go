package resnet

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"

	"tvps/gomlx_models/net"

	"github.com/google/renameio/v2"
)

// Checkpoint is the content of a checkpoint file.
//
// The file has the safetensors format, which PyTorch and JAX can read: 8 bytes with the length
// of the header, a JSON header with the dtype, shape and byte range of each array, then the
// arrays as little-endian float32. The header's "__metadata__" is Metadata, and under "sha256"
// the SHA-256 of the file without this entry.
type Checkpoint struct {
	Params   []net.Param       // names and shapes, in file order
	Values   net.Values        // in the same order
	Metadata map[string]string // provenance: settings, data, accuracy, versions
}

const checksumKey = "sha256"

// tensorEntry is the header's entry of one array. Offsets count from the end of the header.
type tensorEntry struct {
	DType   string `json:"dtype"`
	Shape   []int  `json:"shape"`
	Offsets [2]int `json:"data_offsets"`
}

// Save writes the checkpoint atomically: a reader sees either the old file or the new one.
func (c Checkpoint) Save(path string) error {
	var buf bytes.Buffer
	if err := c.encode(&buf); err != nil {
		return err
	}
	if err := renameio.WriteFile(path, buf.Bytes(), 0o644); err != nil {
		return fmt.Errorf("resnet: cannot write the checkpoint %s: %w", path, err)
	}
	return nil
}

// encode writes the file's bytes, with the checksum in the metadata.
func (c Checkpoint) encode(w io.Writer) error {
	sum, err := c.checksum()
	if err != nil {
		return err
	}
	metadata := map[string]string{}
	maps.Copy(metadata, c.Metadata)
	metadata[checksumKey] = sum
	c.Metadata = metadata
	return c.write(w)
}

// checksum returns the SHA-256, in hexadecimal, of the file without its checksum entry.
func (c Checkpoint) checksum() (string, error) {
	metadata := map[string]string{}
	maps.Copy(metadata, c.Metadata)
	delete(metadata, checksumKey)
	c.Metadata = metadata
	h := sha256.New()
	if err := c.write(h); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// write writes the file's bytes with the metadata as they are.
func (c Checkpoint) write(w io.Writer) error {
	header := map[string]any{"__metadata__": c.Metadata}
	at := 0
	for _, p := range c.Params {
		shape := p.Dims
		if shape == nil {
			shape = []int{}
		}
		header[p.Name] = tensorEntry{DType: "F32", Shape: shape, Offsets: [2]int{at, at + 4*p.Size()}}
		at += 4 * p.Size()
	}
	head, err := json.Marshal(header) // sorts map keys, so equal contents give equal bytes
	if err != nil {
		return err
	}
	for len(head)%8 != 0 {
		head = append(head, ' ')
	}
	if err := binary.Write(w, binary.LittleEndian, uint64(len(head))); err != nil {
		return err
	}
	if _, err := w.Write(head); err != nil {
		return err
	}
	for _, v := range c.Values {
		if err := binary.Write(w, binary.LittleEndian, v); err != nil {
			return err
		}
	}
	return nil
}

// ReadCheckpoint reads a file that Save wrote. It fails if the file is missing
// (fs.ErrNotExist) or damaged: truncated, with a wrong checksum, or with values that are not
// finite.
func ReadCheckpoint(path string) (*Checkpoint, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	c, err := decodeCheckpoint(data)
	if err != nil {
		return nil, fmt.Errorf("resnet: the checkpoint %s is damaged (%w); delete it and train again", path, err)
	}
	return c, nil
}

func decodeCheckpoint(data []byte) (*Checkpoint, error) {
	if len(data) < 8 {
		return nil, fmt.Errorf("it ends at byte %d, inside its header", len(data))
	}
	length := binary.LittleEndian.Uint64(data)
	if length > uint64(len(data)-8) {
		return nil, fmt.Errorf("its header of %d bytes does not fit into %d", length, len(data))
	}
	head, body := data[8:8+length], data[8+length:]
	c, entries, err := decodeHeader(head)
	if err != nil {
		return nil, err
	}
	for _, p := range c.Params {
		values, err := decodeArray(p, entries[p.Name], body)
		if err != nil {
			return nil, err
		}
		c.Values = append(c.Values, values)
	}
	if err := c.verify(len(body)); err != nil {
		return nil, err
	}
	return c, nil
}

// decodeHeader returns a checkpoint without Values, and the entry of each array by name.
func decodeHeader(head []byte) (*Checkpoint, map[string]tensorEntry, error) {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(head, &raw); err != nil {
		return nil, nil, fmt.Errorf("its header is not JSON: %w", err)
	}
	c := &Checkpoint{}
	entries := map[string]tensorEntry{}
	for name, text := range raw {
		if name == "__metadata__" {
			if err := json.Unmarshal(text, &c.Metadata); err != nil {
				return nil, nil, fmt.Errorf("metadata: %w", err)
			}
			continue
		}
		var e tensorEntry
		if err := json.Unmarshal(text, &e); err != nil {
			return nil, nil, fmt.Errorf("array %q: %w", name, err)
		}
		entries[name] = e
		c.Params = append(c.Params, net.Param{Name: name, Dims: e.Shape})
	}
	slices.SortFunc(c.Params, func(a, b net.Param) int {
		return entries[a.Name].Offsets[0] - entries[b.Name].Offsets[0]
	})
	return c, entries, nil
}

// verify checks that the arrays take body bytes in all and that the checksum, if the file has
// one, is right. It removes the checksum from the metadata.
func (c *Checkpoint) verify(body int) error {
	size := 0
	for _, p := range c.Params {
		size += 4 * p.Size()
	}
	if size != body {
		return fmt.Errorf("its arrays take %d bytes, but %d follow the header", size, body)
	}
	want, ok := c.Metadata[checksumKey]
	if !ok {
		return nil
	}
	got, err := c.checksum()
	if err != nil {
		return fmt.Errorf("cannot compute its checksum: %w", err)
	}
	if got != want {
		return fmt.Errorf("its checksum is %s, not %s", got, want)
	}
	delete(c.Metadata, checksumKey) // encode adds it again
	return nil
}

// decodeArray returns the values of array p from the bytes after the header.
func decodeArray(p net.Param, e tensorEntry, body []byte) ([]float32, error) {
	from, to := e.Offsets[0], e.Offsets[1]
	if e.DType != "F32" || from < 0 || to > len(body) || to-from != 4*p.Size() {
		return nil, fmt.Errorf("array %q is not complete in the file (%s, bytes %d to %d of %d)",
			p.Name, e.DType, from, to, len(body))
	}
	values := make([]float32, p.Size())
	for i := range values {
		values[i] = math.Float32frombits(binary.LittleEndian.Uint32(body[from+4*i:]))
		if v := float64(values[i]); math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("array %q contains %v", p.Name, v)
		}
	}
	return values, nil
}

// Select returns the values of the arrays named prefix + parameter name, in the order of params.
// It fails if an array is missing or has another shape. The result shares memory with c.
func (c Checkpoint) Select(params []net.Param, prefix string) (net.Values, error) {
	at := map[string]int{}
	for i, p := range c.Params {
		at[p.Name] = i
	}
	out := make(net.Values, len(params))
	for i, p := range params {
		k, ok := at[prefix+p.Name]
		if !ok || !slices.Equal(c.Params[k].Dims, p.Dims) {
			return nil, fmt.Errorf("resnet: the checkpoint has no array %q of shape %v; "+
				"it belongs to another network or width", prefix+p.Name, p.Dims)
		}
		out[i] = c.Values[k]
	}
	return out, nil
}

const velocityPrefix = "velocity/"

// Checkpoint returns the state as a checkpoint, with settings, epoch and loss added to the
// metadata. With velocity, Resume can continue the training; without, it is the finished
// network.
func (s *State) Checkpoint(params []net.Param, velocity bool, metadata map[string]string) Checkpoint {
	c := Checkpoint{Params: slices.Clone(params), Values: slices.Clone(s.Weights), Metadata: map[string]string{}}
	for k, v := range metadata {
		c.Metadata[k] = v
	}
	config, _ := json.Marshal(s.Config)
	c.Metadata["config"] = string(config)
	c.Metadata["epoch"] = fmt.Sprint(s.Epoch)
	c.Metadata["loss"] = fmt.Sprint(s.Loss)
	if velocity {
		for i, p := range params {
			p.Name = velocityPrefix + p.Name
			c.Params = append(c.Params, p)
			c.Values = append(c.Values, s.Velocity[i])
		}
	}
	return c
}

// Resume returns the state of a training from its checkpoint with velocity. It fails if the
// settings are not cfg (the error lists those that differ), or if arrays, settings, epoch or
// loss are missing.
func Resume(c *Checkpoint, params []net.Param, cfg Config) (*State, error) {
	s := &State{}
	if err := json.Unmarshal([]byte(c.Metadata["config"]), &s.Config); err != nil {
		return nil, fmt.Errorf("resnet: the checkpoint has no training settings: %w", err)
	}
	if diff := s.Config.differences(cfg); diff != "" {
		return nil, fmt.Errorf("resnet: the checkpoint was trained with other settings (%s); "+
			"delete it to train from scratch, or use its settings", diff)
	}
	if _, err := fmt.Sscan(c.Metadata["epoch"], &s.Epoch); err != nil {
		return nil, fmt.Errorf("resnet: the checkpoint has no valid epoch in its metadata: %w", err)
	}
	if _, err := fmt.Sscan(c.Metadata["loss"], &s.Loss); err != nil {
		return nil, fmt.Errorf("resnet: the checkpoint has no valid loss in its metadata: %w", err)
	}
	var err error
	if s.Weights, err = c.Select(params, ""); err != nil {
		return nil, err
	}
	if s.Velocity, err = c.Select(params, velocityPrefix); err != nil {
		return nil, err
	}
	return s, nil
}

// differences lists the settings with different values: "name ours, not theirs; ...".
func (c Config) differences(other Config) string {
	a, _ := json.Marshal(c)
	b, _ := json.Marshal(other)
	var ma, mb map[string]any
	json.Unmarshal(a, &ma)
	json.Unmarshal(b, &mb)
	var diff []string
	for k := range ma {
		if fmt.Sprint(ma[k]) != fmt.Sprint(mb[k]) {
			diff = append(diff, fmt.Sprintf("%s %v, not %v", k, ma[k], mb[k]))
		}
	}
	slices.Sort(diff)
	return strings.Join(diff, "; ")
}
