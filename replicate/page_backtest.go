package main

import (
	_ "embed"
	"fmt"
	"path/filepath"

	"github.com/gomlx/gomlx/support/xslices"
	"gonum.org/v1/gonum/floats"

	"tvps/data/statistics"
	"tvps/figures"
	"tvps/replicate/tables"
	"tvps/replicate/tables/backtest"
)

//go:embed page_backtest.html
var backtestText string

var backtestTemplate = pageTemplate(backtestText)

// backtestPage is the answer of backtest with its page.
type backtestPage struct{ *backtest.Result }

// chartFile is a picture of the page's chart.
const chartFile = "chart.png"

// WritePage writes index.html, chart.png and echarts.min.js to the folder, which it makes if needed.
func (r backtestPage) WritePage(dir string) error {
	fig := figures.Figure{Name: "backtest", Title: "Back test", Panels: []figures.Chart{r.panel()},
		Source: []string{fmt.Sprintf("%s, model %s.", filepath.Base(r.File), r.ShortModel())}}
	picture, err := figures.PNG(fig, fig.Panels[0])
	if err != nil {
		return err
	}
	return writePage(dir, backtestTemplate, r, fig, nil, map[string][]byte{chartFile: picture})
}

// panel is the chart of the rules of the summary, in its order, against equal weights.
func (r backtestPage) panel() figures.Chart {
	rules, _ := r.Shown()
	best := rules[0].Rule
	p := figures.Chart{Key: "a", Title: "Mean " + r.Words() + " up to each test block, minus that of equal weights: lower is better",
		XLabel: "test block", YLabel: r.Words() + " minus equal weights",
		Reference: figures.Zero("equal weights"),
		Bands: "Lines: mean over all rows of the test blocks up to there; band: 95% interval of " + best + ", which has the lowest " +
			"loss, by a bootstrap of runs of consecutive blocks. The table has the intervals of all rules over all blocks."}
	p.XNames = xslices.Map(r.Blocks, func(b backtest.BlockResult) string { return tables.ShortName(b.Time) })
	losses := func(rule string) []float64 {
		return xslices.Map(r.Blocks, func(b backtest.BlockResult) float64 { return b.Scores[rule] })
	}
	equal, rows := losses(backtest.Uniform), xslices.Map(r.Blocks, func(b backtest.BlockResult) int { return b.Rows })
	for i, rule := range rules {
		if rule.Rule == backtest.Uniform {
			continue
		}
		course := backtest.Course(losses(rule.Rule), equal, rows)
		s := figures.Series{Name: rule.Rule, Label: rule.Rule, Points: figures.Course(course)}.Styled(i)
		if rule.Rule == best {
			addIntervals(&s, losses(best), equal, rows)
		}
		p.Series = append(p.Series, s)
	}
	return p
}

// fewBlocks is the least number of blocks that have an interval on the chart.
const fewBlocks = 6

// addIntervals adds to each point of a course the interval of the blocks up to there.
func addIntervals(s *figures.Series, losses, others []float64, rows []int) {
	difference := make([]float64, len(rows))
	floats.SubTo(difference, losses, others)
	for t := fewBlocks - 1; t < len(rows); t++ {
		alone, _ := statistics.BlockBootstrap([][]float64{difference[:t+1]}, rows[:t+1], 0)
		at := &s.Points[t]
		at.Low, at.High, at.N = alone[0].Low, alone[0].High, t+1
	}
}
