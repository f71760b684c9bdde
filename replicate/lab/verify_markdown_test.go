package lab

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"tvps/figures"
	"tvps/replicate/blocks"
	"tvps/replicate/experiment"
	"tvps/replicate/paper"
)

// handMade returns a table of three claims: one with three parts, one that is not run, one without parts.
func handMade() Verification {
	part := func(panel, metric string, verdict Verdict, low, high float64) JudgedPart {
		declared := paper.Part{Panel: panel, Series: "ours", Base: "everything",
			Statistic: paper.Difference, Test: paper.Above}
		return JudgedPart{Part: declared, Metric: metric, Verdict: verdict,
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
					part("a", "accuracy", Holds, .01, .03),
					part("b", "accuracy", Undecided, -.0001, .0001),
					part("d", "accuracy (stand-in, not CLEAR)", DoesNotHold, -.03, -.01)}},
			{Figure: "fig03", Claim: paper.Claim{Text: "Another", Says: "so", Place: "there"}, Verdict: NotRun,
				Parts: []JudgedPart{part("a", "", NotRun, 0, 0)}},
			{Figure: "fig10", Claim: paper.Claim{Text: "A third", Says: "so", Place: "there"}, Verdict: NotRun},
		},
	}
}

func TestMarkdown(t *testing.T) {
	want := strings.Join([]string{
		"3 claims: 1 holds partly, 2 are not run. Scale small, seeds 0, 1, 2, backend xla:cpu. All of CIFAR-10. " +
			"Made by `go run ./replicate verify --scale small`.",
		"",
		"| figure | claim | the paper | here: mean, 95% interval over seeds and steps | verdict |",
		"|---|---|---|---|---|",
		`| 1 | Ours \| is better | "&lt;b&gt;better&lt;/b&gt;" (Section 3) | ` +
			"Ours minus Everything (claimed above 0):<br>" +
			"a: +0.020 [+0.010, +0.030], n = 3, holds<br>b: +0.000 [+0.000, +0.000], n = 3, undecided<br>" +
			"d (stand-in, not CLEAR): -0.020 [-0.030, -0.010], n = 3, does not hold (not counted) | partly |",
		"| 3 | Another | so (there) | `go run ./replicate fig3 --scale small` | not run |",
		"| 10 | A third | so (there) | `go run ./replicate fig10 --scale small` | not run |",
		""}, "\n")
	if got := handMade().Markdown(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	nothing := handMade()
	nothing.Figures[0].Stored = 0
	if got := nothing.Markdown(); strings.Count(got, "\n") != 1 ||
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
	drawn := func(figure string) []string {
		if figure == "fig01" {
			return []string{"fig01/fig01-a.png"}
		}
		return nil
	}
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
		got := v.Gallery(figures, drawn)
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

// committed returns the committed results of a gallery, which the documents quote.
func committed(t *testing.T, dir string) Verification {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "verify.json"))
	if err != nil {
		t.Fatal(err)
	}
	var v Verification
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// The gallery has the figures at the small scale, and in a folder those of the robots at the medium scale.
var (
	gallery = filepath.Join("..", "..", "figures", "gallery")
	medium  = filepath.Join(gallery, "medium")
)

// TestGeneratedTables: the tables in README.md and in the gallery are those of the committed results.
func TestGeneratedTables(t *testing.T) {
	v, trained := committed(t, gallery), committed(t, medium)
	command := strings.Replace(v.Command, "verify",
		"verify --out figures/gallery/verify.json --readme README.md --gallery figures/gallery", 1)
	for _, c := range []struct{ file, block, want string }{
		{filepath.Join("..", "..", "README.md"), "claims", v.Summary()},
		{filepath.Join(gallery, "README.md"), "gallery", v.Gallery(testCatalog.Figures, PicturesIn(gallery))},
		{filepath.Join(medium, "README.md"), "gallery", trained.Gallery(testCatalog.Figures, PicturesIn(medium))},
		{filepath.Join("..", "README.md"), "figures", figureTable(testCatalog.Figures)},
	} {
		text, err := os.ReadFile(c.file)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := blocks.Get(text, c.block); err != nil || got != c.want {
			t.Errorf("%s, block %s: it differs (%v). `%s` makes those of the gallery; the block must be\n%s",
				c.file, c.block, err, command, c.want)
		}
	}
}

// figureTable is the table of figures in replicate/README.md.
func figureTable(figures []paper.Figure) string {
	var b strings.Builder
	b.WriteString("| figure | shows | command | time at small | shares runs with |\n|---|---|---|---|---|\n")
	for _, f := range figures {
		_, shows, _ := strings.Cut(f.Title, ": ")
		line := fmt.Sprintf("| %d | %s | `%s` | %s | %s |", f.Number, shows, f.Command(), f.Time, f.Shares)
		b.WriteString(strings.ReplaceAll(line, "|  |", "| |") + "\n")
	}
	return b.String()
}

// TestReadme: README.md cites the paper with the BibTeX entry of the report, and each effect that it quotes with its
// interval is one of the committed results.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), BibTeX) {
		t.Error("README.md lacks the BibTeX entry of the report")
	}
	known := map[string]bool{}
	for _, c := range append(committed(t, gallery).Claims, committed(t, medium).Claims...) {
		for _, p := range c.Parts {
			known[fmt.Sprintf("%s [%s, %s]", signed(p.Effect.Mean), signed(p.Effect.Low),
				signed(p.Effect.High))] = true
		}
	}
	quoted := regexp.MustCompile(`[+-]\d*\.\d+ \[[+-]?\d*\.\d+, [+-]?\d*\.\d+\]`).FindAllString(string(readme), -1)
	for _, effect := range quoted {
		if !known[effect] {
			t.Errorf("README.md quotes %s, which is not an effect in verify.json of figures/gallery or its folder medium", effect)
		}
	}
	if len(quoted) < 4 {
		t.Errorf("README.md quotes %d effects: write them as +0.263 [+0.247, +0.279]", len(quoted))
	}
}

// TestFigureHeads: the comment at the head of each figure's file states the result of the committed gallery, the time
// of the declaration and the command.
func TestFigureHeads(t *testing.T) {
	v := committed(t, gallery)
	for _, f := range testCatalog.Figures {
		text, err := os.ReadFile(filepath.Join("..", "paper", f.Name()+".go"))
		if err != nil {
			t.Fatal(err)
		}
		unwrapped := regexp.MustCompile("\n// (\\S)").ReplaceAllString(string(text), " $1")
		for _, line := range []string{
			fmt.Sprintf("Fig%d declares Figure %d: ", f.Number, f.Number),
			"Command: go run ./replicate " + f.Command(),
			fmt.Sprintf("Result at the small scale: %s; see figures/gallery/%s.", countVerdicts(v.Of(f.Name())),
				f.Name()),
			"Time at the small scale on two cores: " + f.Time,
		} {
			if !strings.Contains(unwrapped, line) {
				t.Errorf("%s.go does not state %q", f.Name(), line)
			}
		}
	}
}
