// Package demand has checks for the tests of all packages: of errors, processes and the Markdown documents.
package demand

import (
	"strings"
	"testing"
)

// Error fails the test unless err is an error of one line that contains all words.
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
