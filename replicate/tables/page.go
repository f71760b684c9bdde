package tables

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"path/filepath"
	"slices"
	"strings"

	"tvps/data/artifact"
	"tvps/figures"
)

var (
	//go:embed drift.html
	driftText string
	//go:embed backtest.html
	backtestText string
	pageFuncs    = template.FuncMap{"percent": func(share float64) string { return fmt.Sprintf("%.1f", 100*share) },
		"p": pText, "base": filepath.Base, "short": ShortName, "few": func(list []string) string { return few(list, 20) }}
	driftPage    = template.Must(figures.Parts().New("drift").Funcs(pageFuncs).Parse(driftText))
	backtestPage = template.Must(figures.Parts().New("backtest").Funcs(pageFuncs).Parse(backtestText))
)

// pageParts is what a page shows of an answer.
type pageParts struct {
	Answer         any
	Style          template.CSS
	Sections, Maps []figures.PanelPart
	Script         template.JS
}

// writePage writes index.html, a page with live charts of an answer, echarts.min.js and other files by name to the
// folder, which it makes if needed.
func writePage(dir string, page *template.Template, answer any, fig figures.Figure, maps []figures.HeatMap,
	files map[string][]byte) error {
	out := pageParts{Answer: answer, Style: figures.CSS(fig)}
	script, err := figures.Script(fig, maps)
	out.Script = script
	for _, p := range fig.Panels {
		part, failed := figures.NewPanelPart(fig, p)
		part.Live = true
		out.Sections, err = append(out.Sections, part), errors.Join(err, failed)
	}
	for _, m := range maps {
		part, failed := m.Part(fig)
		part.Live = true
		out.Maps, err = append(out.Maps, part), errors.Join(err, failed)
	}
	var text bytes.Buffer
	if err == nil {
		err = page.Execute(&text, out)
	}
	if err == nil {
		err = artifact.MakeFolder(dir)
	}
	files["index.html"], files[figures.ScriptFile] = text.Bytes(), figures.ECharts
	for name, content := range files {
		if err == nil {
			err = artifact.Replace(filepath.Join(dir, name), content, 0o644)
		}
	}
	if err != nil {
		return fmt.Errorf("cannot write the page: %w", err)
	}
	return nil
}

// WritePage writes index.html and echarts.min.js to the folder, which it makes if needed.
func (r *Drift) WritePage(dir string) error {
	fig := figures.Figure{Name: "drift"}
	fig.Panels = slices.DeleteFunc([]figures.Panel{r.likeness(), r.panel("before", "Difference from the stretch before", Before),
		r.panel("present", "Difference from the present, the last stretch", Present)},
		func(p figures.Panel) bool { return len(p.Series) == 0 }) // stretches of too few rows are not tested
	return writePage(dir, driftPage, r, fig, r.heatMaps(), map[string][]byte{})
}

// shownColumns bounds the columns on the page.
const shownColumns = 40

// Titled are the columns that the page shows.
func (r *Drift) Titled() []Contribution {
	return r.Columns.List[:min(shownColumns, len(r.Columns.List))]
}

// Found are the tests that found drift.
func (r *Drift) Found() []Test {
	return slices.DeleteFunc(slices.Clone(r.Tests.List), func(t Test) bool { return !t.Drift })
}

// looks of what is tested over time, and of what is mapped.
var looks = map[string]string{InX: "#0072b2", InY: "#e69f00", InBoth: "#d62728", InRule: "#009e73"}

// likeness is the chart of the last row of each map.
func (r *Drift) likeness() figures.Panel {
	p := figures.Panel{Key: "likeness", Title: "How like the present the past is", XLabel: "block of time",
		YLabel: "mean of min(ω, 1) (1: alike)", YRange: &[2]float64{0, 1}}
	p.XNames = collect(r.Blocks, func(b Block) string { return ShortName(b.Name) })
	for _, m := range r.Maps {
		s := figures.Series{Name: m.In, Label: m.In, Color: looks[m.In]}
		for block, worth := range m.Worth[len(m.Worth)-1] {
			s.Points = append(s.Points, figures.Exactly(float64(block), worth))
		}
		p.Series = append(p.Series, s)
	}
	return p
}

