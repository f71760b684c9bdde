// Package mujocotest opens MuJoCo for the tests of other packages.
package mujocotest

import (
	"errors"
	"testing"

	"tvps/data/artifact"
	"tvps/data/env/mujoco"
)

// Open returns the library, the same for all tests of a process. It skips the test if there
// is no library for the platform, or if it is not in the cache and cannot be downloaded.
func Open(tb testing.TB) *mujoco.Library {
	tb.Helper()
	lib, err := mujoco.Open(tb.Context(), mujoco.Options{})
	SkipWithout(tb, err)
	if err != nil {
		tb.Fatal(err)
	}
	return lib
}

// SkipWithout skips the test if err says that MuJoCo or a model is not available here.
func SkipWithout(tb testing.TB, err error) {
	tb.Helper()
	if errors.Is(err, mujoco.ErrPlatform) || errors.Is(err, artifact.ErrNetwork) {
		tb.Skip(err)
	}
}
