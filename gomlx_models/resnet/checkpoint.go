package resnet

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"tvps/data/artifact"
	"tvps/gomlx_models/net"
)

// Checkpoint is the content of a checkpoint file.
//
// The file has the safetensors format, which PyTorch and JAX can read: 8 bytes with the length
// of the header, a JSON header with the dtype, shape and byte range of each array, then the
// arrays as little-endian float32. The header's "__metadata__" is Metadata, and under "sha256"
// the SHA-256 of the file without this entry. A file without it is not read.
type Checkpoint struct {
	Params   []net.Param       // names and shapes, in file order
	Values   net.Values        // in the same order
	Metadata map[string]string // provenance: settings, data, accuracy, versions
}

const checksumKey = "sha256"

// tensorEntry is the header's entry of one array. Offsets count from the end of the header.
type tensorEntry struct {
	DType   string  `json:"dtype"`
	Shape   []int   `json:"shape"`
	Offsets []int64 `json:"data_offsets"`
}

// Save writes the checkpoint atomically: a reader sees either the old file or the new one.
func (c Checkpoint) Save(path string) error {
	var buf bytes.Buffer
	if err := c.encode(&buf); err != nil {
		return err
	}
	if err := artifact.Replace(path, buf.Bytes(), 0o644); err != nil {
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
	at := int64(0)
	for _, p := range c.Params {
		end := at + 4*int64(p.Size())
		shape := p.Dims
		if shape == nil {
			shape = []int{}
		}
		header[p.Name] = tensorEntry{DType: "F32", Shape: shape, Offsets: []int64{at, end}}
		at = end
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
// (fs.ErrNotExist) or damaged: truncated, against the rules of safetensors, without a checksum or
// with a wrong one, or with values that are not finite.
func ReadCheckpoint(path string) (*Checkpoint, error) {
	c, _, err := readCheckpoint(path)
	if err != nil && !errors.As(err, new(*fs.PathError)) {
		return nil, fmt.Errorf("resnet: the checkpoint %s is damaged (%w); delete it and train again", path, err)
	}
	return c, err
}

// readCheckpoint also returns the file's SHA-256.
func readCheckpoint(path string) (c *Checkpoint, sum [sha256.Size]byte, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, sum, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, sum, err
	}
	return decodeCheckpoint(file, info.Size())
}

// maxHeader is the largest header that the rules of safetensors allow, in bytes.
const maxHeader = 100_000_000

// decodeCheckpoint reads a file of the given size. Nothing is allocated before its size is compared with the file's.
func decodeCheckpoint(r io.Reader, size int64) (c *Checkpoint, sum [sha256.Size]byte, err error) {
	if size < 8 {
		return nil, sum, fmt.Errorf("it ends at byte %d, inside its header", size)
	}
	hash := sha256.New()
	r = io.TeeReader(r, hash)
	var length uint64
	if err := binary.Read(r, binary.LittleEndian, &length); err != nil {
		return nil, sum, err
	}
	if length > uint64(min(size-8, maxHeader)) {
		return nil, sum, fmt.Errorf("its header of %d bytes does not fit into %d", length, size)
	}
	head := make([]byte, length)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, sum, err
	}
	c, err = decodeHeader(head, size-8-int64(length))
	if err != nil {
		return nil, sum, err
	}
	for _, p := range c.Params {
		values := make([]float32, p.Size())
		if err := binary.Read(r, binary.LittleEndian, values); err != nil {
			return nil, sum, fmt.Errorf("array %q: %w", p.Name, err)
		}
		for _, v := range values {
			if v := float64(v); math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, sum, fmt.Errorf("array %q contains %v", p.Name, v)
			}
		}
		c.Values = append(c.Values, values)
	}
	hash.Sum(sum[:0])
	return c, sum, c.verify()
}

