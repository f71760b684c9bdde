package check

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"tvps/kernel/nbformat"
)

// valuesMIME is the MIME type of a notebook's numbers: the constant ValuesMIME of tvps/replicate/cells. It is repeated
// here because importing that package would import the figures and their backends.
const valuesMIME = "application/vnd.tvps.values+json"

// number is one number that a notebook emitted.
type number struct {
	Cell  int // the code cell, counted from 1
	Name  string
	Value float64
}

// collect returns the numbers in a notebook's outputs: in the order of the cells, and by name within an output.
func collect(nb *nbformat.Notebook) ([]number, error) {
	var all []number
	for i, c := range codeCells(nb) {
		for _, o := range c.Outputs {
			content, ok := o.Data[valuesMIME]
			if !ok {
				continue
			}
			found, err := decode(i+1, content)
			if err != nil {
				return nil, fmt.Errorf("code cell %d emits numbers that cannot be read: %w", i+1, err)
			}
			all = append(all, found...)
		}
	}
	return all, nil
}

// decode decodes one output: numbers by name, and series of points by name.
func decode(cell int, content any) ([]number, error) {
	text, err := json.Marshal(content)
	if err != nil {
		return nil, err
	}
	var v struct {
		Values map[string]float64 `json:"values"`
		Series map[string]string  `json:"series"`
	}
	if err := json.Unmarshal(text, &v); err != nil {
		return nil, err
	}
	var all []number
	for _, name := range sorted(v.Values) {
		all = append(all, number{cell, name, v.Values[name]})
	}
	for _, name := range sorted(v.Series) {
		points, err := decodeSeries(cell, name, v.Series[name])
		if err != nil {
			return nil, err
		}
		all = append(all, points...)
	}
	return all, nil
}

// decodeSeries decodes a series of points, each "x,mean" or "x,mean,low,high", separated by semicolons. The mean gets
// the name NAME/x, the ends of the interval NAME/x/low and NAME/x/high.
func decodeSeries(cell int, name, text string) ([]number, error) {
	var all []number
	for point := range strings.SplitSeq(text, ";") {
		if text == "" {
			break
		}
		parts := strings.Split(point, ",")
		if len(parts) != 2 && len(parts) != 4 {
			return nil, fmt.Errorf("the point %q of %s is neither x,mean nor x,mean,low,high", point, name)
		}
		for i, part := range parts[1:] {
			value, err := strconv.ParseFloat(part, 64)
			if err != nil {
				return nil, fmt.Errorf("the point %q of %s contains %q, which is not a number", point, name, part)
			}
			all = append(all, number{cell, name + "/" + parts[0] + []string{"", "/low", "/high"}[i], value})
		}
	}
	return all, nil
}
