package natural

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"tvps/data/artifact"
	"tvps/figures"
	"tvps/replicate/tables"
)

// Leader is a rule over several tables.
type Leader struct {
	Rule   string
	Regret float64 // mean over tables
	Median float64 // of the regrets
	// Lowest counts the tables where it has the lowest loss; Won and Lost those where its interval against tuned
	// forgetting excludes 0.
	Lowest, Won, Lost int
	Worst             tables.Interval // against tuned forgetting, of the table with the highest lower end
	WorstAt           string          // this table
}

func median[T int | float64](values []T) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (float64(sorted[n/2]) + float64(sorted[(n-1)/2])) / 2
}

// Leaders orders the rules that all tables have by their mean regret, the lowest first.
func Leaders(all []*Losses) (leaders []Leader) {
	if len(all) == 0 {
		return nil
	}
	n := float64(len(all))
	for _, rule := range all[0].Rules {
		if slices.ContainsFunc(all, func(l *Losses) bool { return l.of(rule) == nil }) {
			continue
		}
		x := Leader{Rule: rule}
		var regrets []float64
		for i, l := range all {
			regrets = append(regrets, l.regret(rule))
			x.Regret += l.regret(rule) / n
			if l.best() == rule {
				x.Lowest++
			}
			d := l.Against(rule, tables.Forgetting)
			if d.High < 0 {
				x.Won++
			}
			if d.Low > 0 {
				x.Lost++
			}
			if i == 0 || d.Low > x.Worst.Low {
				x.Worst, x.WorstAt = d, l.Table.Name
			}
		}
		x.Median = median(regrets)
		leaders = append(leaders, x)
	}
	slices.SortStableFunc(leaders, func(a, b Leader) int { return cmp.Compare(a.Regret, b.Regret) })
	return leaders
}

// Of takes the losses of a suite on the tables that keep accepts.
func Of(all []*Losses, suite string, keep func(Table) bool) []*Losses {
	return slices.DeleteFunc(slices.Clone(all), func(l *Losses) bool {
		return l.Suite.Name != suite || l.Table.Test || !keep(l.Table)
	})
}

// The tables that conclusions rest on.
var (
	drifting = func(t Table) bool { return !t.Null }
	choosing = func(t Table) bool { return !t.Null && !t.Quoted() }
	quoting  = func(t Table) bool { return !t.Null && t.Quoted() }
	null     = func(t Table) bool { return t.Null }
)

// Advice is what the benchmark concludes, by what the document declares.
type Advice struct {
	Rule                string  // with the lowest mean regret on the tables that choose; empty without such tables
	Quoted              int     // other tables
	Ahead, Behind       int     // of them: better than tuned forgetting by an interval; worse by more than tolerance
	Regret, Forgetting  float64 // mean on them: of the rule, and of tuned forgetting
	Safe, Better, Third bool    // the three aims
}

// tolerance is how far behind tuned forgetting the advised rule may be, relative to its loss.
const tolerance = .005

// Advise chooses a rule in a suite on one half of the tables, and judges it on the other.
func Advise(all []*Losses, suite string) (a Advice) {
	chosen, quoted := Leaders(Of(all, suite, choosing)), Of(all, suite, quoting)
	if len(chosen) == 0 || len(quoted) == 0 {
		return a
	}
	a.Rule, a.Quoted = chosen[0].Rule, len(quoted)
	for _, l := range quoted {
		d := l.Against(a.Rule, tables.Forgetting)
		if d.High < 0 {
			a.Ahead++
		}
		if d.Low > tolerance {
			a.Behind++
		}
		a.Regret += l.regret(a.Rule) / float64(len(quoted))
		a.Forgetting += l.regret(tables.Forgetting) / float64(len(quoted))
	}
	a.Safe, a.Better, a.Third = a.Behind == 0, 2*a.Ahead >= a.Quoted, 3*a.Regret < a.Forgetting
	return a
}

