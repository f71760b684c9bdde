package artifact

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Display shows progress in one place that updates.
type Display interface {
	Show(fraction float64, text string) // replaces what was shown before
	Clear()                             // before a line is written, and at the end
}

// NewDisplay shows progress on a terminal as a bar, elsewhere as a line at most every 10 seconds. A writer that is a
// Display, such as a notebook cell's, is used as one. nil shows nothing.
func NewDisplay(out io.Writer) Display {
	if display, ok := out.(Display); ok {
		return display
	}
	if IsTerminal(out) {
		return terminalBar{progressbar.NewOptions(barMax, progressbar.OptionSetWriter(out), progressbar.OptionSetWidth(20),
			progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(false),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionShowDescriptionAtLineEnd(),
			progressbar.OptionSetRenderBlankState(false))}
	}
	return &plainLines{out: out, shown: time.Now()}
}

// barMax is the bar's value when everything is done.
const barMax = 1000

// terminalBar is a bar on a terminal's last line.
type terminalBar struct{ bar *progressbar.ProgressBar }

func (t terminalBar) Show(fraction float64, text string) {
	t.bar.Set(min(int(barMax*fraction), barMax-1)) // a full bar would end itself
	t.bar.Describe(text)
}

func (t terminalBar) Clear() { t.bar.Clear() }

type plainLines struct {
	out   io.Writer
	shown time.Time
}

func (p *plainLines) Show(fraction float64, text string) {
	if now := time.Now(); now.Sub(p.shown) >= 10*time.Second {
		p.shown = now
		logf(p.out, "%.0f%%: %s", 100*fraction, text)
	}
}

func (p *plainLines) Clear() {}

// transferred shows how much of a transfer of known size is done. It is an io.Writer that counts bytes.
type transferred struct {
	display     Display
	log         io.Writer
	what        string
	done, total int64
}

func newTransferred(log io.Writer, what string, total int64) *transferred {
	return &transferred{display: NewDisplay(log), log: log, what: what, total: total}
}

func (t *transferred) Write(b []byte) (int, error) {
	t.done += int64(len(b))
	t.display.Show(float64(t.done)/float64(max(t.total, 1)), t.String())
	return len(b), nil
}

// close removes the bar and writes the last line.
func (t *transferred) close() {
	t.display.Clear()
	if t.done > 0 {
		logf(t.log, "%s", t)
	}
}

// String is as "the XLA plugin: 12.5 of 170.1 MB".
func (t *transferred) String() string {
	return fmt.Sprintf("%s: %.1f of %.1f MB", t.what, float64(t.done)/1e6, float64(t.total)/1e6)
}

// IsTerminal reports whether w is a terminal, on which a line can be overwritten.
func IsTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

func logf(log io.Writer, format string, args ...any) {
	if log != nil {
		fmt.Fprintf(log, format+"\n", args...)
	}
}
