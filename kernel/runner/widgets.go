package runner

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"

	"tvps/kernel/jupyter"
	"tvps/kernel/nbformat"
)

// widgets holds the state of the ipywidgets of a run by the id of their model. A page shows them from this state when
// no kernel runs.
type widgets map[string]*widget

type widget struct {
	state   map[string]json.RawMessage
	buffers map[string]jupyter.Buffer // by path
	saved   any                       // the whole state, as an earlier run saved it; nil if this run made the widget
}

// update adds what is new in the state of a widget.
func (w widgets) update(o jupyter.Output) {
	model := w[o.Model]
	if model == nil || model.saved != nil {
		model = &widget{state: map[string]json.RawMessage{}, buffers: map[string]jupyter.Buffer{}}
		w[o.Model] = model
	}
	maps.Copy(model.state, o.State)
	for _, b := range o.Buffers {
		model.buffers[string(b.Path)] = b
	}
}

const (
	widgetState = "application/vnd.jupyter.widget-state+json" // MIME type of the saved state of all widgets
	widgetView  = "application/vnd.jupyter.widget-view+json"  // of an output that shows a widget
)

// reuse takes over the widgets that the outputs of reused cells show, and those that these widgets consist of, from
// the notebook of the earlier run.
func (w widgets) reuse(earlier *nbformat.Notebook, cells []*step) {
	all, _ := earlier.Metadata["widgets"].(map[string]any)
	saved, _ := all[widgetState].(map[string]any)
	models, _ := saved["state"].(map[string]any)
	var shown []any
	for _, c := range cells {
		for _, o := range c.Outputs {
			shown = append(shown, o.Data[widgetView])
		}
	}
	for len(shown) > 0 {
		text, _ := json.Marshal(shown) // ids are random, so a text that contains one refers to it
		shown = nil
		for id, model := range models {
			if w[id] == nil && bytes.Contains(text, []byte(id)) {
				w[id] = &widget{saved: model}
				shown = append(shown, model)
			}
		}
	}
}

// record writes the state into a notebook's metadata, as Jupyter does. Without widgets it changes nothing.
func (w widgets) record(nb *nbformat.Notebook) {
	models := map[string]any{}
	for id, model := range w {
		if model.saved != nil {
			models[id] = model.saved
			continue
		}
		state := bundle(model.state)
		if state["_model_name"] == nil {
			continue // the state of something else
		}
		saved := map[string]any{
			"model_name": state["_model_name"], "model_module": state["_model_module"],
			"model_module_version": state["_model_module_version"], "state": state,
		}
		var buffers []any
		for _, path := range slices.Sorted(maps.Keys(model.buffers)) {
			b := model.buffers[path]
			buffers = append(buffers, map[string]any{
				"path": b.Path, "encoding": "base64", "data": base64.StdEncoding.EncodeToString(b.Data),
			})
		}
		if buffers != nil {
			saved["buffers"] = buffers
		}
		models[id] = saved
	}
	if len(models) > 0 {
		nb.Metadata["widgets"] = map[string]any{
			widgetState: map[string]any{"version_major": 2, "version_minor": 0, "state": models},
		}
	}
}
