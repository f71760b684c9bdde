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

// handMade returns a table of three claims: one with three parts, one that is not run, one without parts.
func handMade() Verification {
	part := func(panel, standIn string, verdict Verdict, low, high float64) JudgedPart {
		declared := paper.Part{Panel: panel, Series: "ours", Base: "everything",
			Statistic: paper.Difference, Test: paper.Above}
		return JudgedPart{Part: declared, Metric: Metric{"accuracy", standIn}, Verdict: verdict,
			Effect: figures.Estimate{Mean: (low + high) / 2, Low: low, High: high, N: 3}}
	}
	return Verification{
		Scale: "small", Backend: "xla:cpu", Data: []string{"All of CIFAR-10"},
		Command: "go run ./replicate verify --scale small",
		Figures: []State{
			{Number: 1, Name: "fig01", Seeds: []int64{0, 1, 2}, Runs: 9, Stored: 9,
				Command: "go run ./replicate fig1 --scale small"},
			{Number: 3, Name: "fig03", Seeds: []int64{0, 1, 2}, Runs: 9,
				Command: "go run ./replicate fig3 --scale small"},
			{Number: 10, Name: "fig10", Command: "go run ./replicate fig10 --scale small"},
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
			{Figure: "fig10", Claim: paper.Claim{Text: "A third", Says: "so", Place: "there"}, Verdict: NotRun},
		},
	}
}

// TestClaimRows: a claim's row has its effects, escaped, or the command that computes its missing runs.
func TestClaimRows(t *testing.T) {
	figures := []paper.Figure{{Number: 1}, {Number: 3}, {Number: 10}}
	got := handMade().Gallery(figures, "")
	for _, want := range []string{
		"3 claims: 1 holds partly, 2 are not run. Scale small, seeds 0, 1, 2, backend xla:cpu. All of CIFAR-10. " +
			"Made by `go run ./replicate verify --scale small`.\n",
		`| Ours \| is better | "&lt;b&gt;better&lt;/b&gt;" (Section 3) | ` +
			"Ours minus Everything (claimed above 0):<br>" +
			"a: +0.020 [+0.010, +0.030], n = 3, holds<br>b: +0.000 [+0.000, +0.000], n = 3, undecided<br>" +
			"d (stand-in, not CLEAR): -0.020 [-0.030, -0.010], n = 3, does not hold (not counted) | **partly** |\n",
		"| Another | so (there) | `go run ./replicate fig3 --scale small` | **not run** |\n",
		"| A third | so (there) | `go run ./replicate fig10 --scale small` | **not run** |\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	nothing := handMade()
	nothing.Figures[0].Stored = 0
	if got := nothing.Summary(); strings.Count(got, "\n") != 1 ||
		!strings.Contains(got, "`go run ./replicate all --scale small`") ||
		!strings.Contains(got, "Nothing is stored") {
		t.Errorf("without results: %q", got)
	}
}

func TestSummary(t *testing.T) {
	v := handMade()
	v.Figures[0].Title, v.Figures[1].Title = "Figure 1: D'Claw, a | b", "Figure 3: scores"
	for _, line := range []string{"3 claims: 1 holds partly, 2 are not run. Scale small",
		"| figure | shows | its claims |",
		`| [1](figures/gallery/README.md#figure-1-dclaw-a--b) | D'Claw, a \| b | 1 holds partly |`,
		"| [3](figures/gallery/README.md#figure-3-scores) | scores | 1 is not run |"} {
		if !strings.Contains(v.Summary(), line+"\n") && !strings.Contains(v.Summary(), line+",") {
			t.Errorf("no %q in\n%s", line, v.Summary())
		}
	}
}

// TestGallery: the time is that of the small scale, and links are to folders that exist.
func TestGallery(t *testing.T) {
	figures := []paper.Figure{
		{Number: 1, Caption: "One.", Time: "28 min"},
		{Number: 3, Caption: "Three.", Time: "5 min", Shares: "1"},
	}
	dir := t.TempDir()
	demand.Write(t, filepath.Join(dir, "fig01", "fig01-a.png"), "")
	links := "\n[Page](fig01/index.html), [claims](fig01/claims.json), [provenance](fig01/provenance.json).\n\n" +
		"![fig01-a](fig01/fig01-a.png)\n"
	for scale, want := range map[experiment.Scale][]string{
		experiment.Small: {"`go run ./replicate fig1 --scale small`: 28 min on two cores." + links,
			"`go run ./replicate fig3 --scale small`: 5 min on two cores, with runs of figure 1.\n\n| claim"},
		experiment.Medium: {"`go run ./replicate fig1 --scale small`." + links,
			"`go run ./replicate fig3 --scale small`, with runs of figure 1.\n\n| claim"},
	} {
		v := handMade()
		v.Scale = scale
		got := v.Gallery(figures, dir)
		for _, text := range want {
			if !strings.Contains(got, text) {
				t.Errorf("scale %s: no %q in\n%s", scale, text, got)
			}
		}
		if strings.Contains(got, "fig03/") {
			t.Errorf("scale %s: a link to figure 3, which is not drawn:\n%s", scale, got)
		}
	}
}
