package backtest

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"tvps/data/artifact"
	"tvps/replicate/usage"
)

// mostShown bounds the different lines that are shown.
const mostShown = 50

// console writes lines above the progress: progress, notes and what trainers say. It is safe for concurrent use.
type console struct {
	mu      sync.Mutex
	out     io.Writer
	display artifact.Display
	seen    map[string]bool // lines of trainers
}

func newConsole(out io.Writer) *console {
	if out == nil {
		out = io.Discard
	}
	return &console{out: out, display: artifact.NewDisplay(out), seen: map[string]bool{}}
}

func (c *console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.display.Clear()
	return c.out.Write(p)
}

// show shows a line of a trainer, such as a warning, each text once.
func (c *console) show(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if line = usage.Shown(strings.TrimSpace(line)); line == "" || c.seen[line] || len(c.seen) > mostShown {
		return
	}
	if c.seen[line] = true; len(c.seen) > mostShown {
		line = "(it writes more, which is not shown)"
	}
	c.display.Clear()
	fmt.Fprintf(c.out, "trainer: %s\n", line)
}

// Show shows progress.
func (c *console) Show(fraction float64, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.display.Show(fraction, text)
}

// Clear removes the progress.
func (c *console) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.display.Clear()
}
