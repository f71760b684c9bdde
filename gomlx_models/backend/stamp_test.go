//go:build !noxla

package backend

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tvps/ci/demand"
)

// TestStamp: a stored hash is used while the file is untouched. A file that was changed in place with its time set
// back, or replaced by another one with the same time, is hashed again.
func TestStamp(t *testing.T) {
	cache, path := t.TempDir(), filepath.Join(t.TempDir(), "file")
	when := time.Now().Add(-time.Hour)
	write := func(name, text string) {
		demand.NoError(t, errors.Join(os.WriteFile(name, []byte(text), 0o644), os.Chtimes(name, when, when)))
	}
	sum := func() string {
		got, err := fileSHA256(path, cache)
		demand.NoError(t, err)
		return got
	}
	write(path, "first")
	if sum() != hexSum([]byte("first")) {
		t.Error("wrong hash")
	}
	stored := strings.Repeat("0", 64)
	forge(t, path, cache, stored)
	if sum() != stored {
		t.Error("the stamp is not used")
	}
	time.Sleep(20 * time.Millisecond) // the clock of a file system is coarse
	write(path, "other")
	if sum() != hexSum([]byte("other")) {
		t.Error("a change with the time set back is not found")
	}
	forge(t, path, cache, stored)
	write(path+"2", "third")
	demand.NoError(t, os.Rename(path+"2", path))
	if sum() != hexSum([]byte("third")) {
		t.Error("a replacement with the same time is not found")
	}
	forge(t, path, cache, "a stamp that is cut off")
	if sum() != hexSum([]byte("third")) {
		t.Error("with a damaged stamp: wrong hash")
	}
	if _, err := fileSHA256(path+"2", cache); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// forge writes another hash into the file's stamp.
func forge(t *testing.T, path, cache, sum string) {
	t.Helper()
	stamp, err := stampFile(path, cache)
	demand.NoError(t, err)
	demand.NoError(t, os.WriteFile(stamp, []byte(sum), 0o644))
}
