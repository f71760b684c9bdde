package figures

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"tvps/data/artifact"
)

// SumsFile is the name of the file with the SHA-256 of a figure's tables and provenance, which `sha256sum -c` reads.
const SumsFile = "SHA256SUMS"

// longest limits what is read of a figure's folder, in bytes of a file: the gallery's have less than a hundredth of it.
const longest = 64 << 20

// sumsOf makes the file of checksums of those files that are tables or the provenance.
func sumsOf(files []file) file {
	var out bytes.Buffer
	for _, f := range files {
		name := strings.TrimSuffix(f.name, packed)
		if strings.HasSuffix(name, ".csv") || name == ProvenanceFile {
			fmt.Fprintf(&out, "%x  %s\n", sha256.Sum256(f.content), f.name)
		}
	}
	return file{SumsFile, out.Bytes()}
}

// Folder reads the tables and the provenance of a drawn figure.
type Folder struct {
	dir  string
	sums map[string]string // by name
}

// OpenFolder opens the folder of a figure that [Write] wrote. If it has no figure, the error is fs.ErrNotExist.
func OpenFolder(dir string) (*Folder, error) {
	text, err := artifact.ReadFile(filepath.Join(dir, SumsFile), longest)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f := &Folder{dir: dir, sums: map[string]string{}}
	for line := range strings.Lines(string(text)) {
		sum, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		f.sums[name] = sum
	}
	for _, name := range []string{ProvenanceFile, ProvenanceFile + packed} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil && f.sums[name] == "" {
			return nil, fmt.Errorf("no line of %s is for %s: restore it, or draw the figure again", SumsFile, name)
		}
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Read returns the content of a file as it was drawn, also if it is compressed. A file that was changed since is an
// error, as is one of another drawing. If there is none and [Write] wrote none, the error is fs.ErrNotExist.
func (f *Folder) Read(name string) ([]byte, error) {
	if _, listed := f.sums[name+packed]; listed {
		content, err := f.read(name + packed)
		if err != nil {
			return nil, err
		}
		return unpack(name+packed, content)
	}
	return f.read(name)
}

// Rows reads a table. Errors are those of [Folder.Read] and [ReadCSV].
func (f *Folder) Rows(name string) ([]Row, error) {
	text, err := f.Read(name)
	if err != nil {
		return nil, err
	}
	return ReadCSV(bytes.NewReader(text))
}

// unpack decompresses a file.
func unpack(name string, content []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	text, err := io.ReadAll(io.LimitReader(r, longest+1))
	if err == nil && len(text) > longest {
		err = fmt.Errorf("it has more than %d MB", longest>>20)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return text, nil
}

func (f *Folder) read(name string) ([]byte, error) {
	content, err := artifact.ReadFile(filepath.Join(f.dir, name), longest)
	sum, listed := f.sums[name]
	if errors.Is(err, fs.ErrNotExist) && listed {
		return nil, fmt.Errorf("%s is missing, but %s lists it: restore it, or draw the figure again", name, SumsFile)
	}
	if err != nil {
		return nil, err
	}
	if fmt.Sprintf("%x", sha256.Sum256(content)) != sum {
		return nil, fmt.Errorf("%s is not the file that %s lists: restore both, or draw the figure again", name, SumsFile)
	}
	return content, nil
}
