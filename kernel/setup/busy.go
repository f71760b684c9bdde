package setup

import (
	"fmt"
	"io"
	"time"
)

// busy writes a line every 30 seconds about a long step that prints nothing, until the call of stop.
func busy(log io.Writer, what string) (stop func()) {
	begin, done, ended := time.Now(), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(30 * time.Second)
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
