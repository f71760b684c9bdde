package crossfit

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"tvps/data/artifact"
	"tvps/gomlx_models/net"
)

// A file of Save is, in little-endian order: fileMagic, the version (uint32), the length of the
// header (uint32), the header (JSON of header), for each model and member of the ensemble the
// values of the networks (float32), the hashes of the fitted rows (uint64) with their folds
// (bytes), and the SHA-256 of all that.
const (
	fileMagic   = "tvpsown\n"
	fileVersion = 2
	maxHeader   = 64 << 20 // bytes
	maxFile     = 8 << 30  // bytes
)

// header is all of an Fitted but networks and rows.
type header struct {
	Config             Config
	Shape              shape
	First, Last, Until float64
	Notes              []string
	Joint, Covariate   *Diagnostics
	Conditional        *Null
	Models             []modelHeader
	Rows               int // number of hashes
}

type modelHeader struct {
	Kind   Kind
	Chosen int
	Scale  float64
}

// Save writes the networks, the settings and the fold of each fitted row to one file, but not the
// rows. The file appears complete or not at all.
func (o *Fitted) Save(path string) error {
	content, err := o.encode()
	if err != nil {
		return fmt.Errorf("crossfit: %w", err)
	}
	return writeWhole(path, content)
}

// encode returns the bytes of Save's file.
func (o *Fitted) encode() ([]byte, error) {
	h := header{Config: o.cfg, Shape: o.shape, First: o.first, Last: o.last, Until: o.until, Notes: o.Notes,
		Joint: o.Joint, Covariate: o.Covariate, Conditional: o.Conditional, Rows: len(o.fold)}
	for _, kind := range o.fittedModels() {
		h.Models = append(h.Models, modelHeader{kind, o.models[kind].chosen, o.models[kind].scale})
	}
	header, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	if len(header) > maxHeader {
		return nil, fmt.Errorf("a header of %d bytes; at most %d are possible", len(header), maxHeader)
	}
	var rest []byte
	for _, m := range h.Models {
		for _, member := range o.models[m.Kind].values {
			for _, array := range member {
				for _, v := range array {
					rest = binary.LittleEndian.AppendUint32(rest, math.Float32bits(v))
				}
			}
		}
	}
	hashes := slices.Sorted(maps.Keys(o.fold))
	for _, hash := range hashes {
		rest = append(binary.LittleEndian.AppendUint64(rest, hash), o.fold[hash])
	}
	return sealed(header, rest), nil
}

// sealed is a whole file of the given header and what follows it.
func sealed(header, rest []byte) []byte {
	b := binary.LittleEndian.AppendUint32([]byte(fileMagic), fileVersion)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(header)))
	b = append(append(b, header...), rest...)
	sum := sha256.Sum256(b)
	return append(b, sum[:]...)
}

// writeWhole writes a file under a temporary name, and renames it.
func writeWhole(path string, content []byte) error {
	if err := artifact.Replace(path, content, 0o644); err != nil {
		return fmt.Errorf("crossfit: %w", err)
	}
	return nil
}

// fittedModels lists the kinds of the models, in a fixed order.
func (o *Fitted) fittedModels() []Kind {
	return slices.DeleteFunc([]Kind{Joint, Covariate}, func(k Kind) bool { return o.models[k] == nil })
}

// Load reads a file of Save. Its result gives weights to any rows (WeightsOf), the same bytes as
// before, and can be continued. Errors: a file that is not of Save, of another version, shorter or
// longer than it says, with a wrong checksum, or with impossible settings or values.
func (f *Fitter) Load(path string) (*Fitted, error) {
	content, err := artifact.ReadFile(path, maxFile)
	if err != nil {
		return nil, fmt.Errorf("crossfit: no saved g: %w", err)
	}
	o, err := f.decode(content)
	if err != nil {
		return nil, fmt.Errorf("crossfit: %s: %w", path, err)
	}
	return o, nil
}

