package notebook

import (
	"strings"
	"testing"
	"time"

	"tvps/data/artifact"
)

var _ artifact.Display = &Progress{}

// One output changes in place. Text in it is escaped, not shown as HTML.
func TestProgress(t *testing.T) {
	r := record(t)
	p := NewProgress()
	p.Write([]byte("first\nsecond <line>\n"))
	p.Show(.1, "too soon")
	p.drawn = time.Time{}
	p.Show(.25, "3/12 steps & more")
	p.End("Done <1>.")
	if len(r.messages) != 3 {
		t.Fatalf("%d messages, want 3: %v", len(r.messages), r.messages)
	}
	for _, m := range r.messages {
		if m.id != p.id || m.id == "" {
			t.Errorf("an output of its own: %+v", m)
		}
	}
	want := `<progress value="0.250" max="1"></progress> 3/12 steps &amp; more<br><small>second &lt;line&gt;</small>`
	if html := r.content(t, 1, HTMLMIME); html != want {
		t.Errorf("html %s", html)
	}
	if text := r.content(t, 1, PlainMIME); text != "3/12 steps & more\nsecond <line>" {
		t.Errorf("text %q", text)
	}
	if html := r.content(t, 2, HTMLMIME); html != "<small>Done &lt;1&gt;.</small>" {
		t.Errorf("the end is %s", html)
	}
}

// flush waits for GoNB, but not forever if GoNB does not answer.
func TestFlush(t *testing.T) {
	arrived := false
	flush(func() { time.Sleep(20 * time.Millisecond); arrived = true })
	if !arrived {
		t.Error("flush does not wait for GoNB")
	}
	flush(func() { select {} }) // returns
}

func TestPlainSink(t *testing.T) {
	var out strings.Builder
	plain{&out}.display(message{data: map[string]any{PlainMIME: "text"}})
	plain{&out}.display(message{id: "bar", data: map[string]any{PlainMIME: "50%"}})
	if out.String() != "text\n" {
		t.Errorf("%q", out.String())
	}
}
