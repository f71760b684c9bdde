package runs

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
)

// What is read back may be hostile: memory is bounded by the size of the file, and both by these limits.
const (
	maxFile  = 256 << 20 // bytes of a file that is read whole, and of a result file's text; those of the paper have 1 MB
	maxLine  = 1 << 20   // bytes of a first line
	maxRatio = 64        // of the bytes of a result file's text to those of the file, above maxLine
	maxFirst = 8 << 20   // bytes that are taken for a text before it is known to be larger
)

// errTooLarge is the error of a file above maxFile.
var errTooLarge = fmt.Errorf("it has more than %d MB", maxFile>>20)

// readFile reads a whole file. It fails without taking memory if the file is larger than maxFile.
func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > maxFile {
		return nil, errTooLarge
	}
	data := make([]byte, info.Size())
	n, err := io.ReadFull(file, data)
	if errors.Is(err, io.ErrUnexpectedEOF) { // shortened meanwhile
		err = nil
	}
	return data[:n], err
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

// decompress returns the text of a result file. A usual file is five times smaller than its text.
func decompress(file []byte) (text []byte, err error) {
	_, decoder := codec()
	limit := min(maxLine+maxRatio*len(file), maxFile)
	for size := min(maxLine/16+8*len(file), maxFirst); ; size *= 8 {
		if size > limit/2 {
			size = limit
		}
		text, err = decoder.DecodeAll(file, make([]byte, 0, size))
		if !errors.Is(err, zstd.ErrDecoderSizeExceeded) {
			return text, err
		}
		if size == limit {
			return nil, fmt.Errorf("%d bytes decompress to more than %d: %w", len(file), limit, err)
		}
	}
}
