package setup

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestBusy: a long step is a line each 30 s in a file, without codes for terminals, and a line with its time on a
// terminal, which is removed at the end. The clock is synctest's.
func TestBusy(t *testing.T) {
	for _, c := range []struct {
		seconds int
		want    string
	}{
		{29, ""},
		{95, "still building gopls (30s)\nstill building gopls (1m0s)\nstill building gopls (1m30s)\n"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var log strings.Builder
			stop := busyOn(&log, false, "building gopls")
			time.Sleep(time.Duration(c.seconds) * time.Second)
			stop()
			if got := log.String(); got != c.want {
				t.Errorf("a step of %d s wrote %q", c.seconds, got)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		stop := busyOn(&log, true, "building gopls")
		time.Sleep(5*time.Second + time.Second/2)
		stop()
		lines := strings.Split(log.String(), "\r")
		shown := ""
		for _, line := range lines {
			if strings.Contains(line, "building gopls") {
				shown += line
			}
		}
		if !strings.Contains(shown, "3s") || !strings.Contains(shown, "5s") {
			t.Errorf("on a terminal: %q", lines)
		}
		if last := lines[len(lines)-1]; strings.TrimSpace(last) != "" || strings.Contains(log.String(), "\n") {
			t.Errorf("the line is left on the terminal: %q", lines)
		}
		time.Sleep(2 * time.Second) // the bar's own goroutine ends at its next tick
	})
}
