// Package demand has what tests of all packages share: checks of errors, processes and the Markdown documents, files,
// contexts, waiting.
package demand

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// NoError ends the test if err is an error.
func NoError(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// Error fails the test unless err is an error of one line that contains all words.
func Error(tb testing.TB, err error, words ...string) {
	tb.Helper()
	if err == nil {
		tb.Fatalf("no error, want one with %q", words)
	}
	Words(tb, err.Error(), words...)
	if strings.Contains(err.Error(), "\n") {
		tb.Errorf("the error has several lines: %q", err)
	}
}

// Words fails the test unless a text contains all words.
func Words(tb testing.TB, text string, words ...string) {
	tb.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			tb.Errorf("%q is missing in %.2000s", w, text)
		}
	}
}

// Equal fails the test unless got is want. what says of what, as in fmt.Sprintf.
func Equal[T comparable](tb testing.TB, got, want T, what string, args ...any) {
	tb.Helper()
	if got != want {
		tb.Errorf("%s: %v, want %v", fmt.Sprintf(what, args...), got, want)
	}
}

// List fails the test unless got has the elements of want, in their order. what says of what, as in fmt.Sprintf.
func List[E comparable](tb testing.TB, got, want []E, what string, args ...any) {
	tb.Helper()
	if !slices.Equal(got, want) {
		tb.Errorf("%s: %v, want %v", fmt.Sprintf(what, args...), got, want)
	}
}

// Diff fails the test with the differences unless got has the exported contents of want. what says of what, as in
// fmt.Sprintf.
func Diff(tb testing.TB, got, want any, what string, args ...any) {
	tb.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		tb.Errorf("%s (-want +got):\n%s", fmt.Sprintf(what, args...), diff)
	}
}

// Near fails the test unless got is want to within 1e-4, the precision of printed tables of Student's t.
func Near(tb testing.TB, what string, got, want float64) {
	tb.Helper()
	if math.Abs(got-want) > 1e-4 || math.IsNaN(got) {
		tb.Errorf("%s = %v, want %v", what, got, want)
	}
}

// Floats ends the test unless all values are the wanted ones, within the tolerance times the size of the wanted value
// if that is above 1.
func Floats[A, B float32 | float64](tb testing.TB, what string, got []A, want []B, tolerance float64) {
	tb.Helper()
	if len(got) != len(want) {
		tb.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	for i, v := range got {
		w := float64(want[i])
		if d := math.Abs(float64(v) - w); !(d <= tolerance*max(1, math.Abs(w))) {
			tb.Fatalf("%s: value %d is %v, want %v", what, i, v, w)
		}
	}
}

// Cancelled is a context that has ended.
func Cancelled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// Prefix returns the --prefix of an installed kernel, TVPS_TEST_PREFIX. Without it the test is skipped.
func Prefix(tb testing.TB) string {
	tb.Helper()
	prefix := os.Getenv("TVPS_TEST_PREFIX")
	if prefix == "" {
		tb.Skip("TVPS_TEST_PREFIX is not set: no installed kernel is tested")
	}
	return prefix
}

// GoNB returns the path of the gonb of an installed kernel, and puts its folder, which also has goimports, on PATH.
func GoNB(tb testing.TB) string {
	tb.Helper()
	bin := filepath.Join(Prefix(tb), "share", "tvps", "kernel", "bin")
	tb.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	return filepath.Join(bin, "gonb")
}

// Write writes a file, and makes the folders above it.
func Write[T string | []byte](tb testing.TB, path string, content T) {
	tb.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
		tb.Fatal(err)
	}
}

// Read returns the content of a file.
func Read(tb testing.TB, path string) []byte {
	tb.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

// Files returns the content of all files below a folder, by their paths from there.
func Files(tb testing.TB, dir string) map[string]string {
	tb.Helper()
	root, all := os.DirFS(dir), map[string]string{}
	NoError(tb, fs.WalkDir(root, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(root, path)
		all[path] = string(text)
		return err
	}))
	return all
}

// Nightly tells whether the tests also train what tells little more, and run long simulations: .ci/run nightly does.
var Nightly = os.Getenv("TVPS_NIGHTLY") == "1"

// Slow skips a test of several seconds under -short, and runs it next to others.
func Slow(t *testing.T) {
	if testing.Short() {
		t.Skip("trains for several seconds")
	}
	t.Parallel()
}
