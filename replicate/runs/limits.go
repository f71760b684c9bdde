package runs

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"tvps/data/artifact"
)

// What is read back takes no more memory than these limits allow.
const (
	maxFile = 64 << 20 // bytes of a file that is read whole, and of a result file's text; those of the paper have 1 MB
	maxLine = 1 << 20  // bytes of a first line
)

// readFile reads a whole file.
func readFile(path string) ([]byte, error) { return artifact.ReadFile(path, maxFile) }

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
