package artifact

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Progress reports the progress of a transfer of known size: a bar on a terminal, otherwise
// a line at the start, every ten seconds and at the end. It is an io.Writer that counts
// bytes. With a nil log it is silent.
type Progress struct {
	log         io.Writer
	what        string
	done, total int64
	bar         *progressbar.ProgressBar
	started     bool
	last        time.Time
}

// NewProgress returns the progress of a transfer of total bytes. It prints nothing before
// the first byte.
func NewProgress(log io.Writer, what string, total int64) *Progress {
	return &Progress{log: log, what: what, total: total}
}

// Set sets the number of bytes that are done, when a transfer resumes or starts again.
func (p *Progress) Set(done int64) {
	p.done = done
	if p.bar != nil {
		p.bar.Set64(done)
	}
}

// Add counts n more bytes.
func (p *Progress) Add(n int64) {
	if p.log == nil || n <= 0 {
		return
	}
	p.done += n
	if !p.started {
		p.start()
	}
	if p.bar != nil {
		p.bar.Set64(min(p.done, p.total))
		return
	}
	if now := time.Now(); now.Sub(p.last) >= 10*time.Second {
		p.last = now
		p.line()
	}
}

func (p *Progress) start() {
	p.started, p.last = true, time.Now()
	if !IsTerminal(p.log) {
		logf(p.log, "%s: %s", p.what, megabytes(p.total))
		return
	}
	p.bar = progressbar.NewOptions64(p.total,
		progressbar.OptionSetWriter(p.log),
		progressbar.OptionSetDescription(p.what),
		progressbar.OptionShowBytes(true),
		progressbar.OptionSetWidth(30),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish())
}

func (p *Progress) line() {
	logf(p.log, "%s: %s of %s (%d%%)", p.what, megabytes(p.done), megabytes(p.total), 100*p.done/max(p.total, 1))
}

// Write counts len(b) bytes.
func (p *Progress) Write(b []byte) (int, error) {
	p.Add(int64(len(b)))
	return len(b), nil
}

// Close prints the last line and removes the bar.
func (p *Progress) Close() {
	switch {
	case p.bar != nil:
		p.bar.Exit()
		fmt.Fprint(p.log, "\r\x1b[K")
		p.line()
	case p.started:
		p.line()
	}
}

// IsTerminal reports whether w is a terminal, on which a line can be overwritten.
func IsTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

func megabytes(n int64) string {
	if n < 1_000_000 {
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

func logf(log io.Writer, format string, args ...any) {
	if log != nil {
		fmt.Fprintf(log, format+"\n", args...)
	}
}
