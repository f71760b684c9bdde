package crossfit

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"tvps/gomlx_models/net"
)

// header is all of a Fitted but its networks: JSON in the metadata of its file.
type header struct {
	Version          int
	Config           Config
	Shape            shape
	First, Last      float64
	Notes            []string
	Joint, Covariate *Diagnostics
	Conditional      *Null
	Models           []modelHeader
	Folds            string // base64 of each fitted row's hash (uint64, little-endian) and fold (a byte)
}

type modelHeader struct {
	Kind   Kind
	Chosen int
	Scale  float64
}

const (
	metadataKey = "crossfit"
	fileVersion = 3
)

// Save writes the networks, the settings and the fold of each fitted row to one file (net.Checkpoint), but not the
// rows. The file appears complete or not at all.
func (o *Fitted) Save(path string) error {
	h := header{Version: fileVersion, Config: o.cfg, Shape: o.shape, First: o.first, Last: o.last, Notes: o.Notes,
		Joint: o.Joint, Covariate: o.Covariate, Conditional: o.Conditional}
	var c net.Checkpoint
	for _, kind := range []Kind{Joint, Covariate} {
		m := o.models[kind]
		if m == nil {
			continue
		}
		h.Models = append(h.Models, modelHeader{kind, m.chosen, m.scale})
		for s, values := range m.values {
			for i, p := range m.net.params {
				p.Name = prefix(kind, s) + p.Name
				c.Params, c.Values = append(c.Params, p), append(c.Values, values[i])
			}
		}
	}
	var folds []byte
	for _, hash := range slices.Sorted(maps.Keys(o.fold)) {
		folds = append(binary.LittleEndian.AppendUint64(folds, hash), o.fold[hash])
	}
	h.Folds = base64.StdEncoding.EncodeToString(folds)
	text, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("crossfit: %w", err)
	}
	c.Metadata = map[string]string{metadataKey: string(text)}
	if err := c.Save(path); err != nil {
		return fmt.Errorf("crossfit: %w", err)
	}
	return nil
}

// prefix of the names of the arrays of a member of the ensemble.
func prefix(kind Kind, member int) string { return fmt.Sprintf("%s/%d/", kind, member) }

// Load reads a file of Save. Its result gives weights to any rows (WeightsOf), the same bytes as
// before. Errors: a file that is damaged, not of Save, or of another version.
func (f *Fitter) Load(path string) (*Fitted, error) {
	c, err := net.ReadCheckpoint(path)
	if err != nil {
		return nil, fmt.Errorf("crossfit: no saved g: %w", err)
	}
	o, err := f.restore(c)
	if err != nil {
		return nil, fmt.Errorf("crossfit: %s: %w", path, err)
	}
	return o, nil
}

func (f *Fitter) restore(c *net.Checkpoint) (*Fitted, error) {
	var h header
	if err := json.Unmarshal([]byte(c.Metadata[metadataKey]), &h); err != nil {
		return nil, errors.New("this is not a saved g")
	}
	if h.Version != fileVersion {
		return nil, fmt.Errorf("its version is %d, this program reads version %d; save it again", h.Version, fileVersion)
	}
	folds, err := base64.StdEncoding.DecodeString(h.Folds)
	if err != nil {
		return nil, err
	}
	o := &Fitted{Notes: h.Notes, Joint: h.Joint, Covariate: h.Covariate, Conditional: h.Conditional, cfg: h.Config,
		fitter: f, models: map[Kind]*model{}, shape: h.Shape, first: h.First, last: h.Last, fold: map[uint64]uint8{}}
	for row := range slices.Chunk(folds, 9) {
		o.fold[binary.LittleEndian.Uint64(row)] = row[8]
	}
	for _, saved := range h.Models {
		m := &model{scale: saved.Scale, chosen: saved.Chosen}
		if m.net, err = o.foldNet(h.Config.Candidates[saved.Chosen]); err != nil {
			return nil, err
		}
		for s := range h.Config.Ensemble {
			values, err := c.Select(m.net.params, prefix(saved.Kind, s))
			if err != nil {
				return nil, err
			}
			m.values = append(m.values, values)
		}
		o.models[saved.Kind] = m
	}
	return o, nil
}