// String is the advice in sentences.
func (a Advice) String() string {
	if a.Rule == "" {
		return "Nothing is advised: there are not both tables to choose on and tables to quote."
	}
	met := func(ok bool) string {
		if ok {
			return "met"
		}
		return "not met"
	}
	return fmt.Sprintf("Chosen on one half of the tables: **%s**. On the %d others it is more than .5%% behind tuned forgetting "+
		"on %d (aim: none, %s) and ahead by an interval on %d (aim: half, %s); its mean regret is %s, that of tuned forgetting "+
		"%s (aim: under a third, %s).", a.Rule, a.Quoted, a.Behind, met(a.Safe), a.Ahead, met(a.Better), percent(a.Regret),
		percent(a.Forgetting), met(a.Third))
}

// short has four digits at most, if they are enough: a cell of the picture is as wide.
func short(v float64) string {
	decimals := 2
	for limit := 10.; v >= limit && decimals > 0; limit *= 10 {
		decimals--
	}
	return fmt.Sprintf("%.*f", decimals, v)
}

func percent(v float64) string { return fmt.Sprintf("%.2f%%", 100*v) }

// relative is an interval in percent.
func relative(i tables.Interval) string {
	return fmt.Sprintf("%+.2f%% [%+.2f, %+.2f]", 100*i.Mean, 100*i.Low, 100*i.High)
}

// Report draws pictures and a page for each table to the folder, and returns the text of the main page, Markdown.
func Report(folder string, all []*Losses) (string, error) {
	var b strings.Builder
	for i, s := range Suites {
		found := Of(all, s.Name, drifting)
		if len(found) == 0 {
			continue
		}
		leaders := Leaders(found)
		name := "regrets-" + s.Name
		if err := artifact.Replace(filepath.Join(folder, name+".svg"), regrets(found, leaders), 0o644); err != nil {
			return "", err
		}
		profile, err := figures.SVG(profiles(found, leaders))
		if err != nil {
			return "", err
		}
		if err := artifact.Replace(filepath.Join(folder, "profile-"+s.Name+".svg"), profile, 0o644); err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "\n### %s, %d tables\n\n", s.Name, len(found))
		fmt.Fprintf(&b, "![Regrets of all rules on all tables](%s.svg)\n\n", name)
		if i == 0 {
			without := func(drop func(Table) bool) Advice {
				return Advise(slices.DeleteFunc(slices.Clone(all), func(l *Losses) bool { return drop(l.Table) }), s.Name)
			}
			fmt.Fprintf(&b, "%s\n\n%s\n\n%s\n\n", wrapped(Advise(all, s.Name).String()),
				wrapped("Without the quoted tables that were seen before: "+
					without(func(t Table) bool { return t.Seen && t.Quoted() }).String()),
				wrapped("Without occupancy, which was not declared: "+
					without(func(t Table) bool { return t.Name == "occupancy" }).String()))
		}
		b.WriteString(board(leaders) + "\n" + nulls(Of(all, s.Name, null)))
		fmt.Fprintf(&b, "![Share of tables by regret](profile-%s.svg)\n", s.Name)
		if len(s.Kinds) > 0 {
			b.WriteString("\n" + whereOmega(all, s.Name))
		}
	}
	for _, t := range Tables {
		own := slices.DeleteFunc(slices.Clone(all), func(l *Losses) bool { return l.Table.Name != t.Name })
		if len(own) == 0 {
			continue
		}
		if err := page(folder, t, own); err != nil {
			return "", err
		}
	}
	return b.String() + "\n" + list(all) + missing(all), nil
}

// missing says which tables a suite lacks.
func missing(all []*Losses) string {
	b := "\n"
	for _, s := range Suites {
		var left []string
		for _, t := range Tables {
			if !t.Test && len(Of(all, s.Name, func(o Table) bool { return o.Name == t.Name })) == 0 {
				left = append(left, t.Name)
			}
		}
		if len(left) == len(Tables)-1 { // all but the one for tests
			left = []string{"all tables"}
		}
		if left != nil {
			b += wrapped("Not run yet, "+s.Name+": "+strings.Join(left, ", ")+".") + "\n\n"
		}
	}
	return b
}

// board is the table of the leaders.
func board(leaders []Leader) string {
	var b strings.Builder
	b.WriteString("| rule | mean regret | median | lowest loss | won | lost | against tuned forgetting, highest lower end |\n" +
		"|---|---|---|---|---|---|---|\n")
	for _, x := range leaders {
		worst := ""
		if x.Rule != tables.Forgetting {
			worst = fmt.Sprintf("%s, %s", relative(x.Worst), x.WorstAt)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %d | %d | %d | %s |\n", x.Rule, percent(x.Regret), percent(x.Median), x.Lowest, x.Won,
			x.Lost, worst)
	}
	return b.String()
}

