package backtest

import (
	_ "embed"
	"fmt"
	"path/filepath"

	"tvps/figures"
	"tvps/replicate/tables"
)

//go:embed backtest.html
var pageText string

var page = tables.Page(pageText)

// curves are the rules that the chart shows, besides forgetting, which is its zero line.
var curves = []string{Uniform, Window, "joint", "joint-forgetting", "covariate-forgetting", "conditional",
	"conditional-forgetting"}

// WritePage writes index.html, chart.png and echarts.min.js to the folder, which it makes if needed.
func (r *Result) WritePage(dir string) error {
	fig := figures.Figure{Name: "backtest", Title: "Back test", Panels: []figures.Chart{r.panel()},
		Source: []string{fmt.Sprintf("%s, model %s.", filepath.Base(r.File), r.ShortModel())}}
	picture, err := figures.PNG(fig, fig.Panels[0])
	if err != nil {
		return err
	}
	return tables.WritePage(dir, page, r, fig, nil, map[string][]byte{"chart.png": picture})
}

// panel is the chart: the mean loss of each rule minus that of tuned forgetting, over the test blocks up to each.
func (r *Result) panel() figures.Chart {
	p := figures.Chart{Key: "a", Title: "Mean " + r.Words() + " up to each test block, minus that of tuned forgetting",
		XLabel: "test block", YLabel: r.Words() + " minus tuned forgetting",
		Reference: &figures.Reference{Value: 0, Label: "tuned forgetting", Color: "#777777"},
		Notes: []string{"Below 0 is better than tuned forgetting. A line is the mean over all rows of the test blocks " +
			"up to there."}}
	p.XNames = tables.Collect(r.Blocks, func(b BlockResult) string { return tables.ShortName(b.Time) })
	losses := func(rule string) []float64 {
		return tables.Collect(r.Blocks, func(b BlockResult) float64 { return b.Scores[rule] })
	}
	rows := tables.Collect(r.Blocks, func(b BlockResult) int { return b.Rows })
	for i, name := range curves {
		if r.rule(name).Rule != "" {
			p.Series = append(p.Series, Course(name, figures.Others[i], losses(name), losses(Forgetting), rows))
		}
	}
	return p
}

// Course is the curve of a rule: its mean loss minus that of another, over all rows of the test blocks up to each.
func Course(rule, color string, losses, others []float64, rows []int) figures.Series {
	s := figures.Series{Name: rule, Label: rule, Color: color}
	sum, total := 0., 0.
	for t, n := range rows {
		sum, total = sum+float64(n)*(losses[t]-others[t]), total+float64(n)
		s.Points = append(s.Points, figures.Exactly(float64(t), sum/total))
	}
	return s
}
