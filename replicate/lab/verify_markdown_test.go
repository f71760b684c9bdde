package lab

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/figures"
	"tvps/replicate/paper"
	"tvps/replicate/usage"
)

// handMade is a table with one claim of three parts, one not run and one without command.
func handMade() Verification {
	part := func(panel, metric string, verdict Verdict, low, high float64) JudgedPart {
		return JudgedPart{Part: paper.Part{Panel: panel, Series: "ours", Base: "everything", Statistic: paper.Difference, Test: paper.Above}, Metric: metric, Verdict: verdict,
			Effect: figures.Estimate{Mean: (low + high) / 2, Low: low, High: high, N: 3}}
	}
	return Verification{
		Scale: "small", Backend: "xla:cpu", Data: []string{"All of CIFAR-10"}, Command: "go run ./replicate verify --scale small",
		Figures: []State{
			{Number: 1, Name: "fig01", Seeds: []int64{0, 1, 2}, Runs: 9, Stored: 9, Command: "go run ./replicate fig1 --scale small"},
			{Number: 3, Name: "fig03", Seeds: []int64{0, 1, 2}, Runs: 9, Command: "go run ./replicate fig3 --scale small"},
			{Number: 10, Name: "fig10", Command: "go run ./replicate fig10 --scale small"},
		},
		Claims: []Judged{
			{Figure: "fig01", Claim: paper.Claim{Text: "Ours | is better", Says: "\"<b>better</b>\"", Place: "Section 3"}, Verdict: Partly, Parts: []JudgedPart{
				part("a", "accuracy", Holds, .01, .03), part("b", "accuracy", Undecided, -.0001, .0001), part("d", "accuracy (stand-in, not CLEAR)", DoesNotHold, -.03, -.01)}},
			{Figure: "fig03", Claim: paper.Claim{Text: "Another", Says: "so", Place: "there"}, Verdict: NotRun, Parts: []JudgedPart{part("a", "", NotRun, 0, 0)}},
			{Figure: "fig10", Claim: paper.Claim{Text: "A third", Says: "so", Place: "there"}, Verdict: NotRun},
		},
	}
}

func TestMarkdown(t *testing.T) {
	want := strings.Join([]string{
		"3 claims: 1 holds partly, 2 are not run. Scale small, seeds 0, 1, 2, backend xla:cpu. All of CIFAR-10. Made by `go run ./replicate verify --scale small`.",
		"",
		"| figure | claim | the paper | here: mean over seeds, 95% interval | verdict |",
		"|---|---|---|---|---|",
		`| 1 | Ours \| is better | "&lt;b&gt;better&lt;/b&gt;" (Section 3) | Ours minus Everything (claimed above 0):<br>` +
			"a: +0.020 [+0.010, +0.030], n = 3, holds<br>b: +0.000 [+0.000, +0.000], n = 3, undecided<br>" +
			"d (stand-in, not CLEAR): -0.020 [-0.030, -0.010], n = 3, does not hold | partly |",
		"| 3 | Another | so (there) | `go run ./replicate fig3 --scale small` | not run |",
		"| 10 | A third | so (there) | `go run ./replicate fig10 --scale small` | not run |",
		""}, "\n")
	if got := handMade().Markdown(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	nothing := handMade()
	nothing.Figures[0].Stored = 0
	if got := nothing.Markdown(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "`go run ./replicate all --scale small`") || !strings.Contains(got, "Nothing is stored") {
		t.Errorf("without results: %q", got)
	}
}

// TestRewriteClaims: the table is replaced and every other byte kept.
func TestRewriteClaims(t *testing.T) {
	path := filepath.Join(t.TempDir(), "README.md")
	head, tail := "# Title\r\n\r\ntext with `<!-- claims:begin -->` in it\nand <!-- claims:begin -->\n\n<!-- claims:begin -->\n", "<!-- claims:end -->\n\n\ttabs, trailing blanks  \nno last line break: \xff"
	for _, old := range []string{"", "old table\nof two lines\n", handMade().Markdown()} {
		if err := os.WriteFile(path, []byte(head+old+tail), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := CheckClaims(path); err != nil {
			t.Fatal(err)
		}
		if err := handMade().RewriteClaims(path); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != head+handMade().Markdown()+tail {
			t.Errorf("over %q: %q, %v", old, got, err)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("its permissions became %v, %v", info.Mode(), err)
	}
}

func TestRewriteClaimsRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "README.md")
	for name, text := range map[string]string{
		"no markers": "text\n", "no end": "<!-- claims:begin -->\n", "no begin": "<!-- claims:end -->\n",
		"reversed": "<!-- claims:end -->\n<!-- claims:begin -->\n", "twice": strings.Repeat("<!-- claims:begin -->\n<!-- claims:end -->\n", 2),
		"not lines": "see <!-- claims:begin -->\nand <!-- claims:end -->\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{CheckClaims(path), handMade().RewriteClaims(path)} {
			demand.Error(t, err, path, "<!-- claims:begin -->", "<!-- claims:end -->")
			if !errors.Is(err, usage.Err) {
				t.Errorf("%s: %v is no mistake of the user's", name, err)
			}
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("%s: the file became %q, %v", name, got, err)
		}
	}
	if err := CheckClaims(path + ".txt"); !errors.Is(err, usage.Err) {
		t.Errorf("no such file: %v", err)
	}
}

// TestReadme: the table in README.md is that of the committed results.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	before, after, err := splitClaims(readme)
	if err != nil {
		t.Fatalf("README.md: %v", err)
	}
	if !strings.Contains(string(readme), BibTeX) {
		t.Error("README.md cites the paper in other words than the report")
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "figures", "gallery", "verify.json"))
	if err != nil {
		t.Fatal(err)
	}
	var v Verification
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	if got := string(readme[len(before) : len(readme)-len(after)]); got != v.Markdown() {
		t.Errorf("README.md differs from figures/gallery/verify.json: make both by `%s --out figures/gallery/verify.json --readme README.md`", v.Command)
	}
}
