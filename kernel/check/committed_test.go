package check

import (
	"os"
	"path/filepath"
	"testing"

	"tvps/kernel/nbformat"
)

// committed lists the notebooks of this checkout.
func committed(t *testing.T) []string {
	t.Helper()
	notebooks, err := filepath.Glob(filepath.Join("..", "..", "notebooks", "*.ipynb"))
	if err != nil || len(notebooks) == 0 {
		t.Fatalf("no notebooks (%v)", err)
	}
	return notebooks
}

// Each notebook of this checkout has a golden file and each golden file a notebook, the rules are valid, and every
// number has a tolerance.
func TestCommittedGoldens(t *testing.T) {
	notebooks := committed(t)
	o := Options{Goldens: filepath.Join("..", "..", "ci", "golden", "notebooks")}
	for _, file := range notebooks {
		g, err := readGolden(o.golden(file))
		if err != nil {
			t.Error(err)
			continue
		}
		for _, n := range g.numbers() {
			if _, ok := g.bound(n.Name); !ok {
				t.Errorf("%s: %q has no tolerance", file, n.Name)
			}
		}
	}
	goldens, _ := os.ReadDir(o.Goldens)
	if len(goldens) != len(notebooks) {
		t.Errorf("%d golden files for %d notebooks", len(goldens), len(notebooks))
	}
}

// No cell of this checkout both prints and displays: which of the two arrives first may change from run to run, and two
// runs of a notebook must have the same bytes.
func TestOutputsHaveOneOrder(t *testing.T) {
	for _, file := range committed(t) {
		nb, err := nbformat.Read(file)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, c := range codeCells(nb) {
			streams := map[string]bool{}
			for _, o := range c.Outputs {
				streams[o.Name] = true // empty for what is displayed
			}
			if len(streams) > 1 {
				t.Errorf("%s: the cell %s prints and displays, or prints to stdout and stderr: split it", file, c.ID)
			}
		}
	}
}