// decodeHeader returns a checkpoint without Values, whose arrays fill the bytes that follow the header.
func decodeHeader(head []byte, body int64) (*Checkpoint, error) {
	if len(head) == 0 || head[0] != '{' || !utf8.Valid(head) {
		return nil, errors.New("its header is not JSON that begins with {")
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(head, &raw); err != nil { // also bounds the depth for uniqueKeys
		return nil, fmt.Errorf("its header is not JSON: %w", err)
	}
	if err := uniqueKeys(head); err != nil {
		return nil, fmt.Errorf("its header has %w", err)
	}
	c := &Checkpoint{}
	offsets := map[string][]int64{}
	for name, text := range raw {
		if name == "__metadata__" {
			if err := json.Unmarshal(text, &c.Metadata); err != nil {
				return nil, fmt.Errorf("metadata: %w", err)
			}
			continue
		}
		e, err := decodeEntry(text, body)
		if err != nil {
			return nil, fmt.Errorf("array %q: %w", name, err)
		}
		offsets[name] = e.Offsets
		c.Params = append(c.Params, net.Param{Name: name, Dims: e.Shape})
	}
	slices.SortFunc(c.Params, func(a, b net.Param) int {
		return cmp.Or(slices.Compare(offsets[a.Name], offsets[b.Name]), strings.Compare(a.Name, b.Name))
	})
	at := int64(0)
	for _, p := range c.Params {
		if from := offsets[p.Name][0]; from != at {
			return nil, fmt.Errorf("array %q begins at byte %d, but the arrays before it end at %d", p.Name, from, at)
		}
		at = offsets[p.Name][1]
	}
	if at != body {
		return nil, fmt.Errorf("its arrays take %d bytes, but %d follow the header", at, body)
	}
	return c, nil
}

// decodeEntry reads the entry of one array, which must lie within the bytes of body.
func decodeEntry(text json.RawMessage, body int64) (e tensorEntry, err error) {
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(text, &keys); err != nil {
		return e, err
	}
	if len(keys) != 3 || keys["dtype"] == nil || keys["shape"] == nil || keys["data_offsets"] == nil {
		return e, fmt.Errorf("it needs the keys dtype, shape and data_offsets, and no other")
	}
	if err := json.Unmarshal(text, &e); err != nil {
		return e, err
	}
	if e.DType != "F32" || e.Shape == nil || len(e.Offsets) != 2 {
		return e, fmt.Errorf("dtype %q, shape %v, data_offsets %v; it must be F32 with a shape and two offsets",
			e.DType, e.Shape, e.Offsets)
	}
	from, to := e.Offsets[0], e.Offsets[1]
	if from < 0 || to < from || to > body {
		return e, fmt.Errorf("it is not complete in the file (bytes %d to %d of %d)", from, to, body)
	}
	size := int64(4)
	for _, d := range e.Shape {
		if d < 0 || size > 0 && int64(d) > body/size {
			return e, fmt.Errorf("shape %v does not fit into %d bytes", e.Shape, body)
		}
		size *= int64(d)
	}
	if size != to-from {
		return e, fmt.Errorf("shape %v does not take bytes %d to %d", e.Shape, from, to)
	}
	return e, nil
}

// uniqueKeys returns an error if an object in a JSON text has a key twice.
func uniqueKeys(text []byte) error { return uniqueKeysOf(json.NewDecoder(bytes.NewReader(text))) }

// uniqueKeysOf reads the next value.
func uniqueKeysOf(d *json.Decoder) error {
	token, err := d.Token()
	open, _ := token.(json.Delim)
	if err != nil || open == 0 {
		return err
	}
	seen := map[json.Token]bool{}
	for d.More() {
		if open == '{' {
			key, err := d.Token()
			if err != nil {
				return err
			}
			if seen[key] {
				return fmt.Errorf("the key %q twice", key)
			}
			seen[key] = true
		}
		if err := uniqueKeysOf(d); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

// verify checks the checksum and removes it from the metadata.
func (c *Checkpoint) verify() error {
	want, ok := c.Metadata[checksumKey]
	if !ok {
		return fmt.Errorf("its metadata have no checksum %s", checksumKey)
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
	if _, err := fmt.Sscan(c.Metadata["epoch"], &s.Epoch); err != nil || s.Epoch < 0 || s.Epoch > cfg.Epochs {
		return nil, fmt.Errorf("resnet: the checkpoint has no valid epoch in its metadata: %q of %d", c.Metadata["epoch"],
			cfg.Epochs)
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
	_, _ = json.Unmarshal(a, &ma), json.Unmarshal(b, &mb) // written above
	var diff []string
	for k := range ma {
		if fmt.Sprint(ma[k]) != fmt.Sprint(mb[k]) {
			diff = append(diff, fmt.Sprintf("%s %v, not %v", k, ma[k], mb[k]))
		}
	}
	slices.Sort(diff)
	return strings.Join(diff, "; ")
}
