package jupyter

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseWidget(t *testing.T) {
	for content, want := range map[string]Output{
		`{"comm_id": "m", "data": {"state": {"a": 1}, "buffer_paths": [["x", 0]]}}`: {
			Type: "widget", Model: "m", State: map[string]json.RawMessage{"a": json.RawMessage("1")},
			Buffers: []Buffer{{json.RawMessage(`["x", 0]`), []byte("bytes")}},
		},
		`{"comm_id": "m", "data": {"method": "custom"}}`: {},
		`{"comm_id": "m", "data": "text"}`:               {},
	} {
		m := message{header: header{Type: "comm_msg"}, content: json.RawMessage(content), buffers: [][]byte{[]byte("bytes")}}
		if got, err := parseOutput(m); err != nil || !cmp.Equal(got, want) {
			t.Errorf("%s: %+v, %v", content, got, err)
		}
	}
	content := json.RawMessage(`{"data": {"state": {}, "buffer_paths": [["x"]]}}`)
	m := message{header: header{Type: "comm_open"}, content: content}
	if _, err := parseOutput(m); err == nil {
		t.Error("accepted a path without its buffer")
	}
}
