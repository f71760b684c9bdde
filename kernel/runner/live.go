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
	if c.r.o.Live == io.Discard || o.Type == "update_display_data" && time.Since(c.updated) < updatesEvery {
		return
	}
	var text string
	switch o.Type {
	case "stream":
		text = o.Text
	case "error":
		text = strings.TrimRight(strings.Join(o.Traceback, "\n"), "\n") + "\n"
	default:
		text = plain(o)
	}
	if o.DisplayID != "" {
		c.updated = time.Now()
	}
	if c.shown > streamLimit {
		return
	}
	if c.shown += len(text); c.shown > streamLimit {
		text = fmt.Sprintf("\n[this cell prints more than %d bytes; the rest is not shown here]\n", streamLimit)
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

// Shared is a writer that several goroutines write to: the text of one call of Write stays together.
type Shared struct {
	To io.Writer
	mu sync.Mutex
}

func (s *Shared) Write(data []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.To.Write(data)
}

// Prefixed is a writer for parallel notebooks with one destination, such as a Shared: it forwards whole lines, each
// with a prefix. Flush writes an unfinished last line.
type Prefixed struct {
	To     io.Writer
	Prefix string
	text   *stream
}

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
	var lines strings.Builder
	for line := range strings.Lines(p.text.lines.String()) {
		lines.WriteString(p.Prefix + line)
	}
	p.text.lines.Reset()
	_, err := io.WriteString(p.To, lines.String())
	return err
}
