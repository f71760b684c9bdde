package collected

import (
	"path/filepath"
	"slices"
	"testing"

	"tvps/ci/demand"
)

// folder writes files and returns their folder.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		demand.Write(t, filepath.Join(dir, name), text)
	}
	return dir
}

// TestLoad: files are steps in the order of their numbers, labels are classes in the order of their values, indices
// begin at 1, what a line lacks is 0, and concentrations are left out.
func TestLoad(t *testing.T) {
	set, err := load(folder(t, map[string]string{
		"batch10.dat": "6 1:7 3:9\n",
		"batch2.dat":  "1;50.000000 1:1.5 2:-2e1 \n\n2;10.0 2:4\n",
		"README":      "not a step",
		"notes.txt":   "no number, no step",
	}))
	demand.NoError(t, err)
	if !slices.Equal(set.Names, []string{"batch2.dat", "batch10.dat"}) || !slices.Equal(set.First, []int{0, 2, 3}) {
		t.Errorf("files %q, steps begin at %v", set.Names, set.First)
	}
	if want := []float32{1.5, -20, 0, 0, 4, 0, 7, 0, 9}; set.Dim != 3 || !slices.Equal(set.X, want) {
		t.Errorf("%d values a row: %v", set.Dim, set.X)
	}
	if !slices.Equal(set.Label, []int32{0, 1, 2}) || !slices.Equal(set.Values, []float64{1, 2, 6}) {
		t.Errorf("labels %v of %v", set.Label, set.Values)
	}
}

// TestLoadErrors: a sentence says which file and line are wrong.
func TestLoadErrors(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		words []string
	}{
		"one file": {map[string]string{"batch1.dat": "1 1:2\n"}, []string{"1 numbered files", "at least two"}},
		"label": {map[string]string{"a1.svm": "1 1:2\n", "a2.svm": "1 1:2\nEthanol 1:2\n"},
			[]string{"a2.svm", "line 2", "Ethanol"}},
		"no index":  {map[string]string{"a1.svm": "1 3.5\n", "a2.svm": "1 1:2\n"}, []string{"a1.svm", "line 1", "3.5"}},
		"index 0":   {map[string]string{"a1.svm": "1 0:3.5\n", "a2.svm": "1 1:2\n"}, []string{"line 1", "0:3.5"}},
		"twice":     {map[string]string{"a1.svm": "1 2:3 2:4\n", "a2.svm": "1 1:2\n"}, []string{"2:4"}},
		"infinite":  {map[string]string{"a1.svm": "1 2:inf\n", "a2.svm": "1 1:2\n"}, []string{"2:inf"}},
		"no number": {map[string]string{"a1.svm": "1 2:NaN\n", "a2.svm": "1 1:2\n"}, []string{"2:NaN"}},
		"no row":    {map[string]string{"a1.svm": "1 2:1\n", "a2.svm": "\n"}, []string{"a2.svm", "no row"}},
	} {
		_, err := load(folder(t, c.files))
		if err == nil {
			t.Errorf("%s was accepted", name)
			continue
		}
		demand.Error(t, err, c.words...)
	}
	_, err := load(filepath.Join(t.TempDir(), "none"))
	demand.Error(t, err, "none")
}