// panel is the chart of the tests against one reference.
func (r *Drift) panel(key, title, against string) figures.Panel {
	p := figures.Panel{Key: key, Title: title, XLabel: "stretch, by its first time", YLabel: "MMD² (0: no difference)",
		Reference: &figures.Reference{Value: 0, Label: "no difference", Color: "#777777"}}
	p.XNames = collect(r.Tests.Stretches, func(s Stretch) string { return ShortName(s.Name) })
	for _, in := range subjects {
		s := figures.Series{Name: in, Label: in, Color: looks[in]}
		for _, t := range r.Tests.List {
			if t.In == in && t.Against == against {
				s.Points = append(s.Points, figures.Exactly(float64(t.Stretch), t.MMD2))
			}
		}
		if len(s.Points) > 0 {
			p.Series = append(p.Series, s)
		}
	}
	return p
}

func (r *Drift) heatMaps() (maps []figures.HeatMap) {
	names := collect(r.Blocks, func(b Block) string { return ShortName(b.Name) })
	densities := map[string]string{InX: "p_T(x) and p_t(x)", InBoth: "p_T(x, y) and p_t(x, y)",
		InRule: "p_T(y | x) and p_t(y | x), averaged over x"}
	for i, m := range r.Maps {
		maps = append(maps, figures.HeatMap{Key: fmt.Sprintf("map-%d", i+1), Title: "In " + m.In,
			XLabel: "block t of the data", YLabel: "present T", ValueLabel: "worth of block t at T",
			XNames: names, YNames: names, Values: m.Worth, Low: 0, High: 1,
			Notes: []string{"Columns: block t of the data; rows: present T, the last one on top. Worth is the mean of " +
				"min(ω, 1) over the rows of block t, an estimate of 1 minus the total variation distance of " +
				densities[m.In] + ": 1 if nothing has changed."}})
	}
	return maps
}

// curves are the rules that the chart shows, besides forgetting, which is its zero line.
var curves = []string{Uniform, Window, "joint", "joint-forgetting", "covariate-forgetting", "conditional",
	"conditional-forgetting"}

// WritePage writes index.html, chart.png and echarts.min.js to the folder, which it makes if needed.
func (r *Backtest) WritePage(dir string) error {
	fig := figures.Figure{Name: "backtest", Title: "Back test", Panels: []figures.Panel{r.panel()},
		Source: []string{fmt.Sprintf("%s, model %s.", filepath.Base(r.File), r.ShortModel())}}
	picture, err := figures.PNG(fig, fig.Panels[0])
	if err != nil {
		return err
	}
	return writePage(dir, backtestPage, r, fig, nil, map[string][]byte{"chart.png": picture})
}

// panel is the chart: the mean loss of each rule minus that of tuned forgetting, over the test blocks up to each.
func (r *Backtest) panel() figures.Panel {
	p := figures.Panel{Key: "a", Title: "Mean " + r.Words() + " up to each test block, minus that of tuned forgetting",
		XLabel: "test block", YLabel: r.Words() + " minus tuned forgetting",
		Reference: &figures.Reference{Value: 0, Label: "tuned forgetting", Color: "#777777"},
		Notes: []string{"Below 0 is better than tuned forgetting. A line is the mean over all rows of the test blocks " +
			"up to there."}}
	p.XNames = collect(r.Blocks, func(b BlockResult) string { return ShortName(b.Time) })
	losses := func(rule string) []float64 {
		return collect(r.Blocks, func(b BlockResult) float64 { return b.Scores[rule] })
	}
	rows := collect(r.Blocks, func(b BlockResult) int { return b.Rows })
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

// ShortModel is the name that a comment gives a command, or the model without the folders of its files.
func (r *Backtest) ShortModel() string {
	if _, name, ok := strings.Cut(r.Model, nameMark); ok {
		return name
	}
	words := strings.Fields(r.Model)
	for i, w := range words {
		path := strings.Index(w, ":") + 1
		words[i] = w[:path] + filepath.Base(w[path:])
	}
	return strings.Join(words, " ")
}
