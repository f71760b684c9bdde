package supervised

import "testing"

// TestEngines: each parallel run of vector models has an engine and leaves it to the next run. Image runs share one,
// and so do all runs on the Go backend, which runs programs in parallel.
func TestEngines(t *testing.T) {
	h := newHost(t, "")
	take := func(s Settings) (*Engine, func()) {
		t.Helper()
		taken, release, err := enginesOf(h).take(s)
		if err != nil {
			t.Fatal(err)
		}
		return taken, release
	}
	a, releaseA := take(gaussianSettings())
	b, _ := take(gaussianSettings())
	if a == b || a.Backend == b.Backend {
		t.Error("two parallel runs share a client")
	}
	if a.Backend != h.Backend.Backend {
		t.Error("the first run does not use the backend that was given")
	}
	releaseA()
	if c, _ := take(gaussianSettings()); c != a {
		t.Error("an engine that was given back is not used again")
	}
	for range 2 {
		if head, _ := take(imageSettings()); head != a {
			t.Error("an image run has an engine of its own")
		}
	}
	h = newHost(t, "go")
	a, _ = take(gaussianSettings())
	if b, _ := take(gaussianSettings()); a != b {
		t.Error("the Go backend was opened twice")
	}
}
