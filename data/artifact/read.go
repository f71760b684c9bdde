package artifact

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ReadFile returns the content of a regular file. A longer one than limit bytes, and what is no regular file, such as a
// pipe, is an *fs.PathError.
func ReadFile(path string, limit int64) ([]byte, error) {
	refuse := func(err error) error { return &fs.PathError{Op: "read", Path: path, Err: err} }
	info, err := os.Stat(path) // before it is opened: opening a pipe waits for its writer
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = refuse(errors.New("it is not a regular file"))
	case info.Size() > limit:
		err = refuse(fmt.Errorf("it has more than %d bytes", limit))
	}
	if err != nil {
		return nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(content)) > limit {
		err = refuse(fmt.Errorf("it has more than %d bytes", limit))
	}
	if err != nil {
		return nil, err
	}
	return content, nil
}
