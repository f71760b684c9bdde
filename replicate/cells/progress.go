package cells

import (
	"fmt"
	"html"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
)

// redraw is how often the bar changes at most.
const redraw = 200 * time.Millisecond

// progress is an output that changes as a figure is computed: a bar, how far it is, and
// the last line for people. It is a [runs.Display]. Outside of GoNB its lines go to
// standard error and the bar is not drawn.
type progress struct {
	mutex    sync.Mutex
	out      sink
	id       string
	fraction float64
	text     string
	line     string // the last one written
	drawn    time.Time
}

func newProgress(out sink) *progress {
	return &progress{out: out, id: "progress-" + gonbui.UniqueId()} // transient: no part of the notebook
}

// Show changes the bar.
func (p *progress) Show(fraction float64, text string) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.fraction, p.text = fraction, text
	p.draw()
}

// Clear is for terminals.
func (p *progress) Clear() {}

// Write takes lines for people; the last one is shown below the bar.
func (p *progress) Write(b []byte) (int, error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if _, ok := p.out.(plain); ok {
		return os.Stderr.Write(b)
	}
	lines := strings.Split(strings.TrimRight(string(b), "\n"), "\n")
	p.line = lines[len(lines)-1]
	if strings.Contains(p.line, "FAILED") || strings.Contains(p.line, "damaged") {
		fmt.Fprintln(os.Stderr, p.line) // to stay
	}
	p.draw()
	return len(b), nil
}

// draw shows the state, if the last time is long enough ago. The caller holds the mutex.
func (p *progress) draw() {
	if time.Since(p.drawn) < redraw {
		return
	}
	p.drawn = time.Now()
	p.out.display(message{p.id, map[string]any{
		htmlMIME:  fmt.Sprintf("<progress value=\"%.3f\" max=\"1\"></progress> %s<br><small>%s</small>", p.fraction, html.EscapeString(p.text), html.EscapeString(p.line)),
		plainMIME: strings.TrimSpace(p.text + "\n" + p.line),
	}})
}

// end replaces the bar by a sentence that says nothing of times or of what was cached, so
// that a notebook that runs again stays the same.
func (p *progress) end(text string) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.out.display(message{p.id, map[string]any{htmlMIME: "<small>" + html.EscapeString(text) + "</small>", plainMIME: text}})
}
