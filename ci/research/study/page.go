package study

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tvps/ci/research/grid"
	"tvps/replicate/claims"
	"tvps/replicate/paper"
	"tvps/replicate/runs"
)

// verdictLook is how table and picture show a verdict.
type verdictLook struct {
	Verdict          claims.Verdict
	Mark, Color, Ink string
	Text             string
}

// verdictLooks can be told apart with red- and green-blindness, and by their marks alone.
var verdictLooks = []verdictLook{
	{claims.Holds, "+", "#0072b2", "#ffffff", "holds"},
	{claims.Partly, "+/-", "#56b4e9", "#000000", "holds partly"},
	{claims.NoDifference, "=", "#f0e442", "#000000", "no difference of more than the margin"},
	{claims.DoesNotHold, "-", "#d55e00", "#ffffff", "does not hold"},
	{claims.Undecided, "?", "#d9d9d9", "#000000", "undecided"},
	{claims.NotRun, "", "#ffffff", "#000000", "not run"},
	{"", ".", "#ffffff", "#595959", "same runs as by default"},
}

func lookOf(v claims.Verdict) verdictLook {
	i := slices.IndexFunc(verdictLooks, func(l verdictLook) bool { return l.Verdict == v })
	if i < 0 {
		i = slices.IndexFunc(verdictLooks, func(l verdictLook) bool { return l.Verdict == claims.NotRun })
	}
	return verdictLooks[i]
}

// under lists the readings with a verdict on a claim, the default as "default", with the means of its parts.
func (v verdictsByReading) under(id string, verdict claims.Verdict) []string {
	var out []string
	for _, r := range v.Readings {
		if r.verdict(id) == verdict {
			out = append(out, fmt.Sprintf("%s (%s)", r.Name, r.Claims[id].Effects()))
		}
	}
	return out
}

// markdown is the page: the answer, the picture, what depends on the reading, and what the readings are.
func (v verdictsByReading) markdown() string {
	dependent := v.dependent()
	differ := [][]string{{"claim", "holds", "does not hold"}}
	for _, c := range dependent {
		differ = append(differ, []string{fmt.Sprintf("`%s`: %s", c.ID, c.Text), strings.Join(v.under(c.ID, claims.Holds), ", "),
			strings.Join(v.under(c.ID, claims.DoesNotHold), ", ")})
	}
	readings := [][]string{{"reading", "about", "settings", "seeds"}}
	for _, r := range v.Readings[defaults:] {
		readings = append(readings, []string{r.Name + ": " + r.Text, r.About, "`" + strings.Join(r.Set, " ") + "`", r.Seeds})
	}
	return fmt.Sprintf(readingsTitle+"\n\n"+
		"The paper leaves points open ([interpretations](../../../../replicate/paper/INTERPRETATIONS.md)). Does it\n"+
		"matter how they are read?\n\n**Of %s, %d hold under one reading and do not hold under another.** With the\n"+
		"same seeds, the verdict on %d of them is another than by default under at least one reading, if only undecided.\n\n"+
		"![Verdicts by claim and reading](%s.svg)\n\n"+
		"A row is a claim, a column a [reading](#the-readings). *Default* has the [gallery's](../../README.md)\n"+
		"verdicts at the scale small, *same seeds* those of the default with the seeds and steps of the readings. Left out are\n"+
		"robots (three seeds decide nothing), Figure 12 (it repeats Figure 1) and Figures 6, 8, 9 and 13 (they take long). An\n"+
		"empty cell was not run; `literal-passes` has many, as it passes 200 times over the whole past at every step.\n"+
		"\n## Claims that depend on the reading\n\n%s\n## The readings\n\n"+
		"A reading changes these settings and no others.\n\n%s\n"+
		"`go run ./ci/research readings` makes this page, with the runs in `%s.csv.gz`.\n",
		runs.Plural(len(v.claims), "claim"), len(dependent), v.moved(), readingName,
		grid.Markdown(differ), grid.Markdown(readings), readingName)
}

// moved counts the claims that have another verdict under some reading than by default with the same seeds.
func (v verdictsByReading) moved() (n int) {
	for _, c := range v.claims {
		if slices.ContainsFunc(v.Readings[defaults:], func(r judgedReading) bool {
			now := r.verdict(c.ID)
			return lookOf(now).Mark != "" && now != "" && now != v.Readings[defaults-1].verdict(c.ID)
		}) {
			n++
		}
	}
	return n
}

// dependent lists the claims that hold under one reading and do not hold under another.
func (v verdictsByReading) dependent() []paper.Claim {
	return slices.DeleteFunc(slices.Clone(v.claims), func(c paper.Claim) bool {
		return len(v.under(c.ID, claims.Holds)) == 0 || len(v.under(c.ID, claims.DoesNotHold)) == 0
	})
}

// svg is the picture: a row for each claim, a column for each reading.
func (v verdictsByReading) svg() []byte {
	g := grid.Grid{Title: "Verdicts by claim and reading", Left: 190, Wide: 40}
	for _, r := range v.Readings {
		g.Columns = append(g.Columns, r.Name)
	}
	for _, c := range v.claims {
		g.Rows, g.About = append(g.Rows, c.ID), append(g.About, c.Text)
		var row []grid.Cell
		for _, r := range v.Readings {
			look := lookOf(r.verdict(c.ID))
			row = append(row, grid.Cell{Text: look.Mark, Fill: look.Color, Ink: look.Ink,
				About: fmt.Sprintf("%s: %s %s", r.Name, look.Text, r.Claims[c.ID].Effects())})
		}
		g.Cells = append(g.Cells, row)
	}
	for _, look := range verdictLooks {
		if look.Mark != "" {
			g.Legend = append(g.Legend, [2]string{look.Mark, cmp.Or(look.Verdict.Short(), look.Text)})
		}
	}
	return g.SVG()
}