func (f *Fitter) decode(content []byte) (*Fitted, error) {
	start := len(fileMagic) + 8
	if len(content) < start+sha256.Size || string(content[:len(fileMagic)]) != fileMagic {
		return nil, errors.New("this is not a saved g")
	}
	if v := binary.LittleEndian.Uint32(content[len(fileMagic):]); v != fileVersion {
		return nil, fmt.Errorf("its version is %d, this program reads version %d; save it again", v, fileVersion)
	}
	body, sum := content[:len(content)-sha256.Size], content[len(content)-sha256.Size:]
	if got := sha256.Sum256(body); !bytes.Equal(got[:], sum) {
		return nil, errors.New("the checksum is wrong: the file is damaged or incomplete")
	}
	size := int(binary.LittleEndian.Uint32(content[len(fileMagic)+4:]))
	if size > maxHeader || size > len(body)-start {
		return nil, fmt.Errorf("a header of %d bytes does not fit into it", size)
	}
	var h header
	if err := json.Unmarshal(body[start:start+size], &h); err != nil {
		return nil, fmt.Errorf("its header is damaged: %w", err)
	}
	if err := h.check(); err != nil {
		return nil, err
	}
	o := &Fitted{Notes: h.Notes, Joint: h.Joint, Covariate: h.Covariate, Conditional: h.Conditional, cfg: h.Config,
		fitter: f, models: map[Kind]*model{}, shape: h.Shape, first: h.First, last: h.Last, until: h.Until}
	rest := body[start+size:]
	for _, m := range h.Models {
		model := &model{scale: m.Scale, chosen: m.Chosen}
		c := h.Config.Candidates[m.Chosen]
		// Before anything is compiled: the first layer alone must fit into the file.
		if least := 4 * h.Config.Folds * h.Config.Ensemble * c.Hidden * max(h.Shape.Dim, c.Hidden); least > len(rest) {
			return nil, fmt.Errorf("it is too short for networks of %d units", c.Hidden)
		}
		var err error
		if model.net, err = o.foldNet(c); err != nil {
			return nil, err
		}
		for range h.Config.Ensemble {
			var values net.Values
			for _, p := range model.net.params {
				if len(rest) < 4*p.Size() {
					return nil, errors.New("it is too short for its networks")
				}
				array := make([]float32, p.Size())
				for i := range array {
					array[i] = math.Float32frombits(binary.LittleEndian.Uint32(rest[4*i:]))
					if v := float64(array[i]); math.IsNaN(v) || math.IsInf(v, 0) {
						return nil, fmt.Errorf("a value of its networks is %v", v)
					}
				}
				values, rest = append(values, array), rest[4*p.Size():]
			}
			model.values = append(model.values, values)
		}
		o.models[m.Kind] = model
	}
	if len(rest)%9 != 0 || len(rest)/9 != h.Rows {
		return nil, fmt.Errorf("it has %d bytes for %d rows of 9 bytes", len(rest), h.Rows)
	}
	o.fold = make(map[uint64]uint8, h.Rows)
	for ; len(rest) > 0; rest = rest[9:] {
		if int(rest[8]) >= h.Config.Folds {
			return nil, fmt.Errorf("a row has fold %d of %d", rest[8], h.Config.Folds)
		}
		o.fold[binary.LittleEndian.Uint64(rest)] = rest[8]
	}
	return o, nil
}

// check returns an error for what Save does not write.
func (h *header) check() error {
	if err := h.Config.Validate(); err != nil {
		return err
	}
	finite := func(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
	s := h.Shape
	switch {
	case s.Dim < 1 || s.Dim > maxDim || len(s.Mean) != s.Dim || len(s.Scale) != s.Dim:
		return fmt.Errorf("samples of %d values with %d means and %d scales", s.Dim, len(s.Mean), len(s.Scale))
	case !slices.Equal(slices.Sorted(slices.Values(s.Columns)), positions(s.Dim)):
		return fmt.Errorf("columns in the order %v", s.Columns)
	case s.Classes < 0 || s.Classes > maxClasses || s.Target && s.Classes > 0:
		return fmt.Errorf("labels of %d classes are not possible", s.Classes)
	case !finite(s.TargetMean) || !(s.TargetScale > 0):
		return fmt.Errorf("target of mean %v and scale %v", s.TargetMean, s.TargetScale)
	case !finite(h.First) || !finite(h.Last) || !finite(h.Until) || !(h.First < h.Last) || h.Until < h.Last:
		return fmt.Errorf("times from %v to %v, until %v", h.First, h.Last, h.Until)
	case len(h.Models) < 1 || len(h.Models) > 2:
		return fmt.Errorf("%d models; there are one or two", len(h.Models))
	case h.Rows < 0:
		return fmt.Errorf("%d rows", h.Rows)
	}
	for _, v := range s.Scale {
		if !(v > 0) {
			return fmt.Errorf("a scale of x is %v", v)
		}
	}
	seen := map[Kind]bool{}
	for _, m := range h.Models {
		if m.Kind != Joint && m.Kind != Covariate || seen[m.Kind] || m.Chosen < 0 || m.Chosen >= len(h.Config.Candidates) ||
			!(m.Scale >= 0 && m.Scale <= 2) {
			return fmt.Errorf("model %s with candidate %d and scale %v is not possible", m.Kind, m.Chosen, m.Scale)
		}
		seen[m.Kind] = true
	}
	return nil
}
