package runs

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"tvps/data/artifact"
)

// progress reports progress: what a Display shows, and a line for each finished run. Several workers may call its
// methods at once. A nil writer makes it silent.
type progress struct {
	mutex   sync.Mutex
	out     io.Writer
	display artifact.Display

	steps, stepsDone   int
	rows               int     // that steps reported
	table, tableDone   int     // rows of tables that steps learn from
	weight, weightDone float64 // of steps, by the cost of their jobs

	first       time.Time // the end of the first step of this call, until which data are loaded and programs compiled
	firstWeight float64   // of that step
}

func newProgress(out io.Writer) *progress {
	if out == nil {
		out = io.Discard
	}
	return &progress{out: out, display: artifact.NewDisplay(out)}
}

// begin reports how many runs are stored and what is to compute. Stored runs do not count as steps.
func (p *progress) begin(runs, open, steps int, weight float64) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
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

// line prints above the display. The caller holds the mutex.
func (p *progress) line(text string, args ...any) {
	p.display.Clear()
	fmt.Fprintf(p.out, text+"\n", args...)
}

// expect corrects the steps that the task has left.
func (p *progress) expect(task *task, left []int) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.steps += len(left) - len(task.left)
	p.weight += task.cost(left...) - task.work()
	p.table += task.rows(left...) - task.rows(task.left...)
	task.left = left
}

// step reports that step t of a task is done.
func (p *progress) step(task *task, t, rows int) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	task.left = slices.DeleteFunc(slices.Clone(task.left), func(other int) bool { return other == t })
	p.stepsDone++
	p.rows += rows
	p.weightDone += task.cost(t)
	p.tableDone += task.rows(t)
	if p.stepsDone == 1 {
		p.first, p.firstWeight = time.Now(), p.weightDone
	}
	p.draw()
}

// finished reports that a task is done.
func (p *progress) finished(task *task, took time.Duration, computed bool) {
	p.expect(task, nil) // another process may have done its steps
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if computed {
		p.line("%s: done in %s (%s)", task, round(took), p.text())
	} else {
		p.line("%s: done by another process (%s)", task, p.text())
	}
	p.draw()
}

// failed reports a task that stopped with an error.
func (p *progress) failed(task *task, err error) {
	p.expect(task, nil)
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.line("%s: FAILED: %v", task, err)
	p.draw()
}

// clear clears the display.
func (p *progress) clear() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.display.Clear()
}

// end clears the display and reports failures and interruption.
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
	p.display.Clear()
}

// draw updates the display. The caller holds the mutex.
func (p *progress) draw() {
	fraction := 1.0
	if p.weight > 0 {
		fraction = p.weightDone / p.weight
	}
	p.display.Show(fraction, p.text())
}

// text is "12/108 steps, 480 rows, about 3m20s left", or "12/108 steps, 4000 of 90000 rows, ..." of a table.
func (p *progress) text() string {
	text := fmt.Sprintf("%d/%d steps, %s", p.stepsDone, p.steps, Plural(p.rows, "row"))
	if p.table > 0 {
		text = fmt.Sprintf("%d/%d steps, %d of %d rows", p.stepsDone, p.steps, p.tableDone, p.table)
	}
	if left, ok := p.left(); ok {
		text += fmt.Sprintf(", about %s left", round(left))
	}
	return text
}

// left estimates the time left from the steps done in this call after its first, by weight. It is unknown before the
// second step and after the last.
func (p *progress) left() (time.Duration, bool) {
	open, done := p.weight-p.weightDone, p.weightDone-p.firstWeight
	if done <= 0 || p.stepsDone >= p.steps {
		return 0, false
	}
	return time.Duration(float64(time.Since(p.first)) * open / done), true
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
	stem, y := strings.CutSuffix(word, "y")
	switch {
	case n == 1:
		return "1 " + word
	case y && !strings.HasSuffix(stem, "a"): // category, not day
		word = stem + "ie"
	case strings.HasSuffix(word, "ch"):
		word += "e"
	}
	return fmt.Sprintf("%d %ss", n, word)
}
