package artifact

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// What a killed process left of a file is removed, but neither what a process may be writing nor other files.
func TestRemoveTemporary(t *testing.T) {
	dir := t.TempDir()
	then := time.Now().Add(-2 * temporaryAge)
	for name, old := range map[string]bool{".page.html123": true, ".page.html456": false, ".page.html": true,
		".page.html7a": true, ".other123": true, "page.html": true} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if old {
			if err := os.Chtimes(path, then, then); err != nil {
				t.Fatal(err)
			}
		}
	}
	RemoveTemporary(dir, "page.html", "none")
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, entry := range entries {
		left = append(left, entry.Name())
	}
	if want := []string{".other123", ".page.html", ".page.html456", ".page.html7a", "page.html"}; !slices.Equal(left, want) {
		t.Errorf("left are %q, want %q", left, want)
	}
}

// Replace keeps the permissions of the file and removes what an earlier process left of it.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path, left := filepath.Join(dir, "plan.json"), filepath.Join(dir, ".plan.json123")
	then := time.Now().Add(-2 * temporaryAge)
	if err := errors.Join(os.WriteFile(path, []byte("old"), 0o600), os.WriteFile(left, nil, 0o600),
		os.Chtimes(left, then, then), Replace(path, []byte("new"), 0o644)); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || string(text) != "new" {
		t.Errorf("the file has %q, error %v", text, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has permissions %v, error %v", info.Mode(), err)
	}
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is still there: %v", left, err)
	}
}
