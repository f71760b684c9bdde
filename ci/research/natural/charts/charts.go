// Package charts draws the losses of the benchmark of package natural.
package charts

import (
	"fmt"
	"path/filepath"
	"strings"

	"tvps/ci/research/grid"
	"tvps/ci/research/natural"
	"tvps/data/artifact"
	"tvps/figures"
	"tvps/replicate/tables/backtest"
)

// Draw writes a chart as SVG.
func Draw(path string, p figures.Chart) error {
	picture, err := figures.SVG(figures.Figure{Title: p.Title, Panels: []figures.Chart{p}}, p)
	if err != nil {
		return err
	}
	return artifact.Replace(path, picture, 0o644)
}

// Pictures draws the pictures of the pages that natural.Report writes, into their folders: the regrets of rules in each
// suite, the share of tables with at most so much regret in the first suite, and the losses on each table over time.
func Pictures(folder string, all []*natural.Losses) error {
	for i, s := range natural.Suites {
		found := natural.Of(all, s.Name, natural.Drifting)
		if s.Apart() || len(found) == 0 {
			continue
		}
		leaders := natural.Leaders(found)
		err := regrets(filepath.Join(folder, "regrets-"+s.Name+".svg"), found, leaders)
		if err == nil && i == 0 {
			err = Draw(filepath.Join(folder, "profile.svg"), profiles(found, leaders))
		}
		if err != nil {
			return err
		}
	}
	drawn := map[string]bool{}
	for _, l := range all { // in the order of the suites: a table is drawn in its first one
		if drawn[l.Table.Name] || l.Suite.Apart() {
			continue
		}
		drawn[l.Table.Name] = true
		if err := Draw(filepath.Join(folder, l.Table.Name, "chart.svg"), course(l)); err != nil {
			return err
		}
	}
	return nil
}

// profiles is the chart of the share of tables on which a rule's regret is at most x, for the first leaders and the
// rules that others are compared with.
func profiles(all []*natural.Losses, leaders []natural.Leader) figures.Chart {
	p := figures.Chart{Key: "a", Title: "Share of tables with at most so much regret", XLabel: "regret, % of the loss of equal weights",
		YLabel: "share of tables", Share: true}
	for i, x := range curves(leaders) {
		s := figures.Series{Name: x.Rule, Label: x.Rule}.Styled(i)
		for most := 0.; most <= 10; most += .25 {
			share := 0.
			for _, l := range all {
				if 100*l.Regret(x.Rule) <= most {
					share += 1 / float64(len(all))
				}
			}
			s.Points = append(s.Points, figures.Exactly(most, share))
		}
		p.Series = append(p.Series, s)
	}
	return p
}

// curves takes the rules of a chart: the five best, equal weights, tuned forgetting and window.
func curves(leaders []natural.Leader) (out []natural.Leader) {
	for i, x := range leaders {
		if i < 5 || x.Rule == backtest.Uniform || x.Rule == backtest.Forgetting || x.Rule == backtest.Window {
			out = append(out, x)
		}
	}
	return out
}

// course is the chart of the mean loss up to each test block, relative to that of tuned forgetting.
func course(l *natural.Losses) figures.Chart {
	p := figures.Chart{Key: "a", Title: l.Table.Name + ", " + l.Suite.What + ": mean " + strings.ReplaceAll(l.Metric, "-", " ") +
		" up to each test block", XLabel: "test block", YLabel: "minus tuned forgetting", XNames: l.Times}
	for i, x := range curves(natural.Leaders([]*natural.Losses{l})) {
		course := backtest.Course(l.Of(x.Rule), l.Of(backtest.Forgetting), l.Rows)
		s := figures.Series{Name: x.Rule, Label: x.Rule, Points: figures.Course(course)}
		p.Series = append(p.Series, s.Styled(i))
	}
	return p
}

// regrets draws the regret of each rule (column) on each table (row) as SVG, in percent; the other way round if there
// are more rules, as text is larger on a narrow page the fewer columns there are. The darker, the worse; a mark shows
// where a rule is better or worse than tuned forgetting by an interval.
func regrets(path string, all []*natural.Losses, leaders []natural.Leader) error {
	g := grid.Grid{Title: "Regrets in percent", Rows: []string{"mean"}, Left: 90, Wide: 42,
		Cells:  make([][]grid.Cell, 1+len(all)),
		Legend: [][2]string{{"", "regret, %"}, {"+", "better than tuned forgetting (95%)"}, {"−", "worse"}}}
	for _, l := range all {
		g.Rows = append(g.Rows, l.Table.Name)
	}
	for _, leader := range leaders {
		g.Columns = append(g.Columns, leader.Rule)
		g.Cells[0] = append(g.Cells[0], regretCell(leader.Regret, ""))
		for i, l := range all {
			mark, d := "", l.Against(leader.Rule, backtest.Forgetting)
			if d.High < 0 {
				mark = " +"
			} else if d.Low > 0 {
				mark = " −"
			}
			g.Cells[1+i] = append(g.Cells[1+i], regretCell(l.Regret(leader.Rule), mark))
		}
	}
	if len(g.Columns) > len(g.Rows) {
		turned := make([][]grid.Cell, len(g.Columns))
		for j := range g.Columns {
			for _, cells := range g.Cells {
				turned[j] = append(turned[j], cells[j])
			}
		}
		g.Rows, g.Columns, g.Cells, g.Left = g.Columns, g.Rows, turned, 160
	}
	return artifact.Replace(path, g.SVG(), 0o644)
}

func regretCell(regret float64, mark string) grid.Cell {
	shade, decimals := 255-int(min(1, 10*regret)*150), 1
	if regret >= .1 { // a cell has room for four digits and a mark
		decimals = 0
	}
	if regret >= 9.995 { // of four digits
		mark = strings.TrimSpace(mark)
	}
	return grid.Cell{Text: fmt.Sprintf("%.*f%s", decimals, 100*regret, mark),
		Fill: fmt.Sprintf("#%02x%02xff", shade, shade), Ink: "#000000"}
}
