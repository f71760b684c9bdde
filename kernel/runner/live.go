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

// updatesEvery is the shortest time between two live displays of an output that changes in place, such as a
// progress bar.
const updatesEvery = 10 * time.Second

// show prints an output when it arrives: streams and errors as they are, other outputs as plain text.
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
		text = fmt.Sprintf("\n[this cell prints more than %d bytes; the rest is not shown here]\n", c.r.o.Limit)
	}
	fmt.Fprint(c.r.o.Live, text)
}

// plain is an output's plain text. Without one it is a note with the MIME type and size of another form.
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

// Prefixed is a writer for parallel notebooks with one destination: it forwards whole lines, each with a prefix.
// All writers with the same destination must share the mutex. Flush writes an unfinished last line.
type Prefixed struct {
	To     io.Writer
	Prefix string
	Mutex  *sync.Mutex
	text   *stream
}

// Write forwards the complete lines and keeps an unfinished one.
func (p *Prefixed) Write(data []byte) (int, error) {
	if p.text == nil {
		p.text = &stream{budget: &budget{limit: math.MaxInt}}
	}
	p.text.write(string(data))
	return len(data), p.pass()
}

// Flush ends and forwards an unfinished line.
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
