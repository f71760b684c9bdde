package crossfit

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"tvps/gomlx_models/net"
)

// header is JSON in the metadata of a saved g.
type header struct {
	Version int
	Findings
	Folds []byte // of each fitted row its hash (uint64, little-endian) and its fold (a byte)
}

const (
	metadataKey = "crossfit"
	fileVersion = 6
)

// Save writes the networks, the settings and the fold of each fitted row to one file (net.Checkpoint), but not the
// rows. The file appears complete or not at all.
func (o *Fitted) Save(path string) error {
	var c net.Checkpoint
	for _, kind := range o.needs() { // in their order, so that the same g gives the same bytes
		m := o.models[kind]
		for s, folds := range m.values {
			for k, values := range folds {
				for i, p := range m.params() {
					p.Name = prefix(kind, s, k) + p.Name
					c.Params, c.Values = append(c.Params, p), append(c.Values, values[i])
				}
			}
		}
	}
	var folds []byte
	for _, hash := range slices.Sorted(maps.Keys(o.fold)) {
		folds = append(binary.LittleEndian.AppendUint64(folds, hash), o.fold[hash])
	}
	text, err := json.Marshal(header{fileVersion, o.Findings, folds})
	if err != nil {
		return fmt.Errorf("crossfit: %w", err)
	}
	c.Metadata = map[string]string{metadataKey: string(text)}
	if err := c.Save(path); err != nil {
		return fmt.Errorf("crossfit: %w", err)
	}
	return nil
}

// prefix of the names of the arrays of a member of the ensemble for a fold.
func prefix(kind Kind, member, fold int) string { return fmt.Sprintf("%s/%d/%d/", kind, member, fold) }

// Load reads a file of Save. Its result gives weights to any rows (WeightsOf), the same bytes as
// before. Errors: a file that is damaged, not of Save, or of another version.
func Load(path string) (*Fitted, error) {
	c, err := net.ReadCheckpoint(path)
	if err != nil {
		return nil, fmt.Errorf("crossfit: no saved g: %w", err)
	}
	o, err := restore(c)
	if err != nil {
		return nil, fmt.Errorf("crossfit: %s: %w", path, err)
	}
	return o, nil
}

func restore(c *net.Checkpoint) (*Fitted, error) {
	var h header
	var of struct{ Version int } // alone, as the rest of another version may be of other types
	text := []byte(c.Metadata[metadataKey])
	if err := json.Unmarshal(text, &of); err != nil {
		return nil, errors.New("this is not a saved g")
	}
	if of.Version != fileVersion {
		return nil, fmt.Errorf("its version is %d, this program reads version %d; fit and save it again", of.Version, fileVersion)
	}
	if err := json.Unmarshal(text, &h); err != nil {
		return nil, fmt.Errorf("its header is damaged: %w", err)
	}
	o := &Fitted{Findings: h.Findings, models: map[Kind]*model{}, fold: map[uint64]uint8{}}
	for row := range slices.Chunk(h.Folds, 9) {
		o.fold[binary.LittleEndian.Uint64(row)] = row[8]
	}
	for _, kind := range []Kind{Joint, Covariate} {
		found := *o.diagnostics(kind)
		if found == nil {
			continue
		}
		m := &model{network: o.network(found.View, found.Chosen, kind), view: found.View, scale: found.Scale}
		for s := range h.Config.Ensemble {
			var folds []net.Values
			for k := range h.Config.Folds {
				values, err := c.Select(m.params(), prefix(kind, s, k))
				if err != nil {
					return nil, err
				}
				folds = append(folds, values)
			}
			m.values = append(m.values, folds)
		}
		o.models[kind] = m
	}
	return o, nil
}
