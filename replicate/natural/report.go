package natural

import (
	"cmp"
	"errors"
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
		for _, l := range all {
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

func named(name string) func(Table) bool { return func(t Table) bool { return t.Name == name } }

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
	return fmt.Sprintf("Chosen on one half of the tables: **%s**. On the %d others it is more than .5%% behind tuned forgetting "+
		"on %d (aim: none, %s) and ahead by an interval on %d (aim: half, %s); its mean regret is %s, that of tuned forgetting "+
		"%s (aim: under a third, %s).", a.Rule, a.Quoted, a.Behind, met(a.Safe), a.Ahead, met(a.Better), percent(a.Regret),
		percent(a.Forgetting), met(a.Third))
}

func met(aim bool) string {
	if aim {
		return "met"
	}
	return "not met"
}

func percent(v float64) string { return fmt.Sprintf("%.2f%%", 100*v) }

// relative is an interval in percent.
func relative(i tables.Interval) string {
	return fmt.Sprintf("%+.2f%% [%+.2f, %+.2f]", 100*i.Mean, 100*i.Low, 100*i.High)
}

// Block is a generated part of a page: what stands between the marks of its name.
type Block struct{ Page, Name, Text string }

// Report draws pictures and a page for each table to the folder, and returns the generated parts of the other pages.
func Report(folder string, all []*Losses) ([]Block, error) {
	for i, s := range Suites {
		found := Of(all, s.Name, drifting)
		leaders := Leaders(found)
		if len(found) == 0 {
			continue
		}
		err := artifact.Replace(filepath.Join(folder, "regrets-"+s.Name+".svg"), regrets(found, leaders), 0o644)
		if i == 0 {
			err = errors.Join(err, draw(filepath.Join(folder, "profile.svg"), profiles(found, leaders)))
		}
		if err != nil {
			return nil, err
		}
	}
	for _, t := range Tables {
		own := slices.DeleteFunc(slices.Clone(all), func(l *Losses) bool { return l.Table.Name != t.Name })
		if len(own) > 0 {
			if err := page(folder, t, own); err != nil {
				return nil, err
			}
		}
	}
	withOmega := Of(all, omega.Name, drifting)
	return []Block{
		{"README.md", "leaders", board(Leaders(Of(all, Suites[0].Name, drifting)))},
		{"README.md", "models", verdicts(all)},
		{"models.md", "rules", rules(all) + nulls(all, models) + "\n\n"},
		{"models.md", "aims", aims(all)},
		{"omega.md", "results", board(Leaders(withOmega)) + nulls(all, []Suite{omega}) + "\n" + whereOmega(withOmega) + "\n"},
		{"tables.md", "results", list(all)},
	}, nil
}

// draw writes a chart as SVG.
func draw(path string, p figures.Panel) error {
	picture, err := figures.SVG(figures.Figure{Title: p.Title, Panels: []figures.Panel{p}}, p)
	if err != nil {
		return err
	}
	return artifact.Replace(path, picture, 0o644)
}

// row formats the cells of a row.
func row(cells ...any) (out []string) {
	for _, c := range cells {
		out = append(out, fmt.Sprint(c))
	}
	return out
}

// markdown is a table between blank lines. The first row is its head.
func markdown(rows [][]string) string { return "\n" + figures.Markdown(rows) + "\n" }

// board is the table of the leaders.
func board(leaders []Leader) string {
	rows := [][]string{row("rule", "mean regret", "median", "best on", "won", "lost")}
	for _, x := range leaders {
		rows = append(rows, row("**"+x.Rule+"**: "+about[x.Rule], percent(x.Regret), percent(x.Median), x.Lowest, x.Won, x.Lost))
	}
	return markdown(rows)
}

// byRule finds leaders by their names.
func byRule(leaders []Leader) map[string]Leader {
	found := map[string]Leader{}
	for _, x := range leaders {
		found[x.Rule] = x
	}
	return found
}

// counts are the tables that a rule wins and loses.
func (x Leader) counts() string { return fmt.Sprintf("%d–%d", x.Won, x.Lost) }

// verdict judges a rule over tables, by what the document declares: it wins or loses at least two tables more.
func (x Leader) verdict() string {
	switch {
	case x.Won >= x.Lost+2:
		return "ahead"
	case x.Lost >= x.Won+2:
		return "behind"
	}
	return "no difference"
}

// verdicts compares the models, a row each.
func verdicts(all []*Losses) string {
	rows := [][]string{row("model", "tables", "committee: won–lost", "verdict", "equal weights: won–lost")}
	for _, s := range models {
		found := Of(all, s.Name, drifting)
		rule := byRule(Leaders(found))
		committee := rule[tables.Committee]
		rows = append(rows, row(s.What, len(found), committee.counts(), committee.verdict(), rule[tables.Uniform].counts()))
	}
	return markdown(rows)
}

// column is one of a table whose rows are rules.
type column struct {
	head  string
	rules []string
	cells map[string]string
}

// byColumn is a table with a row for each rule of the columns, in their order.
func byColumn(columns []column) string {
	rows, order := [][]string{row("rule")}, []string{}
	for _, c := range columns {
		rows[0] = append(rows[0], c.head)
		order = append(order, slices.DeleteFunc(slices.Clone(c.rules), func(rule string) bool { return slices.Contains(order, rule) })...)
	}
	for _, rule := range order {
		cells := row(rule)
		for _, c := range columns {
			cells = append(cells, c.cells[rule])
		}
		rows = append(rows, cells)
	}
	return markdown(rows)
}

// rules has the mean regret of each rule with each model, and the tables that it wins and loses.
func rules(all []*Losses) string {
	var columns []column
	for _, s := range models {
		c := column{head: s.What, cells: map[string]string{}}
		for _, x := range Leaders(Of(all, s.Name, drifting)) {
			c.rules, c.cells[x.Rule] = append(c.rules, x.Rule), percent(x.Regret)+" ("+x.counts()+")"
		}
		columns = append(columns, c)
	}
	return byColumn(columns)
}

// aims says what of the declared aims is met, and what without tables that may be doubted.
func aims(all []*Losses) string {
	rows := [][]string{row("judged on", "rule that was chosen", "tables more than .5% behind (aim: none)", "ahead (aim: half)",
		"mean regret; tuned forgetting's (aim: under a third)")}
	for _, part := range []struct {
		name string
		drop func(Table) bool
	}{
		{"all %d tables", named("")},
		{"the %d that were not seen before", func(t Table) bool { return t.Seen && t.Quoted() }},
		{"the %d without occupancy (not declared)", named("occupancy")},
	} {
		left := slices.DeleteFunc(slices.Clone(all), func(l *Losses) bool { return part.drop(l.Table) })
		a := Advise(left, Suites[0].Name)
		rows = append(rows, row(fmt.Sprintf(part.name, a.Quoted), a.Rule, fmt.Sprintf("%d, %s", a.Behind, met(a.Safe)),
			fmt.Sprintf("%d, %s", a.Ahead, met(a.Better)),
			fmt.Sprintf("%s; %s, %s", percent(a.Regret), percent(a.Forgetting), met(a.Third))))
	}
	return markdown(rows)
}

// nulls says which rules of the suites are better than equal weights where there is no drift.
func nulls(all []*Losses, suites []Suite) string {
	var better []string
	for _, s := range suites {
		for _, l := range Of(all, s.Name, null) {
			for _, rule := range l.Rules {
				if d := l.Against(rule, tables.Uniform); rule != tables.Uniform && d.High < 0 {
					better = append(better, fmt.Sprintf("%s on %s, %s, %s", rule, l.Table.Name, s.What, relative(d)))
				}
			}
		}
	}
	return fmt.Sprintf("On the two tables without drift, better than equal weights (95%% interval): %s.",
		cmp.Or(strings.Join(better, "; "), "none"))
}

// list is the table of the tables.
func list(all []*Losses) string {
	rows := [][]string{row("table", "what", "blocks", "half", "best rule", "licence")}
	for _, t := range Tables {
		if t.Test {
			continue
		}
		half := "chooses"
		if t.Null {
			half = "no drift"
		} else if t.Quoted() {
			half = "judges"
		}
		best := "not run yet"
		for _, l := range Of(all, Suites[0].Name, named(t.Name)) {
			best = l.best()
		}
		rows = append(rows, row(fmt.Sprintf("[%s](%s/README.md)", t.Name, t.Name), t.What, t.blocks(), half, best, t.Licence))
	}
	return markdown(rows)
}

// blocks says how the time of the table is cut.
func (t Table) blocks() string {
	if t.Bin == "none" {
		return "each time"
	}
	return t.Bin
}

// page writes the page of a table, with its chart: the difference of each rule to tuned forgetting in each suite.
func page(folder string, t Table, all []*Losses) error {
	folder = filepath.Join(folder, t.Name)
	if err := errors.Join(artifact.MakeFolder(folder), draw(filepath.Join(folder, "chart.svg"), course(all[0]))); err != nil {
		return err
	}
	without := ""
	if t.Without != "" {
		without = "\nLeft out: " + t.Without + "."
	}
	var columns []column
	for _, l := range all {
		at := 0 // the suite with omega adds rules to the model of the first one
		if l.Suite.Name != omega.Name {
			columns, at = append(columns, column{head: l.Suite.What, cells: map[string]string{}}), len(columns)
		}
		c := &columns[at]
		for _, x := range Leaders([]*Losses{l}) {
			if c.cells[x.Rule] == "" {
				c.rules, c.cells[x.Rule] = append(c.rules, x.Rule), l.cell(x.Rule)
			}
		}
	}
	first := all[0]
	text := fmt.Sprintf("# %s\n\n%s Blocks: %s.\nSource: %s. Licence: %s.%s\n\n![Loss over time, %s](chart.svg)\n%s"+
		"*forgetting*, which is tuned, has its %s over %d test blocks, %s to %s. The other rows say how much higher the loss of "+
		"a rule is (95%% interval); below 0 is better. [Rules and models](../README.md).\n",
		t.Name, t.What, t.blocks(), t.Source, t.Licence, without, first.Suite.What, byColumn(columns),
		strings.ReplaceAll(first.Metric, "-", " "), len(first.Times), first.Times[0], first.Times[len(first.Times)-1])
	return artifact.Replace(filepath.Join(folder, "README.md"), []byte(text), 0o644)
}

// cell is how far a rule is from tuned forgetting, or the loss of the latter.
func (l *Losses) cell(rule string) string {
	if rule == tables.Forgetting {
		return fmt.Sprintf("%.5g", l.mean(rule))
	}
	return relative(l.Against(rule, tables.Forgetting))
}

// profiles is the chart of the share of tables on which a rule's regret is at most x, for the first leaders and the
// rules that others are compared with.
func profiles(all []*Losses, leaders []Leader) figures.Panel {
	p := figures.Panel{Key: "a", Title: "Share of tables with at most so much regret", XLabel: "regret, % of the loss of equal weights",
		YLabel: "share of tables", Share: true}
	for i, x := range curves(leaders) {
		s := figures.Series{Name: x.Rule, Label: x.Rule, Color: figures.Others[i]}
		for most := 0.; most <= 10; most += .25 {
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
	return p
}

// curves takes the rules of a chart: the five best, equal weights, tuned forgetting and window.
func curves(leaders []Leader) (out []Leader) {
	for i, x := range leaders {
		if i < 5 || x.Rule == tables.Uniform || x.Rule == tables.Forgetting || x.Rule == tables.Window {
			out = append(out, x)
		}
	}
	return out
}

// course is the chart of the mean loss up to each test block, relative to that of tuned forgetting.
func course(l *Losses) figures.Panel {
	p := figures.Panel{Key: "a", Title: l.Table.Name + ", " + l.Suite.What + ": mean " + strings.ReplaceAll(l.Metric, "-", " ") +
		" up to each test block", XLabel: "test block", YLabel: "minus tuned forgetting", XNames: l.Times}
	for i, x := range curves(Leaders([]*Losses{l})) {
		p.Series = append(p.Series, tables.Course(x.Rule, figures.Others[i], l.of(x.Rule), l.of(tables.Forgetting), l.Rows))
	}
	return p
}

// regrets draws the regret of each rule (column) on each table (row) as SVG, in percent; the other way round if there
// are more rules, as text is larger on a narrow page the fewer columns there are. The darker, the worse; a mark shows
// where a rule is better or worse than tuned forgetting by an interval.
func regrets(all []*Losses, leaders []Leader) []byte {
	g := figures.Grid{Title: "Regrets in percent", Rows: []string{"mean"}, Left: 90, Wide: 42,
		Cells:  make([][]figures.GridCell, 1+len(all)),
		Legend: [][2]string{{"", "regret, %"}, {"+", "better than tuned forgetting (95%)"}, {"−", "worse"}}}
	for _, l := range all {
		g.Rows = append(g.Rows, l.Table.Name)
	}
	for _, leader := range leaders {
		g.Columns = append(g.Columns, leader.Rule)
		g.Cells[0] = append(g.Cells[0], regretCell(leader.Regret, ""))
		for i, l := range all {
			mark, d := "", l.Against(leader.Rule, tables.Forgetting)
			if d.High < 0 {
				mark = " +"
			} else if d.Low > 0 {
				mark = " −"
			}
			g.Cells[1+i] = append(g.Cells[1+i], regretCell(l.regret(leader.Rule), mark))
		}
	}
	if len(g.Columns) > len(g.Rows) {
		turned := make([][]figures.GridCell, len(g.Columns))
		for j := range g.Columns {
			for _, cells := range g.Cells {
				turned[j] = append(turned[j], cells[j])
			}
		}
		g.Rows, g.Columns, g.Cells, g.Left = g.Columns, g.Rows, turned, 160
	}
	return g.SVG()
}

func regretCell(regret float64, mark string) figures.GridCell {
	shade, decimals := 255-int(min(1, 10*regret)*150), 1
	if regret >= .1 { // a cell has room for four digits and a mark
		decimals = 0
	}
	if regret >= 9.995 { // of four digits
		mark = strings.TrimSpace(mark)
	}
	return figures.GridCell{Text: fmt.Sprintf("%.*f%s", decimals, 100*regret, mark),
		Fill: fmt.Sprintf("#%02x%02xff", shade, shade), Ink: "#000000"}
}
