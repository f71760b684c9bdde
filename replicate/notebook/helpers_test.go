package notebook

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
)

// recorder is a sink that keeps all messages.
type recorder struct {
	mutex    sync.Mutex
	messages []message
}

func (r *recorder) display(m message) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.messages = append(r.messages, m)
}

// record replaces the front end with a recorder for one test.
func record(t *testing.T) *recorder {
	t.Helper()
	r, before := &recorder{}, output
	output = r
	t.Cleanup(func() { output = before })
	return r
}

// types lists the MIME types of each message.
func (r *recorder) types() []string {
	var out []string
	for _, m := range r.messages {
		out = append(out, fmt.Sprint(slices.Sorted(maps.Keys(m.data))))
	}
	return out
}

// content returns message i in one type, as text.
func (r *recorder) content(t *testing.T, i int, mime string) string {
	t.Helper()
	if i >= len(r.messages) {
		t.Fatalf("there are %d messages", len(r.messages))
	}
	text, ok := r.messages[i].data[mime].(string)
	if !ok {
		t.Fatalf("message %d has no %s: %v", i, mime, r.types())
	}
	return text
}
