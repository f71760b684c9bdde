package lab

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tvps/ci/research/grid"
	"tvps/data/statistics"
	"tvps/figures"
	"tvps/replicate/claims"
	"tvps/replicate/paper"
)

// The generated parts of README.md and of the gallery's pages: TestGeneratedTables compares them with the committed
// verdicts, and writes them with -update.

// cell escapes a text for a cell: bars, HTML and emphasis.
func cell(text string) string {
	return strings.NewReplacer("|", "\\|", "<", "&lt;", ">", "&gt;", "*", "\\*", "_", "\\_").Replace(text)
}

// with returns the table with the verdicts of trained instead of its own, and a note that says so and which verdicts of
// its own are others.
func with(v, trained claims.Verification) (all claims.Verification, note string) {
	var numbers []string
	for _, f := range trained.Figures {
		numbers = append(numbers, fmt.Sprint(f.Number))
	}
	all = v.With(trained)
	note = fmt.Sprintf(" Figures %s are counted at the scale %s.", strings.Join(numbers, ", "), trained.Scale)
	if others := others(v, all); len(others) > 0 {
		note += fmt.Sprintf(" Judged otherwise at the scale %s (%s in brackets): %s.", v.Scale, trained.Scale, strings.Join(others, "; "))
	}
	return all, note
}

// others lists the claims that a table judges otherwise than another one, whichever side that favours. What it does not
// judge, or what is not run in the other, is none.
func others(v, larger claims.Verification) (out []string) {
	for i, c := range v.Claims {
		is, was := larger.Claims[i].Verdict, c.Verdict
		if was != is && is != claims.NotRun && !slices.Contains([]string{string(claims.NotRun), "not judged"}, was.Short()) {
			out = append(out, fmt.Sprintf("`%s` %s (%s)", c.ID, was, is))
		}
	}
	return out
}

// summary returns a table of thumbnails in Markdown: each figure's first picture in the gallery, and its claims by
// verdict, without those that do not count. Above it are Figure 1b and a line that counts all. trained is as for
// galleryText: what it has is shown and counted at its scale.
func summary(v, trained claims.Verification) string {
	all, _ := with(v, trained)
	picture := func(figure, panel string, width int, alt string) string {
		folder := figure
		if len(trained.Of(figure)) > 0 {
			folder = "medium/" + figure
		}
		return fmt.Sprintf(`<img src="figures/gallery/%s/%s-%s.svg" width="%d" alt="%s">`, folder, figure, panel, width, alt)
	}
	rows := [][]string{make([]string, 4)} // without a head
	for row := range slices.Chunk(v.Figures, 4) {
		var cells []string
		for _, f := range row {
			_, subject, _ := strings.Cut(f.Title, ": ")
			counted := slices.DeleteFunc(all.Of(f.Name), func(c claims.Judged) bool { return c.New })
			cells = append(cells, fmt.Sprintf("[%s<br>%d: %s](figures/gallery/README.md#%s)<br>%s", picture(f.Name, "a", 170, ""),
				f.Number, cell(subject), anchor(f.Title), withoutNumber(claims.Show(counted, noPanels).Tally)))
		}
		rows = append(rows, cells)
	}
	text := claims.Total(all.Claims)
	differ, unjudged := 0, 0 // of the counted claims
	for i, c := range v.Claims {
		if is := all.Claims[i]; !c.New && is.Twin == "" && is.Verdict != claims.NotRun && is.Verdict != c.Verdict {
			if c.Verdict.Short() == "not judged" {
				unjudged++
			} else {
				differ++
			}
		}
	}
	if differ+unjudged > 0 {
		text += fmt.Sprintf(". At the scale %s %d of them have another verdict, and %d are not judged", v.Scale, differ, unjudged)
	}
	return fmt.Sprintf("%s\n\n**%s.**\n\n%s", picture("fig01", "b", 720, "Figure 1b"), text, grid.Markdown(rows))
}

