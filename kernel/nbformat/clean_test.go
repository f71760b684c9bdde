package nbformat

import (
	"flag"
	"strings"
	"testing"

	"tvps/ci/demand"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const cleaned = "testdata/cleaned.ipynb"

func TestCleanGolden(t *testing.T) {
	nb := read(t, sample)
	nb.Clean()
	got := contents(t, nb)
	if *update {
		demand.Write(t, cleaned, got)
	}
	want := demand.Read(t, cleaned)
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Two runs of the same code are equal after cleaning.
func TestCleanForgetsTheRun(t *testing.T) {
	one, two := read(t, sample), read(t, sample)
	two.Metadata[Record] = map[string]any{"parameters": "other"}
	two.Cells[0].ID, two.Cells[4].ID = "aaaaaaaa", "b7bd8e0a-2a0e-4c0c-9d1f-ffffffffffff"
	two.Cells[2].ExecutionCount = 99
	two.Cells[2].Metadata["execution"] = "later"
	out := two.Cells[2].Outputs
	two.Cells[2].Outputs = append(
		[]Output{{Type: Stream, Name: "stdout", Text: "on"}, {Type: Stream, Name: "stdout", Text: "e\n"}},
		out[1:]...)
	replace := strings.NewReplacer("0a1b2c3d", "77777777", "99999999", "88888888",
		"tvps-kernel-123456", "tvps-kernel-5", "deadbeef", "66666666")
	data := replace.Replace(contents(t, two))
	two, err := Parse([]byte(data))
	demand.NoError(t, err)
	one.Clean()
	two.Clean()
	if diff := cmp.Diff(contents(t, one), contents(t, two)); diff != "" {
		t.Errorf("(-one +two):\n%s", diff)
	}
}

func TestCleanIDs(t *testing.T) {
	cell := func(id, source string) *Cell { return &Cell{Type: Code, ID: id, Source: source} }
	nb := &Notebook{Minor: 4, Metadata: map[string]any{}, Cells: []*Cell{
		cell("chosen", "a"), cell("chosen", "b"), cell("", "c"), cell("0123abcd", "c"), cell("not valid", "d"),
	}}
	nb.Clean()
	var ids []string
	for _, c := range nb.Cells {
		ids = append(ids, c.ID)
	}
	if ids[0] != "chosen" || ids[3] != ids[2]+"-2" || nb.Minor != 5 {
		t.Errorf("ids %q, minor %d", ids, nb.Minor)
	}
	for i, id := range ids[1:] {
		if !strings.HasPrefix(id, "cell-") || !valid.MatchString(id) {
			t.Errorf("cell %d has the id %q", i+1, id)
		}
	}
	nb.Cells[1].Source = "edited"
	nb.Clean()
	if nb.Cells[1].ID != ids[1] {
		t.Errorf("the id changed with the cell: %q, then %q", ids[1], nb.Cells[1].ID)
	}
}
