package runner

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"time"

	"tvps/kernel/jupyter"
)

// updatesEvery is how often an output that changes in place, such as a progress bar, is
// shown live at most.
const updatesEvery = 10 * time.Second

// show prints an output as it comes: texts as they are, of the rest what is plain text.
func (c *collector) show(o jupyter.Output) {
	if c.r.o.Live == io.Discard {
		return
	}
	var text string
	switch o.Type {
	case "stream":
		text = o.Text
	case "error":
		text = strings.TrimRight(strings.Join(o.Traceback, "\n"), "\n") + "\n"
	case "update_display_data":
		if time.Since(c.updated) < updatesEvery {
			return
		}
		text = plain(o)
	default:
		text = plain(o)
	}
	if o.DisplayID != "" {
		c.updated = time.Now()
	}
	if c.shown > c.r.o.Limit {
		return
	}
	if c.shown += len(text); c.shown > c.r.o.Limit {
		text = fmt.Sprintf("\n[this cell prints more than %d bytes: the rest is not shown here]\n", c.r.o.Limit)
	}
	io.WriteString(c.r.o.Live, text)
}

// plain is an output's plain text, or which types it has.
func plain(o jupyter.Output) string {
	var text string
	if json.Unmarshal(o.Data["text/plain"], &text) == nil && strings.TrimSpace(text) != "" {
		return strings.TrimRight(text, "\n") + "\n"
	}
	for _, mime := range []string{"text/html", "text/markdown", "image/png", "image/svg+xml"} {
		if raw, ok := o.Data[mime]; ok {
			return fmt.Sprintf("[%s, %d bytes]\n", mime, len(raw))
		}
	}
	return ""
}

// Prefixed lets several notebooks write to the same place: it passes on whole lines, each
// with a prefix. All writers must share the mutex. Flush writes the last line.
type Prefixed struct {
	To     io.Writer
	Prefix string
	Mutex  *sync.Mutex
	text   *stream
}

// Write keeps what is no whole line yet.
func (p *Prefixed) Write(data []byte) (int, error) {
	if p.text == nil {
		p.text = &stream{budget: &budget{limit: math.MaxInt}}
	}
	p.text.write(string(data))
	return len(data), p.pass()
}

// Flush writes the line that has no end yet.
func (p *Prefixed) Flush() error {
	if p.text == nil || len(p.text.line) == 0 {
		return nil
	}
	p.text.write("\n")
	return p.pass()
}

func (p *Prefixed) pass() error {
	lines := p.text.lines.String()
	p.text.lines.Reset()
	p.Mutex.Lock()
	defer p.Mutex.Unlock()
	for line := range strings.Lines(lines) {
		if _, err := io.WriteString(p.To, p.Prefix+line); err != nil {
			return err
		}
	}
	return nil
}
