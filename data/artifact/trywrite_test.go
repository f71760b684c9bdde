package artifact

import (
	"os"
	"testing"
	"time"
)

// TestTryWriteRemoves: the file of a process that was killed while it tried to write is removed by the next one.
func TestTryWriteRemoves(t *testing.T) {
	folder := t.TempDir()
	left, err := os.CreateTemp(folder, ".probe*")
	if err != nil {
		t.Fatal(err)
	}
	left.Close()
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(left.Name(), old, old); err != nil {
		t.Fatal(err)
	}
	if err := TryWrite(folder); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) > 0 {
		t.Errorf("%v are left, %v", entries, err)
	}
}
