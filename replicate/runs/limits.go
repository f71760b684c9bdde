package runs

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"tvps/data/artifact"

	"golang.org/x/sys/unix"
)

// What is read back takes no more memory than these limits allow.
const (
	maxFile = 64 << 20 // bytes of a file that is read whole, and of a result file's text; those of the paper have 1 MB
	maxLine = 1 << 20  // bytes of a first line
)

// readFile reads a whole file.
func readFile(path string) ([]byte, error) { return artifact.ReadFile(path, maxFile) }

// openOwn opens a file of the store, whose mode is 0644 if it is made. It must be a regular file: a pipe would block,
// and a link must not lead what is written to a file that is not the store's.
func openOwn(path string, flag int) (*os.File, error) {
	if flag != os.O_RDONLY {
		flag |= unix.O_NOFOLLOW
	}
	file, err := os.OpenFile(path, flag|unix.O_NONBLOCK, 0o644)
	if err == nil {
		var info fs.FileInfo
		if info, err = file.Stat(); err == nil && info.Mode().IsRegular() {
			return file, nil
		}
		file.Close()
	}
	if err == nil || errors.Is(err, unix.ELOOP) || errors.Is(err, unix.EISDIR) {
		err = &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("%s is no regular file; remove it", filepath.Base(path))}
	}
	return nil, err
}

// firstLine reads the first line, which may lack its end.
func firstLine(r io.Reader) ([]byte, error) {
	line, err := bufio.NewReader(io.LimitReader(r, maxLine+1)).ReadBytes('\n')
	if len(line) > maxLine {
		return nil, fmt.Errorf("its first line has more than %d MB", maxLine>>20)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return line, err
}
