package claims

import (
	"path/filepath"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/figures"
	"tvps/replicate/experiment"
	"tvps/replicate/paper"
)

func TestFormatSeeds(t *testing.T) {
	for want, seeds := range map[string][]int64{"0": {0}, "0,1,2": {0, 1, 2}, "0-7": {0, 1, 2, 3, 4, 5, 6, 7},
		"5,1-4,9": {5, 1, 2, 3, 4, 9}, "": nil} {
		got := FormatSeeds(seeds, ",")
		if got != want {
			t.Errorf("%v: %q, want %q", seeds, got, want)
		}
	}
}

func TestCountVerdicts(t *testing.T) {
	var claims []Judged
	for _, v := range []Verdict{Undecided, Holds, DoesNotHold, Holds, Partly, NotRun, DoesNotHold} {
		claims = append(claims, Judged{Verdict: v})
	}
	for n, want := range map[int]string{0: "no claim", 1: "1 claim is undecided",
		7: "7 claims: 2 hold, 1 holds partly, 2 do not hold, 1 is undecided, 1 is not run"} {
		if got := CountVerdicts(claims[:n]); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// handMade returns a table of two claims: one with three parts, one that is not run.
func handMade() Verification {
	part := func(panel, standIn string, verdict Verdict, low, high float64) JudgedPart {
		return JudgedPart{Part: paper.Part{Panel: panel, Series: "ours", Base: "everything"},
			Metric: Metric{"accuracy", standIn}, Verdict: verdict,
			Effect: figures.Estimate{Mean: (low + high) / 2, Low: low, High: high, N: 3}}
	}
	return Verification{
		Scale: "small", Backend: "xla:cpu", Data: []string{"All of CIFAR-10"},
		Command: "go run ./replicate verify --scale small",
		Figures: []State{
			{Number: 1, Name: "fig01", Title: "Figure 1: D'Claw, a | b", Seeds: []int64{0, 1, 2}, Runs: 9, Stored: 9,
				Command: "go run ./replicate fig1 --scale small"},
			{Number: 3, Name: "fig03", Command: "go run ./replicate fig3 --scale small"},
		},
		Claims: []Judged{
			{Figure: "fig01", Verdict: Partly,
				Claim: paper.Claim{Text: "Ours | is better", Says: "\"<b>better</b>\"", Place: "Section 3"},
				Parts: []JudgedPart{
					part("a", "", Holds, .01, .03),
					part("b", "", Undecided, -.0001, .0001),
					part("d", "stand-in, not CLEAR", DoesNotHold, -.03, -.01)}},
			{Figure: "fig03", Claim: paper.Claim{Text: "Another", Says: "so", Place: "there"}, Verdict: NotRun,
				Parts: []JudgedPart{part("a", "", NotRun, 0, 0)}},
		},
	}
}

// TestMarkdown: texts are escaped, a claim's row has its effects or the command that computes its missing runs, and
// links are to folders that exist. (Package lab compares the documents of the gallery with its results.)
func TestMarkdown(t *testing.T) {
	dir, v := t.TempDir(), handMade()
	demand.Write(t, filepath.Join(dir, "fig01", "fig01-a.png"), "")
	declared := []paper.Figure{{Number: 1, Time: "28 min"}, {Number: 3, Time: "5 min", Shares: "1"}}
	gallery, summary := v.Gallery(declared, dir), v.Summary()
	for want, text := range map[string]string{
		"2 claims: 1 holds partly, 1 is not run. Scale small, seeds 0, 1, 2, backend xla:cpu. All of CIFAR-10. " +
			"Made by `go run ./replicate verify --scale small`.\n": gallery,
		`| Ours \| is better | "&lt;b&gt;better&lt;/b&gt;" (Section 3) | ` +
			"Ours minus Everything (claimed above 0):<br>" +
			"a: +0.020 [+0.010, +0.030], n = 3, holds<br>b: +0.000 [+0.000, +0.000], n = 3, undecided<br>" +
			"d (stand-in, not CLEAR): -0.020 [-0.030, -0.010], n = 3, does not hold (not counted) | **partly** |\n": gallery,
		"| Another | so (there) | `go run ./replicate fig3 --scale small` | **not run** |\n": gallery,
		"28 min on two cores.\n[Page](fig01/index.html), ":                                   gallery,
		"![fig01-a](fig01/fig01-a.png)\n":                                                    gallery,
		"5 min on two cores, with runs of figure 1.\n\n| claim":                              gallery,
		`| [<img src="figures/gallery/fig01/fig01-a.svg" width="190" alt=""><br>1: D'Claw, a \| b]` +
			"(figures/gallery/README.md#figure-1-dclaw-a--b)<br>1 holds partly |": summary,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if v.Scale = experiment.Medium; strings.Contains(v.Gallery(declared, dir), "28 min") {
		t.Error("the time is that of the small scale")
	}
	v.Figures[0].Stored = 0
	if got := v.Summary(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "Nothing is stored") ||
		!strings.Contains(got, "`go run ./replicate all --scale small`") {
		t.Errorf("without results: %q", got)
	}
}
