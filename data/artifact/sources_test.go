package artifact

import (
	"path/filepath"
	"strings"
	"testing"

	"tvps/ci/demand"
)

// A program notices each file of its sources that has changed, also large ones, and one that is gone.
func TestChanged(t *testing.T) {
	for change, to := range map[string]string{"": "", "a.go": "package b", "b.bin": strings.Repeat("x", readLimit+2), "gone": "x"} {
		root := t.TempDir()
		demand.Write(t, filepath.Join(root, "a.go"), "package a")
		demand.Write(t, filepath.Join(root, "b.bin"), strings.Repeat("x", readLimit+1))
		list, err := Sources(root, []string{"a.go", "b.bin"})
		demand.NoError(t, err)
		file := filepath.Join(root, "list")
		if change == "gone" {
			list += "0  gone\n"
		} else if change != "" {
			demand.Write(t, filepath.Join(root, change), to)
		}
		demand.Write(t, file, list)
		if changed, err := Changed(file, root); err != nil || changed != change {
			t.Errorf("changed %q, want %q: %v", changed, change, err)
		}
	}
	_, err := Changed(filepath.Join(t.TempDir(), "none"), "")
	demand.Error(t, err, "from which sources")
}
