package setup

import (
	"fmt"
	"io"
	"time"

	"tvps/data/artifact"

	"github.com/schollz/progressbar/v3"
)

// busyLine is the time between two lines about a long step in a log file.
const busyLine = 30 * time.Second

// busy shows what a step that prints nothing does and for how long, until the call of stop: as one updating line on a
// terminal, which stop removes, and otherwise as a line every busyLine. A short step adds nothing to a file.
func busy(log io.Writer, what string) (stop func()) {
	return busyOn(log, artifact.IsTerminal(log), what)
}

func busyOn(log io.Writer, terminal bool, what string) (stop func()) {
	if terminal {
		bar := progressbar.NewOptions(-1, progressbar.OptionSetWriter(log), progressbar.OptionSetDescription(what),
			progressbar.OptionSpinnerType(14), progressbar.OptionSetSpinnerChangeInterval(time.Second),
			progressbar.OptionSetRenderBlankState(true), progressbar.OptionClearOnFinish())
		return func() { _ = bar.Finish() } // fails only where the terminal does
	}
	begin, done, ended := time.Now(), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(busyLine)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				fmt.Fprintf(log, "still %s (%s)\n", what, time.Since(begin).Round(time.Second))
			case <-done:
				return
			}
		}
	}()
	return func() {
		close(done)
		<-ended // log is the caller's again
	}
}
