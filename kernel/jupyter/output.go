package jupyter

import (
	"encoding/json"
	"slices"
)

// Output is one output message of a cell. Its Type decides which fields are set.
type Output struct {
	// Type is stream, display_data, execute_result, error, clear_output or update_display_data.
	Type string `json:"-"`

	Name string `json:"name"` // stream: stdout or stderr
	Text string `json:"text"` // stream: what was printed

	// Of display_data, execute_result and update_display_data: values by MIME type, and an id that may be empty.
	Data      map[string]json.RawMessage `json:"data"`
	Metadata  map[string]json.RawMessage `json:"metadata"`
	DisplayID string                     `json:"-"`

	Ename     string   `json:"ename"` // error
	Evalue    string   `json:"evalue"`
	Traceback []string `json:"traceback"`

	Wait bool `json:"wait"` // clear_output: clear only when the next output comes
}

var outputTypes = []string{"stream", "display_data", "execute_result", "error", "clear_output", "update_display_data"}

// parseOutput reads an iopub message. For a message that is not an output, such as execute_input, or is malformed, the
// result has no Type.
func parseOutput(m message) Output {
	var c struct {
		Output
		Transient struct {
			DisplayID string `json:"display_id"`
		} `json:"transient"`
	}
	if !slices.Contains(outputTypes, m.header.Type) || json.Unmarshal(m.content, &c) != nil {
		return Output{}
	}
	c.Type, c.DisplayID = m.header.Type, c.Transient.DisplayID
	return c.Output
}
