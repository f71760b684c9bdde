package natural

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tvps/data/artifact"
	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/tables/backtest"
)

// Block is a generated part of a page: what stands between the marks of its name.
type Block struct{ Page, Name, Text string }

// Report writes a page for each table to the folder, and returns the generated parts of the other pages. Package charts
// draws their pictures: notebooks read losses without it, and do not link what draws.
func Report(folder string, all []*Losses) ([]Block, error) {
	for _, t := range Datasets {
		own := slices.DeleteFunc(slices.Clone(all), func(l *Losses) bool {
			return l.Table.Name != t.Name || l.Suite.Apart()
		})
		if len(own) > 0 {
			if err := page(folder, t, own); err != nil {
				return nil, err
			}
		}
	}
	withOmega := Of(all, omega.Name, Drifting)
	return []Block{
		{"README.md", "leaders", board(Leaders(Of(all, Suites[0].Name, Drifting)))},
		{"README.md", "averaging", scalesOrAveraging(all)},
		{"README.md", "models", verdicts(all)},
		{"models.md", "rules", regretsOf(all) + nulls(all, models) + "\n\n"},
		{"models.md", "aims", aims(all)},
		{"omega.md", "results", board(Leaders(withOmega)) + nulls(all, []Suite{omega}) + "\n" + whereOmega(withOmega) + "\n"},
		{"omega.md", "mixture", mixtureOrOwnTime(all)},
		{"tables.md", "results", list(all)},
	}, nil
}

// scalesOrAveraging compares several time scales, averaging, and both, with 60 trees and with a tuned number of them.
func scalesOrAveraging(all []*Losses) string {
	if len(Of(all, averaging[0].Name, Drifting)) < leastTables {
		return ""
	}
	rows := [][]string{row("what helps?", "a rule against another")}
	for _, s := range averaging {
		rows[0] = append(rows[0], fmt.Sprintf("%s (%d tables)", s.What, len(Of(all, s.Name, Drifting))))
	}
	for _, c := range [][3]string{
		{"averaging one time scale", "bagged", backtest.Forgetting},
		{"several time scales", backtest.Committee, backtest.Forgetting},
		{"both", "bagged-committee", backtest.Forgetting},
		{"several scales instead of averaging one", backtest.Committee, "bagged"},
		{"several scales, where one is averaged", "bagged-committee", "bagged"},
		{"averaging, where there are several scales", "bagged-committee", backtest.Committee},
	} {
		cells := row(c[0], c[1]+" against "+c[2])
		for _, s := range averaging {
			found := Of(all, s.Name, Drifting)
			x := versus(found, c[1], c[2])
			cell := x.counts()
			if len(found) >= leastTables {
				cell += ": " + x.verdict()
			}
			cells = append(cells, cell)
		}
		rows = append(rows, cells)
	}
	return markdown(rows)
}

// mixtureOrOwnTime compares omega over the mixture of all times with omega over the time of each row, by kind.
func mixtureOrOwnTime(all []*Losses) string {
	var both []*Losses
	for _, m := range Of(all, mixture.Name, Drifting) {
		for _, o := range Of(all, omega.Name, named(m.Table.Name)) {
			both = append(both, &Losses{Table: m.Table, Rows: m.Rows, Rules: slices.Concat(m.Rules, o.Rules),
				Values: slices.Concat(m.Values, o.Values)})
		}
	}
	if len(both) < leastTables {
		return ""
	}
	rows := [][]string{row("weights", fmt.Sprintf("mixture against own time (%d tables)", len(both)),
		"mixture against tuned forgetting", "own time against tuned forgetting")}
	for _, kind := range crossfit.Kinds() {
		ownTime, ofAll := string(kind), string(kind)+"-mixture"
		cells := row(about[ownTime])
		for _, pair := range [][2]string{{ofAll, ownTime}, {ofAll, backtest.Forgetting}, {ownTime, backtest.Forgetting}} {
			x := versus(both, pair[0], pair[1])
			cells = append(cells, x.counts()+": "+x.verdict())
		}
		rows = append(rows, cells)
	}
	return markdown(rows)
}

// board is the table of the leaders.
func board(leaders []Leader) string {
	rows := [][]string{row("rule", "mean regret", "median", "best on", "won", "lost")}
	for _, x := range leaders {
		rows = append(rows, row("**"+x.Rule+"**: "+about[x.Rule], percent(x.Regret), percent(x.Median), x.Lowest, x.Won, x.Lost))
	}
	return markdown(rows)
}

// verdicts compares the models, a row each.
func verdicts(all []*Losses) string {
	rows := [][]string{row("model", "tables", "committee: won–lost", "verdict", "equal weights: won–lost")}
	for _, s := range models {
		found := Of(all, s.Name, Drifting)
		if len(found) == 0 {
			continue
		}
		rule := byRule(Leaders(found))
		committee := rule[backtest.Committee]
		rows = append(rows, row(s.What, len(found), committee.counts(), committee.verdict(), rule[backtest.Uniform].counts()))
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

// regretsOf has the mean regret of each rule with each model, and the tables that it wins and loses.
func regretsOf(all []*Losses) string {
	var columns []column
	for _, s := range models {
		c := column{head: s.What, cells: map[string]string{}}
		for _, x := range Leaders(Of(all, s.Name, Drifting)) {
			c.rules, c.cells[x.Rule] = append(c.rules, x.Rule), percent(x.Regret)+" ("+x.counts()+")"
		}
		if len(c.rules) > 0 {
			columns = append(columns, c)
		}
	}
	return byColumn(columns)
}

// aims says what of the declared aims is met, and what without tables that may be doubted.
func aims(all []*Losses) string {
	rows := [][]string{row("judged on", "rule that was chosen", "tables more than 0.5% behind (aim: none)", "ahead (aim: half)",
		"mean regret; tuned forgetting's (aim: under a third)")}
	for _, part := range []struct {
		name string
		drop func(Dataset) bool
	}{
		{"all %d tables", named("")},
		{"the %d that were not seen before", func(t Dataset) bool { return t.Seen && t.Quoted() }},
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
				if d := l.Against(rule, backtest.Uniform); rule != backtest.Uniform && d.High < 0 {
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
	for _, t := range Datasets {
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
func (t Dataset) blocks() string {
	if t.Bin == "none" {
		return "each time"
	}
	return t.Bin
}

// page writes the page of a table: the difference of each rule to tuned forgetting in each suite.
func page(folder string, t Dataset, all []*Losses) error {
	folder = filepath.Join(folder, t.Name)
	if err := os.MkdirAll(folder, 0o755); err != nil {
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
	if rule == backtest.Forgetting {
		return fmt.Sprintf("%.5g", l.mean(rule))
	}
	return relative(l.Against(rule, backtest.Forgetting))
}
