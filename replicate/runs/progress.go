package runs

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"tvps/data/artifact"

	"github.com/schollz/progressbar/v3"
)

// How often progress is shown: as plain lines, and on a terminal.
const (
	lineInterval   = 10 * time.Second
	redrawInterval = 100 * time.Millisecond
)

// barMax is the bar's value when everything is done.
const barMax = 1000

// progress reports progress: on a terminal or a Display with one line that updates, elsewhere with a plain line for
// each finished run and, between those, at most one every 10 seconds. Several workers may call its methods at once. A
// nil writer makes it silent.
type progress struct {
	mutex sync.Mutex
	out   io.Writer
	bar   Display // nil when out is neither a terminal nor a Display
	now   func() time.Time

	shown              time.Time
	steps, stepsDone   int
	rows               int
	weight, weightDone float64 // of steps, by the cost of their jobs

	first       time.Time // the end of the first step of this call, until which data are loaded and programs compiled
	firstWeight float64   // of that step
}

func newProgress(out io.Writer) *progress {
	if out == nil {
		out = io.Discard
	}
	p := &progress{out: out, now: time.Now}
	if display, ok := out.(Display); ok {
		p.bar = display
	} else if artifact.IsTerminal(out) {
		p.bar = newBar(out)
	}
	return p
}

// Display shows progress in one place that updates. A writer given as Options.Out that is a Display, such as a notebook
// cell's, is used as one.
type Display interface {
	Show(fraction float64, text string) // replaces what was shown before
	Clear()                             // before a line is written, and at the end
}

// terminalBar is a bar on a terminal's last line.
type terminalBar struct{ bar *progressbar.ProgressBar }

func newBar(out io.Writer) terminalBar {
	return terminalBar{progressbar.NewOptions(barMax, progressbar.OptionSetWriter(out), progressbar.OptionSetWidth(20),
		progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(false),
		progressbar.OptionShowDescriptionAtLineEnd(), progressbar.OptionSetRenderBlankState(false))}
}

func (t terminalBar) Show(fraction float64, text string) {
	t.bar.Set(min(int(barMax*fraction), barMax-1)) // a full bar would end itself
	t.bar.Describe(text)
}

func (t terminalBar) Clear() { t.bar.Clear() }

// NewDisplay shows progress on a terminal as a bar, elsewhere as a plain line at most every 10 seconds.
func NewDisplay(out io.Writer) Display {
	if artifact.IsTerminal(out) {
		return newBar(out)
	}
	return &plainLines{out: out, shown: time.Now()}
}

type plainLines struct {
	out   io.Writer
	shown time.Time
}

func (p *plainLines) Show(fraction float64, text string) {
	if now := time.Now(); now.Sub(p.shown) >= lineInterval {
		p.shown = now
		fmt.Fprintf(p.out, "%.0f%%: %s\n", 100*fraction, text)
	}
}

func (p *plainLines) Clear() {}

// begin reports how many runs are stored and what is to compute. Stored runs do not count as steps.
func (p *progress) begin(runs, open, steps int, weight float64) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.shown = p.now()
	p.steps, p.weight = steps, weight
	if open == 0 {
		p.line("%s, all stored", Plural(runs, "run"))
		return
	}
	p.line("%s: %d stored, %d to compute (%s)", Plural(runs, "run"), runs-open, open, Plural(steps, "step"))
	p.draw()
}

// note prints one line for people.
func (p *progress) note(text string, args ...any) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.line(text, args...)
}

// line prints above the bar, if there is one. The caller holds the mutex.
func (p *progress) line(text string, args ...any) {
	if p.bar != nil {
		p.bar.Clear()
	}
	fmt.Fprintf(p.out, text+"\n", args...)
}

// expect corrects the number of steps that the task has left.
func (p *progress) expect(task *task, left int) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.steps += left - task.left
	p.weight += float64(left-task.left) * task.cost()
	task.left = left
}

// step reports that a task's step t is done.
func (p *progress) step(task *task, t, rows int) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	task.left--
	p.stepsDone++
	p.rows += rows
	p.weightDone += task.cost()
	if p.stepsDone == 1 {
		p.first, p.firstWeight = p.now(), p.weightDone
	}
	interval := lineInterval
	if p.bar != nil {
		interval = redrawInterval
	}
	if p.now().Sub(p.shown) < interval {
		return
	}
	p.shown = p.now()
	if p.bar == nil {
		p.line("%s: step %d (%s)", task, t, p.text())
		return
	}
	p.draw()
}

// finished reports that a task is done.
func (p *progress) finished(task *task, took time.Duration, computed bool) {
	p.expect(task, 0) // another process may have done its steps
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.shown = p.now()
	if computed {
		p.line("%s: done in %s (%s)", task, round(took), p.text())
	} else {
		p.line("%s: done by another process (%s)", task, p.text())
	}
	p.draw()
}

// failed reports a task that stopped with an error.
func (p *progress) failed(task *task, err error) {
	p.expect(task, 0)
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.line("%s: FAILED: %v", task, err)
	p.draw()
}

// clear removes the bar.
func (p *progress) clear() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.bar != nil {
		p.bar.Clear()
	}
}

// end clears the bar and reports failures and interruption.
func (p *progress) end(report Report) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if len(report.Failed) > 0 {
		p.line("%s failed, all others are stored:", Plural(len(report.Failed), "run"))
		for _, failure := range report.Failed {
			p.line("  %s: %v", failure.Spec, failure.Err)
		}
	}
	if report.Interrupted {
		p.line("interrupted: %s not finished, their finished steps are stored", Plural(report.Unfinished, "run"))
	}
	if p.bar != nil {
		p.bar.Clear()
	}
}

// draw updates the bar. The caller holds the mutex.
func (p *progress) draw() {
	if p.bar == nil {
		return
	}
	p.bar.Show(p.fraction(), p.text())
}

// fraction is the share of the work done, by weight.
func (p *progress) fraction() float64 {
	if p.weight <= 0 {
		return 1
	}
	return p.weightDone / p.weight
}

// text is "12/108 steps, 11%, 480 rows, about 3m20s left".
func (p *progress) text() string {
	parts := []string{
		fmt.Sprintf("%d/%d steps", p.stepsDone, p.steps),
		fmt.Sprintf("%.0f%%", 100*p.fraction()),
		Plural(p.rows, "row"),
	}
	if left, ok := p.left(); ok {
		parts = append(parts, fmt.Sprintf("about %s left", round(left)))
	}
	return strings.Join(parts, ", ")
}

// left estimates the time left from the steps done in this call after its first, by weight. It is unknown before the
// second step and after the last.
func (p *progress) left() (time.Duration, bool) {
	open, done := p.weight-p.weightDone, p.weightDone-p.firstWeight
	if done <= 0 || p.stepsDone >= p.steps {
		return 0, false
	}
	return time.Duration(float64(p.now().Sub(p.first)) * open / done), true
}

// round shortens a duration for people.
func round(d time.Duration) time.Duration {
	if d < time.Second {
		return d.Round(10 * time.Millisecond)
	}
	return d.Round(time.Second)
}

// Plural is "1 run", "2 runs".
func Plural(n int, word string) string {
	if n == 1 {
		return fmt.Sprintf("%d %s", n, word)
	}
	return fmt.Sprintf("%d %ss", n, word)
}
