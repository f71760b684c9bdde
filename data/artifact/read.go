package artifact

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ReadFile returns the content of a regular file. A longer one than limit bytes, and what is no regular file, such as a
// pipe, is an *fs.PathError.
func ReadFile(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path) // before it is opened: opening a pipe waits for its writer
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("it is not a regular file")}
	}
	if info.Size() > limit {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("it has more than %d bytes", limit)}
	}
	return os.ReadFile(path)
}
