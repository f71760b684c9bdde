package charts

import (
	"path/filepath"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/ci/research/natural"
)

// The pictures are those in the gallery.
func TestPictures(t *testing.T) {
	const gallery = "../../../../figures/gallery/archive/natural-drift"
	all, err := natural.Read(gallery)
	demand.NoError(t, err)
	folder := t.TempDir()
	_, err = natural.Report(folder, all)
	demand.NoError(t, err)
	demand.NoError(t, Pictures(folder, all))
	found := 0
	for _, pattern := range []string{"*.svg", "*/chart.svg"} {
		files, _ := filepath.Glob(filepath.Join(folder, pattern))
		for _, file := range files {
			found++
			name := strings.TrimPrefix(file, folder)
			if string(demand.Read(t, file)) != string(demand.Read(t, gallery+name)) {
				t.Errorf("%s is not that of the stored losses: go run ./ci/research naturaldrift --stored", name)
			}
		}
	}
	suites := map[string]bool{}
	for _, l := range all {
		if !l.Suite.Apart() { // such have a table instead
			suites[l.Suite.Name] = true
		}
	}
	if want := len(suites) + 1 + len(natural.Datasets); found != want {
		t.Errorf("%d pictures, want %d", found, want)
	}
}
