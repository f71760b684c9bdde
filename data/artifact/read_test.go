package artifact

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tvps/ci/demand"
)

func TestReadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	demand.NoError(t, os.WriteFile(path, []byte("four"), 0o644))
	if got, err := ReadFile(path, 4); err != nil || string(got) != "four" {
		t.Errorf("%q, %v", got, err)
	}
	for _, c := range []struct {
		path  string
		limit int64
		words string
	}{
		{path, 3, "more than 3 bytes"}, {"/dev/zero", 3, "not a regular file"}, {filepath.Dir(path), 3, "not a regular"},
	} {
		got, err := ReadFile(c.path, c.limit)
		var of *fs.PathError
		if len(got) > 0 || !errors.As(err, &of) || of.Path != c.path || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: %q, %v, want %q", c.path, got, err, c.words)
		}
	}
	if _, err := ReadFile(path+"2", 4); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}
