package claims

import (
	"path/filepath"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/data/statistics"
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

func TestTotal(t *testing.T) {
	var claims []Judged
	for _, v := range []Verdict{Undecided, Holds, DoesNotHold, Holds, Partly, NotRun, DoesNotHold} {
		claims = append(claims, Judged{Verdict: v})
	}
	for n, want := range map[int]string{0: "no claim", 1: "1 claim is undecided",
		7: "7 claims: 2 hold, 1 holds partly, 2 do not hold, 1 is undecided, 1 is not run"} {
		if got := Total(claims[:n]); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// handMade returns a table of two claims: one with three parts, one that is not run.
func handMade() Verification {
	part := func(panel, standIn string, verdict Verdict, low, high float64) JudgedPart {
		return JudgedPart{Part: paper.Part{Panel: panel, Series: "ours", Base: "everything", Statistic: paper.Difference},
			Metric: Metric{"accuracy", standIn}, Verdict: verdict,
			Effect: statistics.Estimate{Mean: (low + high) / 2, Low: low, High: high, N: 3}}
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

// TestMarkdown: texts are escaped, a claim's row has its effects and the command that makes them, and
// links are to folders that exist. (Package lab compares the documents of the gallery with its results.)
func TestMarkdown(t *testing.T) {
	dir, v := t.TempDir(), handMade()
	declared := []paper.Figure{{Number: 1, Time: "28 min"}, {Number: 3, Time: "5 min", Shares: "1"}}
	demand.Words(t, v.Gallery(declared, dir, nil),
		"2 claims: 1 holds partly, 1 is not run. Scale small, seeds 0, 1, 2, backend xla:cpu. All of CIFAR-10. "+
			"Made by `go run ./replicate verify --scale small`.\n",
		`| **partly** | Ours \| is better | Ours minus Everything: a +2.0 [+1.0, +3.0] points (holds); `+
			"b 0.0 [0.0, 0.0] points (undecided); d (stand-in, not CLEAR) -2.0 [-3.0, -1.0] points | "+
			"`fig1 --scale small --panel a,b,d` |\n",
		"| **not run** | Another | | `fig3 --scale small --panel a` |\n")
	demand.Words(t, v.Summary(nil),
		`| [<img src="figures/gallery/fig01/fig01-a.svg" width="170" alt=""><br>1: D'Claw, a \| b]`+
			"(figures/gallery/README.md#figure-1-dclaw-a--b)<br>1 holds partly |")
	trained := v
	trained.Claims = []Judged{{Figure: v.Figures[0].Name, Verdict: Holds, Holm: Kept, Untested: []string{"CLEAR"}}}
	demand.Words(t, v.Summary(&trained), `src="figures/gallery/medium/fig01/fig01-a.svg"`, "<br>1 holds; CLEAR not tested |",
		"**2 claims: 1 holds (1 also with Holm's correction), 1 is not run; CLEAR not tested.**")
	trained.Claims[0].Holm = Lost
	demand.Words(t, v.Summary(&trained), "1 holds (0 also with Holm's correction)")
	if v.Scale = experiment.Medium; strings.Contains(v.Gallery(declared, dir, nil), "28 min") {
		t.Error("the time is that of the small scale")
	}
}

// TestGallery: the answer and the pictures come first, the claims are folded; the time is that of the small scale,
// links are to folders that exist, what bands are is not said of each figure, and trained agents come before those of
// the small scale.
func TestGallery(t *testing.T) {
	short := []paper.Claim{{Text: "Ours | is better", Short: "Ours beats <all>"}}
	figures := []paper.Figure{
		{Number: 1, Caption: "One. " + paper.Bands, Claims: short},
		{Number: 3, Caption: "Three."},
	}
	dir := t.TempDir()
	for _, name := range []string{"fig01/fig01-a.svg", "fig01/fig01-a-sac-film.svg", "medium/fig01/fig01-a.svg"} {
		demand.Write(t, filepath.Join(dir, name), "")
	}
	claims := "\n\n<details><summary>1 claim holds partly</summary>\n"
	section := func(folder, caption string) string {
		return `**Partly:** Ours beats &lt;all&gt; (+2.0, 0.0 points).

<img src="` + folder + `/fig01-a.svg" alt="fig01-a" width="49%">

` + caption + "`go run ./replicate fig1 --scale small`. [Claims](" +
			folder + "/claims.json)."
	}
	small, medium := handMade(), handMade()
	medium.Scale, medium.Claims = experiment.Medium, medium.Claims[:1]
	for _, c := range []struct {
		of, trained *Verification
		want        string
	}{
		{&small, nil, "\n" + section("fig01", "One. ") + claims},
		{&medium, nil, "\n" + section("fig01", "One. ") + claims},
		{&small, nil, "Three. `go run ./replicate fig3 --scale small`.\n"},
		{&small, &medium, "\n" + section("medium/fig01", "One. ") + " [1 claim holds partly](medium/README.md#figure-1-dclaw-a--b).\n"},
		{&small, &medium, "<details><summary>At the scale small, where agents are trained for less time</summary>\n\n" +
			section("fig01", "") + "\n\n</details>\n"},
	} {
		got := c.of.Gallery(figures, dir, c.trained)
		demand.Words(t, got, c.want)
		if strings.Contains(got, "fig03/") {
			t.Errorf("scale %s: a link to figure 3, which is not drawn:\n%s", c.of.Scale, got)
		}
	}
}
