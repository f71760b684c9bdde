package runner

import (
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
}

// update adds what is new in the state of a widget.
func (w widgets) update(o jupyter.Output) {
	model := w[o.Model]
	if model == nil {
		model = &widget{state: map[string]json.RawMessage{}, buffers: map[string]jupyter.Buffer{}}
		w[o.Model] = model
	}
	maps.Copy(model.state, o.State)
	for _, b := range o.Buffers {
		model.buffers[string(b.Path)] = b
	}
}

// widgetState is the MIME type of the saved state of all widgets.
const widgetState = "application/vnd.jupyter.widget-state+json"

// record writes the state into a notebook's metadata, as Jupyter does. Without widgets it changes nothing.
func (w widgets) record(nb *nbformat.Notebook) {
	models := map[string]any{}
	for id, model := range w {
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
