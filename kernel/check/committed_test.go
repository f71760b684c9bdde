package check

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
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

// The numbers in each notebook of this checkout have tolerances, a figure's notebook has numbers, and all run at the
// tiny scale, which takes seconds.
func TestCommittedNumbers(t *testing.T) {
	for _, file := range committed(t) {
		nb, err := nbformat.Read(file)
		demand.NoError(t, err)
		rules, err := rulesOf(nb)
		demand.NoError(t, err)
		numbers, err := collect(nb)
		if err = errors.Join(err, verify(numbers, rules)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if len(numbers) == 0 && strings.HasPrefix(filepath.Base(file), "fig") {
			t.Errorf("%s has no numbers: make them with `go run ./kernel check --update`", file)
		}
		parameters, err := nb.Parameters()
		demand.NoError(t, err)
		for _, p := range parameters {
			if p.Name == "scale" && p.Default != `"tiny"` {
				t.Errorf("%s is saved with the scale %s", file, p.Default)
			}
		}
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

// A figure's notebook opens with what the gallery has, before it computes. Answers of exercises are folded. The first
// page leads to every notebook. A paragraph that many of them would need stands in one. They are small enough for git.
func TestNotebooks(t *testing.T) {
	size, index := int64(0), ""
	where := map[string][]string{} // notebooks by paragraph
	for _, file := range committed(t) {
		info, err := os.Stat(file)
		demand.NoError(t, err)
		size += info.Size()
		nb, err := nbformat.Read(file)
		demand.NoError(t, err)
		name := filepath.Base(file)
		if strings.HasPrefix(name, "fig") && !strings.Contains(codeCells(nb)[0].Source, "notebook.Found(") {
			t.Errorf("%s does not open with the result in the gallery", name)
		}
		for _, c := range nb.Cells {
			state, _ := c.Metadata["jupyter"].(map[string]any)
			if c.HasTag("hide-cell") && (state["source_hidden"] != true || state["outputs_hidden"] != true) {
				t.Errorf("%s: the answer in the cell %s is not folded", name, c.ID)
			}
			if c.Type != nbformat.Markdown {
				continue
			}
			for _, paragraph := range strings.Split(c.Source, "\n\n") {
				if len(strings.Fields(paragraph)) > 12 && !slices.Contains(where[paragraph], name) {
					where[paragraph] = append(where[paragraph], name)
				}
			}
			if name == "00-index.ipynb" {
				index += c.Source
			}
		}
	}
	for paragraph, names := range where {
		if len(names) > 4 {
			t.Errorf("%q have the same paragraph; write it once, in 01-start.ipynb:\n%s", names, paragraph)
		}
	}
	for _, file := range committed(t) {
		if name := filepath.Base(file); name != "00-index.ipynb" && !strings.Contains(index, "("+name+")") {
			t.Errorf("00-index.ipynb has no link to %s", name)
		}
	}
	if size > 4<<20 {
		t.Errorf("the notebooks have %d bytes, more than 4 MB", size)
	}
}
