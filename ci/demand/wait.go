package demand

import (
	"bytes"
	"sync"
	"testing"
	"time"
)

// Soon waits until a condition is true. It fails the test after 30 s.
func Soon(tb testing.TB, what string, condition func() bool) {
	tb.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if condition() {
			return
		}
	}
	tb.Fatalf("waited 30 s for: %s", what)
}

// Buffer is a log that several goroutines may write to and read.
type Buffer struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

// Write appends to the log.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.text.Write(p)
}

// String is the log so far.
func (b *Buffer) String() string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.text.String()
}