// nulls says which rules are better than equal weights where there is no drift.
func nulls(all []*Losses) string {
	var b strings.Builder
	for _, l := range all {
		var better []string
		for _, rule := range l.Rules {
			if d := l.Against(rule, tables.Uniform); rule != tables.Uniform && d.High < 0 {
				better = append(better, rule+" "+relative(d))
			}
		}
		if better == nil {
			better = []string{"none"}
		}
		fmt.Fprintf(&b, "Without drift, %s: better than equal weights by an interval: %s.\n\n", l.Table.Name,
			strings.Join(better, "; "))
	}
	return b.String()
}

// list is the table of the tables.
func list(all []*Losses) string {
	var b strings.Builder
	b.WriteString("### The tables\n\n| table | what | blocks | half | best in hindsight | licence |\n|---|---|---|---|---|---|\n")
	for _, t := range Tables {
		if t.Test {
			continue
		}
		best, half, name := "not run", "chooses", t.Name
		if slices.ContainsFunc(all, func(l *Losses) bool { return l.Table.Name == t.Name }) {
			name = fmt.Sprintf("[%s](%s/README.md)", t.Name, t.Name)
		}
		if found := Of(all, Suites[0].Name, func(o Table) bool { return o.Name == t.Name }); len(found) > 0 {
			best = found[0].best()
		}
		if t.Quoted() {
			half = "quoted"
		}
		if t.Null {
			half = "null"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", name, t.What, t.Bin, half, best, t.Licence)
	}
	return b.String()
}

// page writes the page of a table, with its chart.
func page(folder string, t Table, all []*Losses) error {
	if err := artifact.MakeFolder(filepath.Join(folder, t.Name)); err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n\n", t.Name, wrapped(t.What+" Source: "+t.Source+". Licence: "+t.Licence+". Blocks: "+t.Bin+
		"."+sentence(" Left out: ", t.Without)))
	picture, err := figures.SVG(course(all[0]))
	if err != nil {
		return err
	}
	if err := artifact.Replace(filepath.Join(folder, t.Name, "chart.svg"), picture, 0o644); err != nil {
		return err
	}
	fmt.Fprintf(&b, "![Loss over time, %s](chart.svg)\n\n", all[0].Suite.Name)
	for _, l := range all {
		fmt.Fprintf(&b, "## %s\n\n%d test blocks, %s to %s.\n\n", l.Suite.Name, len(l.Times), l.Times[0], l.Times[len(l.Times)-1])
		fmt.Fprintf(&b, "| rule | %s | regret | against equal weights | against tuned forgetting |\n|---|---|---|---|---|\n", l.Metric)
		for _, x := range Leaders([]*Losses{l}) {
			fmt.Fprintf(&b, "| %s | %.5g | %s | %s | %s |\n", x.Rule, l.mean(x.Rule), percent(x.Regret),
				unless(x.Rule == tables.Uniform, relative(l.Against(x.Rule, tables.Uniform))),
				unless(x.Rule == tables.Forgetting, relative(l.Against(x.Rule, tables.Forgetting))))
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "Intervals: 95%%, of the mean over rows, by runs of consecutive test blocks. By test block: the CSV files "+
		"here.\n\n```\ngo run ./replicate naturaldrift --table %s\n```\n", t.Name)
	return artifact.Replace(filepath.Join(folder, t.Name, "README.md"), []byte(b.String()), 0o644)
}

func unless(not bool, text string) string {
	if not {
		return ""
	}
	return text
}

// sentence is a part of a paragraph, empty without content.
func sentence(begin, content string) string {
	if content == "" {
		return ""
	}
	return begin + content + "."
}

// wrapped breaks a paragraph into lines of at most 120 characters.
func wrapped(text string) string {
	var b strings.Builder
	length := 0
	for _, word := range strings.Fields(text) {
		if length > 0 && length+1+len(word) > 120 {
			b.WriteString("\n")
			length = 0
		} else if length > 0 {
			b.WriteString(" ")
			length++
		}
		b.WriteString(word)
		length += len(word)
	}
	return b.String()
}

