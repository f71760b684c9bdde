package lab

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"

	"tvps/replicate/usage"

	"github.com/google/renameio/v2"
)

// The lines of a file between which the table of claims stands.
var (
	claimsBegin = regexp.MustCompile(`(?m)^<!-- claims:begin -->\n`)
	claimsEnd   = regexp.MustCompile(`(?m)^<!-- claims:end -->$`)
)

// Markdown is the table as GitHub shows it: a sentence that says what it rests on, then a
// row for each claim. Without any stored run it is one sentence.
func (v Verification) Markdown() string {
	if stored, _ := v.Stored(); stored == 0 {
		return fmt.Sprintf("Nothing is stored at the scale %s: `%s` computes what the claims need, and `%s --readme README.md` writes their table here.\n", v.Scale, v.All(), v.Command)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s. %s Made by `%s`.\n\n", countVerdicts(v.Claims), strings.Join(v.Basis(), " "), v.Command)
	b.WriteString("| figure | claim | the paper | here: mean over seeds, 95% interval | verdict |\n|---|---|---|---|---|\n")
	for _, f := range v.Figures {
		for _, c := range v.Of(f.Name) {
			fmt.Fprintf(&b, "| %d | %s | %s (%s) | %s | %s |\n", f.Number, cell(c.Text), cell(c.Says), cell(c.Place), measuredCell(f, c), c.Verdict)
		}
	}
	return b.String()
}

// cell keeps a text within its cell: no bar, no HTML.
func cell(text string) string {
	return strings.NewReplacer("|", "\\|", "<", "&lt;", ">", "&gt;", "*", "\\*", "_", "\\_").Replace(text)
}

// measuredCell says what was measured of a claim, or how to compute what is missing.
func measuredCell(f State, c Judged) string {
	if c.Verdict != NotRun {
		return strings.ReplaceAll(cell(strings.Join(measured(c), "\n")), "\n", "<br>")
	}
	return "`" + f.Command + "`"
}

// measured says what was measured of a claim: the statistic, once where its parts share
// it, and each panel's effect.
func measured(c Judged) []string {
	var out []string
	statistic := ""
	for _, p := range c.Parts {
		if what(p.Part) != statistic {
			statistic = what(p.Part)
			out = append(out, statistic+":")
		}
		text := fmt.Sprintf("%s: %s %s", p.panel(), signed(p.Effect.Mean), p.Interval())
		if len(c.Parts) > 1 {
			text += ", " + string(p.Verdict)
		}
		out = append(out, text)
	}
	return out
}

// RewriteClaims puts the table between the markers of a file and leaves all other bytes
// as they are. A file without the two markers, one of each in their order, is a mistake of
// the user's.
func (v Verification) RewriteClaims(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("the file for the table of claims cannot be read: %w", err)
	}
	text, err = replaceClaims(text, v.Markdown())
	if err != nil {
		return usage.Errorf("%s: %w", path, err)
	}
	if err := renameio.WriteFile(path, text, 0o644); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return nil
}

// CheckClaims tells whether a file has the markers for the table of claims.
func CheckClaims(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return usage.Errorf("the file for the table of claims cannot be read: %w", err)
	}
	if _, _, err := splitClaims(text); err != nil {
		return usage.Errorf("%s: %w", path, err)
	}
	return nil
}

func replaceClaims(text []byte, table string) ([]byte, error) {
	before, after, err := splitClaims(text)
	if err != nil {
		return nil, err
	}
	return bytes.Join([][]byte{before, []byte(table), after}, nil), nil
}

// splitClaims returns what stands before and after the table, markers included.
func splitClaims(text []byte) (before, after []byte, err error) {
	begin, end := claimsBegin.FindAllIndex(text, -1), claimsEnd.FindAllIndex(text, -1)
	if len(begin) != 1 || len(end) != 1 || end[0][0] < begin[0][1] {
		return nil, nil, errors.New("it must have the line <!-- claims:begin --> and, below it, the line <!-- claims:end -->, once each")
	}
	return text[:begin[0][1]], text[end[0][0]:], nil
}
