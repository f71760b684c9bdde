package check

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"tvps/kernel/nbformat"
)

// valuesMIME is the MIME type of a notebook's numbers: the constant ValuesMIME of tvps/replicate/notebook, which
// notebooks in Python emit, too. It is repeated here because importing that package would import the figures and their
// backends.
const valuesMIME = "application/vnd.tvps.values+json"

type values struct {
	Values map[string]any `json:"values"` // of float64
	From   string         `json:"from"`   // "gallery" in cells that compute nothing and show results of the checkout
}

// number is one number that a notebook emitted.
type number struct {
	Cell  int // the code cell, counted from 1
	Name  string
	Value float64
}

// collect returns the numbers in a notebook's outputs: in the order of the cells, and by name within an output. If an
// output has others, it returns those of the other outputs and an error.
func collect(nb *nbformat.Notebook) (all []number, err error) {
	for i, c := range codeCells(nb) {
		for _, o := range c.Outputs {
			v, wrong := valuesIn(o)
			if wrong != nil {
				err = cmp.Or(err, fmt.Errorf("code cell %d emits numbers that cannot be compared: %w", i+1, wrong))
				continue
			}
			for _, name := range slices.Sorted(maps.Keys(v.Values)) {
				all = append(all, number{i + 1, name, v.Values[name].(float64)})
			}
		}
	}
	return all, err
}

// valuesIn decodes the numbers of an output; it may have none. NaN and infinities are texts in JSON, and refused.
func valuesIn(o nbformat.Output) (v values, err error) {
	content, ok := o.Data[valuesMIME]
	if !ok {
		return values{}, nil
	}
	text, err := json.Marshal(content)
	if err == nil {
		err = json.Unmarshal(text, &v)
	}
	for _, name := range slices.Sorted(maps.Keys(v.Values)) {
		if _, ok := v.Values[name].(float64); !ok && err == nil {
			err = fmt.Errorf("%q is %v, not a finite number", name, v.Values[name])
		}
	}
	return v, err
}

// showsGallery says whether a cell's outputs are results of the checkout.
func showsGallery(outputs []nbformat.Output) bool {
	return slices.ContainsFunc(outputs, func(o nbformat.Output) bool {
		v, err := valuesIn(o)
		return err == nil && v.From == "gallery"
	})
}