// mostCurves is the number of rules in a chart.
const mostCurves = 8

// profiles is the chart of the share of tables on which a rule's regret is at most x, for the first leaders and the
// rules that others are compared with.
func profiles(all []*Losses, leaders []Leader) (figures.Figure, figures.Panel) {
	p := figures.Panel{Key: "a", Title: "Share of tables with at most so much regret", XLabel: "regret, % of the loss of equal weights",
		YLabel: "share of tables", Share: true}
	var thresholds []float64
	for x := 0.; x <= 10; x += .25 {
		thresholds = append(thresholds, x)
	}
	for i, x := range curves(leaders) {
		s := figures.Series{Name: x.Rule, Label: x.Rule, Color: figures.Others[i]}
		for _, most := range thresholds {
			share := 0.
			for _, l := range all {
				if 100*l.regret(x.Rule) <= most {
					share += 1 / float64(len(all))
				}
			}
			s.Points = append(s.Points, figures.Point{X: most, Mean: share, Low: share, High: share})
		}
		p.Series = append(p.Series, s)
	}
	return figures.Figure{Name: "profile", Title: p.Title, Panels: []figures.Panel{p}}, p
}

// curves takes the rules of a chart: equal weights, tuned forgetting and window, and the best others.
func curves(leaders []Leader) []Leader {
	out := slices.Clone(leaders)
	for i := len(out) - 1; i >= 0 && len(out) > mostCurves; i-- {
		if !slices.Contains([]string{tables.Uniform, tables.Forgetting, tables.Window}, out[i].Rule) {
			out = slices.Delete(out, i, i+1)
		}
	}
	return out
}

// course is the chart of the mean loss up to each test block, relative to that of tuned forgetting.
func course(l *Losses) (figures.Figure, figures.Panel) {
	p := figures.Panel{Key: "a", Title: l.Table.Name + ", " + l.Suite.Name + ": mean " + strings.ReplaceAll(l.Metric, "-", " ") +
		" up to each test block", XLabel: "test block", YLabel: "minus tuned forgetting", XNames: l.Times,
		Reference: &figures.Reference{Value: 0, Label: tables.Forgetting, Color: "#777777"}}
	color := 0
	for _, x := range curves(Leaders([]*Losses{l})) {
		if x.Rule == tables.Forgetting {
			continue
		}
		p.Series = append(p.Series, tables.Course(x.Rule, figures.Others[color], l.of(x.Rule), l.of(tables.Forgetting), l.Rows))
		color++
	}
	return figures.Figure{Name: "course", Title: p.Title, Panels: []figures.Panel{p}}, p
}

// regrets draws the regret of each rule (row) on each table (column), in percent, as SVG. The darker, the worse; a mark
// shows where a rule is better or worse than tuned forgetting by an interval.
func regrets(all []*Losses, leaders []Leader) []byte {
	left := 100
	for _, leader := range leaders {
		left = max(left, 10+7*len(leader.Rule))
	}
	g := figures.Grid{Title: "Regrets in percent", Columns: append([]string{"mean"}, names(all)...), Left: left, Wide: 58,
		Legend: [][2]string{{"", "% of the loss of equal weights above the best rule in hindsight"},
			{"+", "better than tuned forgetting (95%)"}, {"−", "worse"}}}
	cell := func(regret float64, mark string) figures.GridCell {
		shade := 255 - int(min(1, 10*regret)*150)
		return figures.GridCell{Text: short(100*regret) + mark, Fill: fmt.Sprintf("#%02x%02xff", shade, shade), Ink: "#000000"}
	}
	for _, leader := range leaders {
		row := []figures.GridCell{cell(leader.Regret, "")}
		for _, l := range all {
			mark, d := "", l.Against(leader.Rule, tables.Forgetting)
			if d.High < 0 {
				mark = " +"
			} else if d.Low > 0 {
				mark = " −"
			}
			row = append(row, cell(l.regret(leader.Rule), mark))
		}
		g.Rows, g.Cells = append(g.Rows, leader.Rule), append(g.Cells, row)
	}
	return g.SVG()
}

func names(all []*Losses) (out []string) {
	for _, l := range all {
		out = append(out, l.Table.Name)
	}
	return out
}
