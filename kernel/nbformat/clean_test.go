package nbformat

import (
	"flag"
	"strings"
	"testing"

	"tvps/ci/demand"
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
	demand.Diff(t, got, string(want), "the clean notebook")
}

// Two runs of the same code are equal after cleaning.
func TestCleanForgetsTheRun(t *testing.T) {
	one, two := read(t, sample), read(t, sample)
	two.Metadata["papermill"] = map[string]any{"parameters": "other"}
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
	demand.Diff(t, contents(t, two), contents(t, one), "the clean notebook")
}
