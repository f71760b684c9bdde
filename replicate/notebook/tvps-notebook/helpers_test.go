package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/figures"
	"tvps/replicate/notebook"
)

// shown is an output, as a cell gets it.
type shown struct {
	ID   string
	Data map[string]any `json:"display"`
}

// record returns the outputs of a function of the program, and its error.
func record(t *testing.T, f func() error) (outputs recorded, err error) {
	t.Helper()
	var out bytes.Buffer
	open, end := io.Pipe() // a cell that has ended would end the program
	calls := map[string]notebook.Call{"test": func(context.Context, json.RawMessage) (any, error) {
		defer end.Close()
		return nil, f()
	}}
	notebook.Serve(t.Context(), io.MultiReader(strings.NewReader(`{"call": "test"}`), open), &out, calls)
	decoder := json.NewDecoder(&out)
	for {
		var line struct {
			shown
			Done  bool
			Error string
		}
		if err := decoder.Decode(&line); errors.Is(err, io.EOF) {
			t.Fatal("the call has no end")
		} else {
			demand.NoError(t, err)
		}
		if line.Error != "" {
			return outputs, errors.New(line.Error)
		}
		if line.Done {
			return outputs, nil
		}
		outputs = append(outputs, line.shown)
	}
}

type recorded []shown

// types lists the MIME types of each output.
func (r recorded) types() []string {
	var out []string
	for _, m := range r {
		out = append(out, fmt.Sprint(slices.Sorted(maps.Keys(m.Data))))
	}
	return out
}

// content returns output i in one type.
func (r recorded) content(t *testing.T, i int, mime string) string {
	t.Helper()
	if i >= len(r) {
		t.Fatalf("there are %d outputs", len(r))
	}
	text, ok := r[i].Data[mime].(string)
	if !ok {
		t.Fatalf("output %d has no %s: %v", i, mime, r.types())
	}
	if mime == notebook.PNGMIME {
		picture, err := base64.StdEncoding.DecodeString(text)
		demand.NoError(t, err)
		return string(picture)
	}
	return text
}

// values are the numbers of output i.
func (r recorded) values(i int) map[string]float64 {
	all := map[string]float64{}
	content, _ := r[i].Data[notebook.ValuesMIME].(map[string]any)
	numbers, _ := content["values"].(map[string]any)
	for name, v := range numbers {
		all[name] = v.(float64)
	}
	return all
}

// sample is a figure with two panels. In panel a, ours is 0.2 above Everything in seed 0 and 0.4 in seed 1.
func sample(t *testing.T) (figures.Figure, []figures.Row) {
	t.Helper()
	var rows []figures.Row
	for _, panel := range []string{"a", "b"} {
		for step := range 3 {
			for seed, gain := range []float64{.2, .4} {
				rows = append(rows,
					figures.Row{Panel: panel, Series: "everything", Seed: int64(seed), T: step, Metric: "accuracy", Value: .5},
					figures.Row{Panel: panel, Series: "ours", Seed: int64(seed), T: step, Metric: "accuracy", Value: .5 + gain})
			}
		}
	}
	fig := figures.Figure{Name: "fig99", Source: []string{"Scale <tiny>."}}
	for _, key := range []string{"a", "b"} {
		points, err := figures.Means(rows, key, "accuracy", "ours", "everything")
		demand.NoError(t, err)
		fig.Panels = append(fig.Panels, figures.Chart{Key: key, Title: "Panel <" + key + ">", XLabel: "t", YLabel: "gain",
			Series: []figures.Series{figures.NewSeries("ours", points)}, Reference: figures.NewReference("everything", 0)})
	}
	return fig, rows
}
