package artifact

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// SourcesSuffix is the end of the name of a program's list of sources, which lies next to it.
const SourcesSuffix = ".sources"

// readLimit is the size of a file from which on a list of sources has its size alone: embedded data, which would take
// longer to read than a cell to run.
const readLimit = 1 << 20

// Sources is a list of files below root, with what identifies their contents. [Changed] reads it.
func Sources(root string, files []string) (string, error) {
	var list strings.Builder
	for _, file := range files {
		id, err := identify(filepath.Join(root, file))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&list, "%s  %s\n", id, file)
	}
	return list.String(), nil
}

func identify(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if info.Size() > readLimit {
		return fmt.Sprintf("%d bytes", info.Size()), nil
	}
	text, err := os.ReadFile(path)
	return fmt.Sprintf("%x", sha256.Sum256(text)), err
}

// Changed returns the first file below root that differs from a list of sources; empty if none does.
func Changed(list, root string) (string, error) {
	text, err := os.ReadFile(list)
	if err != nil {
		return "", fmt.Errorf("cannot read from which sources a program was built: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		was, file, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		is, err := identify(filepath.Join(root, file))
		if errors.Is(err, os.ErrNotExist) || err == nil && is != was {
			return file, nil
		}
		if err != nil {
			return "", err
		}
	}
	return "", nil
}
