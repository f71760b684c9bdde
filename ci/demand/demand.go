// Package demand holds what tests of all packages demand alike.
package demand

import (
	"strings"
	"testing"
)

// Error demands an error that is one line and holds all the words.
func Error(tb testing.TB, err error, words ...string) {
	tb.Helper()
	if err == nil {
		tb.Fatalf("no error, want one with %q", words)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			tb.Errorf("the error lacks %q: %v", w, err)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		tb.Errorf("the error has several lines: %q", err)
	}
}