// answers returns README.md's table of differences in Markdown: of learners on streams, in points of accuracy. A cell
// is the effect of a claim's part, or that of the gallery's table at the level of the panel's claims. A mean whose
// interval excludes 0 is bold.
func answers(t *testing.T) string {
	t.Helper()
	streams := []struct{ title, panel, standard string }{
		{"Gaussian", "medium/fig01/fig01-a.csv", "fig05/fig05-c.csv"},
		{"CIFAR-10a", "medium/fig01/fig01-b.csv", ""},
		{"CIFAR-10b", "medium/fig01/fig01-c.csv", "medium/fig03/fig03-a.csv"},
		{"CIFAR-10b†", "fig01/fig01-c.csv", "fig03/fig03-a.csv"},
		{"CIFAR-10c†", "fig06/fig06-a.csv", ""},
	}
	learners := map[string]string{"Ours": "ours", "Everything": "everything", "Recent": "recent", "Fine-tune": "finetune",
		"the standard score": "standard", "no adaptation": "pretrained"}
	judged := judgedDifferences(t)
	rows := [][]string{{"in points of accuracy"}}
	for _, s := range streams {
		rows[0] = append(rows[0], s.title)
	}
	for _, pair := range [][2]string{{"Ours", "Everything"}, {"Ours", "Recent"}, {"Ours", "Fine-tune"},
		{"Ours", "the standard score"}, {"Ours", "no adaptation"}, {"Recent", "Everything"}, {"Fine-tune", "Everything"}} {
		row := []string{pair[0] + " minus " + pair[1]}
		for _, s := range streams {
			panel := s.panel
			if pair[1] == "the standard score" {
				panel = s.standard
			}
			row = append(row, gain(t, panel, paper.Part{Series: learners[pair[0]], Base: learners[pair[1]]}, judged[panel]))
		}
		rows = append(rows, row)
	}
	return grid.Markdown(rows)
}

// judgedDifferences are the parts of claims that are differences of accuracy, by the panel's table in the gallery.
func judgedDifferences(t *testing.T) map[string][]claims.JudgedPart {
	t.Helper()
	out := map[string][]claims.JudgedPart{}
	for folder, v := range map[string]claims.Verification{"": committed(t, gallery), "medium": committed(t, medium)} {
		for _, c := range v.Claims {
			for _, p := range c.Parts {
				if p.Metric.Name == "accuracy" && cmp.Or(p.Statistic, paper.Difference) == paper.Difference {
					table := filepath.Join(folder, c.Figure, fmt.Sprintf("%s-%s.csv", c.Figure, p.Panel))
					out[table] = append(out[table], p)
				}
			}
		}
	}
	return out
}

// gain is a cell of answers: the difference of two learners in a panel's table; empty if one of them is not in it.
func gain(t *testing.T, table string, pair paper.Part, judged []claims.JudgedPart) string {
	t.Helper()
	if table == "" {
		return ""
	}
	rows := folderRows(t, filepath.Join(gallery, filepath.Dir(table)), filepath.Base(table))
	if !slices.ContainsFunc(rows, func(r figures.Row) bool { return r.Series == pair.Base }) {
		return ""
	}
	var e statistics.Estimate
	if i := slices.IndexFunc(judged, func(p claims.JudgedPart) bool { return p.Series == pair.Series && p.Base == pair.Base }); i >= 0 {
		e = judged[i].Effect
	} else {
		e = sampledEffect(t, rows, pair.Series, pair.Base)(cmp.Or(judged[0].Level, statistics.Level))
	}
	mean, low, high := figures.Short(e, figures.Points)
	if e.Low > 0 || e.High < 0 {
		mean = "**" + mean + "**"
	}
	return fmt.Sprintf("%s<br>[%s, %s]", mean, low, high)
}

// withoutNumber is a tally without the number of all claims.
func withoutNumber(tally string) string {
	if _, verdicts, ok := strings.Cut(tally, " claims: "); ok {
		return verdicts
	}
	return strings.Replace(tally, "1 claim ", "1 ", 1)
}

// noPanels is for Show where no command is printed.
func noPanels(string) string { return "" }

