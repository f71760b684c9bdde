package tables

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"path/filepath"
	"strings"

	"tvps/figures"
)

var (
	//go:embed backtest.html
	backtestText     string
	backtestTemplate = template.Must(figures.Parts().New("backtest").Funcs(
		template.FuncMap{"base": filepath.Base}).Parse(backtestText))
)

// backtestParts is what backtest.html shows.
type backtestParts struct {
	*Backtest
	First, Last string
	Short       string // the model
	Words       string // the metric
	Measures    []string
	Table       []tableRow
	Style       template.CSS
	Sections    []figures.PanelPart
	Script      template.JS
}

type tableRow struct {
	RuleResult
	Values []string
	Last   string
}

// curves are the rules that the chart shows, besides forgetting, which is its zero line.
var curves = []string{Uniform, Window, "joint", "joint-forgetting", "covariate-forgetting", "conditional",
	"conditional-forgetting"}

// WritePage writes index.html, chart.png and echarts.min.js to the folder, which it makes if needed.
func (r *Backtest) WritePage(dir string) error {
	fig := figures.Figure{Name: "backtest", Title: "Back test", Panels: []figures.Panel{r.panel()},
		Source: []string{fmt.Sprintf("%s, model %s.", filepath.Base(r.File), r.shortModel())}}
	part, err := figures.NewPanelPart(fig, fig.Panels[0])
	if err != nil {
		return err
	}
	part.Live = true
	out := backtestParts{Backtest: r, Short: r.shortModel(), First: ShortName(r.Blocks[0].Time),
		Last: ShortName(r.Blocks[len(r.Blocks)-1].Time), Words: r.words(),
		Measures: r.measures(), Style: figures.CSS(fig), Sections: []figures.PanelPart{part}}
	for _, rule := range r.Rules {
		out.Table = append(out.Table, tableRow{rule, r.values(rule), r.chosen(rule)})
	}
	if out.Script, err = figures.Script(fig, nil); err != nil {
		return err
	}
	var page bytes.Buffer
	if err := backtestTemplate.Execute(&page, out); err != nil {
		return fmt.Errorf("the page cannot be written: %w", err)
	}
	picture, err := figures.PNG(fig, fig.Panels[0])
	if err != nil {
		return err
	}
	return WritePage(dir, page.Bytes(), map[string][]byte{"chart.png": picture})
}

// panel is the chart: the mean loss of each rule minus that of tuned forgetting, over the test blocks up to each.
func (r *Backtest) panel() figures.Panel {
	p := figures.Panel{Key: "a", Title: "Mean " + r.words() + " up to each test block, minus that of tuned forgetting",
		XLabel: "test block", YLabel: r.words() + " minus tuned forgetting",
		Reference: &figures.Reference{Value: 0, Label: "tuned forgetting", Color: "#777777"},
		Notes: []string{"Below 0 is better than tuned forgetting. A line is the mean over all rows of the test blocks " +
			"up to there."}}
	for _, b := range r.Blocks {
		p.XNames = append(p.XNames, ShortName(b.Time))
	}
	for i, name := range curves {
		if r.index(name) < 0 {
			continue
		}
		s := figures.Series{Name: name, Label: name, Color: figures.Others[i]}
		sum, rows := 0., 0.
		for t, b := range r.Blocks {
			sum += float64(b.Rows) * (b.Scores[name] - b.Scores[Forgetting])
			rows += float64(b.Rows)
			s.Points = append(s.Points, figures.Point{X: float64(t), Mean: sum / rows, Low: sum / rows, High: sum / rows})
		}
		p.Series = append(p.Series, s)
	}
	return p
}

// shortModel is the name that a comment gives a command, or the model without the folders of its files.
func (r *Backtest) shortModel() string {
	if _, name, ok := strings.Cut(r.Model, " # "); ok {
		return name
	}
	words := strings.Fields(r.Model)
	for i, w := range words {
		path := strings.Index(w, ":") + 1
		words[i] = w[:path] + filepath.Base(w[path:])
	}
	return strings.Join(words, " ")
}
