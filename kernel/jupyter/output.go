package jupyter

import "encoding/json"

// Output is one output message of a cell. Its Type decides which fields are set.
type Output struct {
	// Type is stream, display_data, execute_result, error, clear_output or update_display_data.
	Type string

	Name, Text string // stream: stdout or stderr, and the printed text

	Data           map[string]json.RawMessage // values by MIME type: display_data, execute_result, update_display_data
	Metadata       map[string]json.RawMessage // the same three
	DisplayID      string                     // the same three; empty if none was given
	ExecutionCount int                        // execute_result

	Ename, Evalue string   // error
	Traceback     []string // error

	Wait bool // clear_output: clear only when the next output comes
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
