package claims

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tvps/replicate/experiment"
	"tvps/replicate/paper"
)

// cell escapes a text for a cell: bars, HTML and emphasis.
func cell(text string) string {
	return strings.NewReplacer("|", "\\|", "<", "&lt;", ">", "&gt;", "*", "\\*", "_", "\\_").Replace(text)
}

// effects returns the effects of a claim in lines: the statistic, once if its parts share it, and each panel's effect;
// or the command that computes the missing runs.
func effects(f State, c Judged) string {
	if c.Verdict == NotRun {
		return "`" + f.Command + "`"
	}
	var out []string
	statistic := ""
	parts := c.Shown()
	for _, p := range parts {
		if what(p.Part) != statistic {
			statistic = what(p.Part)
			out = append(out, statistic+":")
		}
		text := fmt.Sprintf("%s: %s %s", p.panel(), Signed(p.Effect.Mean), p.Interval())
		if len(parts) > 1 {
			text += ", " + p.Result()
		}
		out = append(out, text)
	}
	return strings.ReplaceAll(cell(strings.Join(out, "\n")), "\n", "<br>")
}

// Summary returns a table of thumbnails in Markdown: each figure's first picture in the gallery, and how many of its
// claims hold.
func (v Verification) Summary() string {
	if stored, _ := v.Stored(); stored == 0 {
		return fmt.Sprintf("Nothing is stored at the scale %s: `%s` computes the runs, and `%s` judges the claims.\n",
			v.Scale, v.All(), v.Command)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "**%s.**\n\n| | | | |\n|---|---|---|---|\n", CountVerdicts(v.Claims))
	for row := range slices.Chunk(v.Figures, 4) {
		for _, f := range row {
			_, subject, _ := strings.Cut(f.Title, ": ")
			fmt.Fprintf(&b, `| [<img src="figures/gallery/%s/%s-a.svg" width="190" alt="">`+"<br>%d: %s](figures/gallery/README.md#%s)<br>%s ",
				f.Name, f.Name, f.Number, cell(subject), anchor(f.Title), tally(v.Of(f.Name)))
		}
		b.WriteString("|\n")
	}
	return b.String()
}

// tally returns CountVerdicts without its head: "2 hold, 1 is undecided".
func tally(claims []Judged) string {
	text := CountVerdicts(claims)
	if _, verdicts, ok := strings.Cut(text, ": "); ok {
		return verdicts
	}
	return strings.Replace(text, " claim ", " ", 1)
}

// Gallery returns the text of a gallery in Markdown, the folder dir: for each figure its pictures there, its verdicts
// and the command that makes it, with its time at the small scale.
func (v Verification) Gallery(figures []paper.Figure, dir string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s. %s Made by `%s`.\n", CountVerdicts(v.Claims), strings.Join(v.Basis(), " "), v.Command)
	for _, f := range v.Figures {
		i := slices.IndexFunc(figures, func(declared paper.Figure) bool { return declared.Number == f.Number })
		if i < 0 {
			continue
		}
		declared := figures[i]
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n`%s`", f.Title, declared.Caption, f.Command)
		if v.Scale == experiment.Small {
			fmt.Fprintf(&b, ": %s on two cores", declared.Time)
		}
		if declared.Shares != "" {
			fmt.Fprintf(&b, ", with runs of figure %s", declared.Shares)
		}
		b.WriteString(".\n")
		if drawn := Pictures(dir, f.Name); len(drawn) > 0 {
			fmt.Fprintf(&b, "[Page](%s/index.html), [claims](%s/claims.json), [provenance](%s/provenance.json).\n\n",
				f.Name, f.Name, f.Name)
			for _, picture := range drawn {
				fmt.Fprintf(&b, "![%s](%s)\n", strings.TrimSuffix(filepath.Base(picture), filepath.Ext(picture)), picture)
			}
		}
		b.WriteString("\n| claim | the paper | here: mean, 95% interval over seeds and steps | verdict |\n|---|---|---|---|\n")
		for _, c := range v.Of(f.Name) {
			fmt.Fprintf(&b, "| %s | %s (%s) | %s | **%s** |\n",
				cell(c.Text), cell(c.Says), cell(c.Place), effects(f, c), c.Result())
		}
	}
	return b.String()
}

// anchor returns the fragment that GitHub derives from a heading.
func anchor(title string) string {
	kept := strings.Map(func(r rune) rune {
		switch {
		case r == ' ', r == '-', r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		}
		return -1
	}, strings.ToLower(title))
	return strings.ReplaceAll(kept, " ", "-")
}

// Pictures lists the PNG pictures in a figure's folder below dir, relative to dir.
func Pictures(dir, figure string) []string {
	var out []string
	entries, _ := os.ReadDir(filepath.Join(dir, figure)) // sorted by name; none without the folder
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) == ".png" {
			out = append(out, figure+"/"+entry.Name())
		}
	}
	return out
}
