//go:build !linux && !darwin

package backend

import "errors"

// freeBytes is not available on this system.
func freeBytes(string) (uint64, error) { return 0, errors.ErrUnsupported }