// galleryText returns the text of a gallery in Markdown: for each figure the sentence that answers its question, its
// pictures in the folder dir, the command that makes it, and its claims, folded. trained has the figures at the scale
// medium of which claims were run, whose gallery is the folder "medium": they replace those of v, and link to both.
func galleryText(v claims.Verification, declared []paper.Figure, dir string, trained claims.Verification) string {
	var b strings.Builder
	all, note := with(v, trained)
	fmt.Fprintf(&b, "%s. %s%s Made by `%s`.\n", claims.Total(all.Claims), strings.Join(all.Basis(), " "), note, v.Command)
	first := map[string]int{} // the first figure with a caption, by it
	for i, f := range v.Figures {
		at := slices.IndexFunc(declared, func(d paper.Figure) bool { return d.Number == f.Number })
		if at < 0 {
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n\n", f.Title)
		shown := v.Shown(declared[at], f.Command)
		caption := strings.ReplaceAll(declared[at].Caption, " "+paper.Bands, "") + " " // said once, above all figures
		if same, ok := first[caption]; ok {
			caption = fmt.Sprintf("Axes as in Figure %d. ", same)
		} else {
			first[caption] = f.Number
		}
		if len(trained.Of(f.Name)) == 0 {
			fmt.Fprintf(&b, "%s\n\n%s", section(v, i, shown.Answer, caption, dir, f.Name), folded(shown))
			continue
		}
		larger := slices.IndexFunc(trained.Figures, func(s claims.State) bool { return s.Number == f.Number })
		judged := all.Shown(declared[at], "")
		fmt.Fprintf(&b, "%s [%s](medium/README.md#%s). At the scale %s: [pictures and claims](%s).\n",
			section(trained, larger, judged.Answer, caption, dir, "medium/"+f.Name), judged.Tally, anchor(f.Title), v.Scale, f.Name)
	}
	return b.String()
}

// claimsText returns the text of a gallery whose answers and pictures another one shows: the claims of each figure.
func claimsText(v claims.Verification, declared []paper.Figure) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s. %s Made by `%s`.\n", claims.Total(v.Claims), strings.Join(v.Basis(), " "), v.Command)
	for _, f := range v.Figures {
		at := slices.IndexFunc(declared, func(d paper.Figure) bool { return d.Number == f.Number })
		fmt.Fprintf(&b, "\n## %s\n\n`%s`.\n\n%s", f.Title, f.Command, folded(v.Shown(declared[at], f.Command)))
	}
	return b.String()
}

// section is the text of a figure, whose files lie in a folder, without its claims.
func section(v claims.Verification, i int, answer []figures.Answer, caption, dir, folder string) string {
	var b strings.Builder
	for i, a := range answer {
		if i > 0 {
			b.WriteString(" ")
		}
		fmt.Fprintf(&b, "**%s:** %s.", sentenceCase(a.Verdict.Word), cell(a.Text))
	}
	b.WriteString("\n\n")
	drawn, _ := fs.Glob(os.DirFS(dir), folder+"/*.svg") // sorted by name; none without the folder
	for _, picture := range drawn {
		fmt.Fprintf(&b, "<img src=\"%s\" alt=\"%s\" width=\"49%%\">\n", picture, strings.TrimSuffix(filepath.Base(picture), ".svg"))
	}
	fmt.Fprintf(&b, "\n%s`%s`.", caption, v.Figures[i].Command)
	if len(drawn) > 0 {
		fmt.Fprintf(&b, " [Claims](%s/claims.json).", folder)
	}
	return b.String()
}

// folded is the table of a figure's claims.
func folded(shown figures.Figure) string {
	rows := [][]string{{"verdict", "claim", "measured here"}}
	for _, line := range figures.Lines(shown.Claims) {
		measured := line.String()
		if len(line.Parts) == 0 {
			measured = "" // it is the command
		}
		rows = append(rows, []string{"**" + line.Verdict.Word + "**", cell(line.Text), cell(measured)})
	}
	return fmt.Sprintf("<details><summary>%s</summary>\n\n%s\n</details>\n", shown.Tally, grid.Markdown(rows))
}

// sentenceCase is the text with a capital at its beginning.
func sentenceCase(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

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
