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

	all, done amount
	alone     bool // there is one run: the error of Execute's caller says how it failed

	first       time.Time // the end of the first step of this call, until which data are loaded and programs compiled
	firstWeight float64   // of that step
}

// amount is how much work some steps are.
type amount struct {
	steps  int
	weight float64 // by the cost of their jobs
}

func (a *amount) add(b amount) {
	*a = amount{a.steps + b.steps, a.weight + b.weight}
}

func newProgress(out io.Writer) *progress {
	if out == nil {
		out = io.Discard
	}
	return &progress{out: out, display: artifact.NewDisplay(out)}
}

// begin reports how many runs are stored and what is to compute. Stored runs do not count as steps.
func (p *progress) begin(runs, open int, all amount) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.all, p.alone = all, runs == 1
	if open == 0 {
		p.line("%s, all stored", Plural(runs, "run"))
		return
	}
	p.line("%s: %d stored, %d to compute (%s)", Plural(runs, "run"), runs-open, open, Plural(all.steps, "step"))
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
	now, before := task.amount(left...), task.amount(task.left...)
	p.all.add(amount{now.steps - before.steps, now.weight - before.weight})
	task.left = left
}

// step reports that step t of a task is done.
func (p *progress) step(task *task, t int) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	task.left = slices.DeleteFunc(slices.Clone(task.left), func(other int) bool { return other == t })
	p.done.add(task.amount(t))
	if p.done.steps == 1 {
		p.first, p.firstWeight = time.Now(), p.done.weight
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
	if p.alone {
		return
	}
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
	if len(report.Failed) > 0 && !p.alone {
		p.line("%s failed, all others are stored:", Plural(len(report.Failed), "run"))
		for _, failure := range report.Failed {
			p.line("  %s: %v", failure.Spec, failure.Err)
		}
	}
	if report.Unfinished > 0 {
		p.line("interrupted: %s not finished, their finished steps are stored", Plural(report.Unfinished, "run"))
	}
	p.display.Clear()
}

// draw updates the display: the share of the steps, which its text counts. The caller holds the mutex.
func (p *progress) draw() {
	p.display.Show(float64(p.done.steps)/float64(max(p.all.steps, 1)), p.text())
}

// text is "12/108 steps, about 3m20s left".
func (p *progress) text() string {
	text := fmt.Sprintf("%d/%d steps", p.done.steps, p.all.steps)
	if left, ok := p.left(); ok {
		text += fmt.Sprintf(", about %s left", round(left))
	}
	return text
}

// left estimates the time left from the steps done in this call after its first, by weight, as first steps also
// compile. It is unknown until these are more than a tenth of all or took a minute, and after the last.
func (p *progress) left() (time.Duration, bool) {
	open, done, took := p.all.weight-p.done.weight, p.done.weight-p.firstWeight, time.Since(p.first)
	early := done <= p.all.weight/10 && took < time.Minute
	if early || done == 0 || p.done.steps >= p.all.steps {
		return 0, false
	}
	return time.Duration(float64(took) * open / done), true
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
