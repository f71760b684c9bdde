package notebook

import (
	"fmt"
	"html"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
)

// redraw is the shortest time between two changes of the bar.
const redraw = 200 * time.Millisecond

// Progress is an output that changes while a figure is computed: a bar, a text about the progress and the last log
// line. It implements artifact.Display. Outside GoNB the log lines go to standard error, and there is no bar.
type Progress struct {
	mutex    sync.Mutex
	out      sink
	id       string
	fraction float64
	text     string
	line     string // the last log line
	drawn    time.Time
}

// NewProgress returns a bar in the outputs of this cell.
func NewProgress() *Progress {
	return &Progress{out: output, id: "progress-" + gonbui.UniqueId()} // display ids are not saved in the notebook
}

// Show changes the bar.
func (p *Progress) Show(fraction float64, text string) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.fraction, p.text = fraction, text
	p.draw()
}

// Clear does nothing: it is for terminals.
func (p *Progress) Clear() {}

// Write receives log lines. The last one is shown below the bar; lines about failures also go to stderr.
func (p *Progress) Write(b []byte) (int, error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if _, ok := p.out.(plain); ok {
		return os.Stderr.Write(b)
	}
	lines := strings.Split(strings.TrimRight(string(b), "\n"), "\n")
	p.line = lines[len(lines)-1]
	if strings.Contains(p.line, "FAILED") || strings.Contains(p.line, "damaged") {
		fmt.Fprintln(os.Stderr, p.line) // stays when the bar changes
	}
	p.draw()
	return len(b), nil
}

// draw shows the state, unless it did so less than redraw ago. The caller holds the mutex.
func (p *Progress) draw() {
	if time.Since(p.drawn) < redraw {
		return
	}
	p.drawn = time.Now()
	p.out.display(message{p.id, map[string]any{
		HTMLMIME: fmt.Sprintf("<progress value=\"%.3f\" max=\"1\"></progress> %s<br><small>%s</small>",
			p.fraction, html.EscapeString(p.text), html.EscapeString(p.line)),
		PlainMIME: strings.TrimSpace(p.text + "\n" + p.line),
	}})
}

// End replaces the bar with a sentence. The sentence must not mention times or cached runs, so that running a notebook
// again gives the same file.
func (p *Progress) End(text string) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.out.display(small(p.id, text))
}
