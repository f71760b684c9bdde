package jupyter

import (
	"encoding/json"
	"fmt"
)

// Output is one output message of a cell. Its Type decides which fields are set.
type Output struct {
	// Type is stream, display_data, execute_result, error, clear_output, update_display_data or widget.
	Type string

	Name, Text string // stream: stdout or stderr, and the printed text

	Data           map[string]json.RawMessage // values by MIME type: display_data, execute_result, update_display_data
	Metadata       map[string]json.RawMessage // the same three
	DisplayID      string                     // the same three; empty if none was given
	ExecutionCount int                        // execute_result

	Ename, Evalue string   // error
	Traceback     []string // error

	Wait bool // clear_output: clear only when the next output comes

	Model   string                     // widget: the id of its model
	State   map[string]json.RawMessage // widget: the values that are new
	Buffers []Buffer                   // widget: binary values that are new
}

// Buffer is a binary value in the state of a widget.
type Buffer struct {
	Path json.RawMessage // where it belongs: a list of keys and indices
	Data []byte
}

// outputTypes lists the message types that are outputs.
var outputTypes = map[string]bool{
	"stream": true, "display_data": true, "execute_result": true,
	"error": true, "clear_output": true, "update_display_data": true,
}

// parseOutput reads an iopub message. For a message that is not an output, such as execute_input, the result has no
// Type.
func parseOutput(m message) (Output, error) {
	msgType := m.header.Type
	if msgType == "comm_open" || msgType == "comm_msg" {
		return parseWidget(m)
	}
	if !outputTypes[msgType] {
		return Output{}, nil
	}
	var c struct {
		Name           string                     `json:"name"`
		Text           string                     `json:"text"`
		Data           map[string]json.RawMessage `json:"data"`
		Metadata       map[string]json.RawMessage `json:"metadata"`
		ExecutionCount int                        `json:"execution_count"`
		Ename          string                     `json:"ename"`
		Evalue         string                     `json:"evalue"`
		Traceback      []string                   `json:"traceback"`
		Wait           bool                       `json:"wait"`
		Transient      struct {
			DisplayID string `json:"display_id"`
		} `json:"transient"`
	}
	if err := json.Unmarshal(m.content, &c); err != nil {
		return Output{}, err
	}
	return Output{
		Type: msgType, Name: c.Name, Text: c.Text,
		Data: c.Data, Metadata: c.Metadata, DisplayID: c.Transient.DisplayID, ExecutionCount: c.ExecutionCount,
		Ename: c.Ename, Evalue: c.Evalue, Traceback: c.Traceback, Wait: c.Wait,
	}, nil
}

// parseWidget reads a message about the state of an ipywidget. Other messages between a kernel and a page have no
// state, and no Type.
func parseWidget(m message) (Output, error) {
	var c struct {
		ID   string `json:"comm_id"`
		Data struct {
			State map[string]json.RawMessage `json:"state"`
			Paths []json.RawMessage          `json:"buffer_paths"`
		} `json:"data"`
	}
	if json.Unmarshal(m.content, &c) != nil || c.Data.State == nil {
		return Output{}, nil
	}
	if len(c.Data.Paths) > len(m.buffers) {
		return Output{}, fmt.Errorf("%d buffers for %d paths", len(m.buffers), len(c.Data.Paths))
	}
	out := Output{Type: "widget", Model: c.ID, State: c.Data.State}
	for i, path := range c.Data.Paths {
		out.Buffers = append(out.Buffers, Buffer{path, m.buffers[i]})
	}
	return out, nil
}
