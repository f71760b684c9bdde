package crossfit

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"runtime"
	"strings"
	"testing"
)

// FuzzOwn reads header and content of a saved g, with the checksum made right. What is refused is an error of one
// sentence in little memory; what is read gives a file that is read as the same.
func FuzzOwn(f *testing.F) {
	o := fitOwn(f, ruleDrift(1, 60), tiny(), 0)
	content, err := o.encode()
	if err != nil {
		f.Fatal(err)
	}
	start := len(fileMagic) + 8
	end := start + int(binary.LittleEndian.Uint32(content[start-4:]))
	header, rest := content[start:end], content[end:len(content)-sha256.Size]
	f.Add(header, rest)
	f.Add(bytes.Replace(header, []byte(`"Folds":`), []byte(`"Folds":9`), 1), rest)
	f.Add(bytes.Replace(header, []byte(`"Rows":`), []byte(`"Rows":-`), 1), rest)
	f.Add(header, rest[:len(rest)/2])
	f.Add([]byte(`{"Models":[]}`), []byte{})
	f.Fuzz(func(t *testing.T, header, rest []byte) {
		fitter := fitter(t)
		if len(fitter.nets) > 20 {
			fitter.Close()
		}
		file := sealed(header, rest)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		read, err := fitter.decode(file)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; err != nil && took > uint64(64*len(file)+16<<20) {
			t.Errorf("%d bytes took %d bytes of memory", len(file), took)
		}
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("an error of several lines: %q", err)
			}
			return
		}
		first, err := read.encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := fitter.decode(first)
		if err != nil {
			t.Fatalf("it cannot be read again: %v", err)
		}
		if second, err := again.encode(); err != nil || !bytes.Equal(first, second) {
			t.Errorf("it changes when it is read again: %v", err)
		}
	})
}
