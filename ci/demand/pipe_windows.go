package demand

import "errors"

// Pipe returns errors.ErrUnsupported: no folder of Windows has pipes.
func Pipe(string) error { return errors.ErrUnsupported }
