// Package usage marks errors that are mistakes in what the user asked for: an unknown name, an impossible value.
// The command line answers them with exit code 2, every other error with 1.
package usage

import (
	"errors"
	"fmt"
)

// Err is what errors.Is finds in an error that Error or Errorf made.
var Err = errors.New("usage")

// Error marks err as a mistake of the user's. The text stays the same; nil stays nil.
func Error(err error) error {
	if err == nil {
		return nil
	}
	return mistake{err}
}

// Errorf is Error of fmt.Errorf.
func Errorf(format string, args ...any) error { return Error(fmt.Errorf(format, args...)) }

type mistake struct{ error }

func (mistake) Is(target error) bool { return target == Err }
func (m mistake) Unwrap() error      { return m.error }
