package tables

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"path/filepath"
	"slices"

	"tvps/figures"
)

var (
	//go:embed drift.html
	pageText     string
	pageTemplate = template.Must(figures.Parts().New("drift").Funcs(template.FuncMap{
		"percent": func(share float64) string { return fmt.Sprintf("%.1f", 100*share) }, "p": pText, "base": filepath.Base,
		"few": func(list []string) string { return few(list, 20) },
	}).Parse(pageText))
)

// pageParts is what drift.html shows.
type pageParts struct {
	*Drift
	About    string
	Style    template.CSS
	Sections []figures.PanelPart
	Maps     []figures.PanelPart
	Titled   []titled
	Found    []foundTest
	Script   template.JS
}

// shownColumns bounds the columns on the page.
const shownColumns = 40

type titled struct {
	Contribution
	Title string
}

// foundTest is a test that found drift.
type foundTest struct {
	Test
	At string
}

// looks of what is tested over time.
var looks = map[string]string{InX: "#0072b2", InY: "#e69f00", InBoth: "#d62728"}

// WritePage writes index.html and echarts.min.js to the folder, which it makes if needed.
func (r *Drift) WritePage(dir string) error {
	page, err := r.page()
	if err != nil {
		return err
	}
	return WritePage(dir, page, nil)
}

// page is index.html.
func (r *Drift) page() ([]byte, error) {
	fig := figures.Figure{Name: "drift"}
	fig.Panels = slices.DeleteFunc([]figures.Panel{r.panel("before", "Against the stretch before", Before),
		r.panel("present", "Against the present, the last stretch", Present)},
		func(p figures.Panel) bool { return len(p.Series) == 0 }) // stretches of too few rows are not tested
	out := pageParts{Drift: r, About: r.columns, Style: figures.CSS(fig)}
	for _, p := range fig.Panels {
		part, err := figures.NewPanelPart(fig, p)
		if err != nil {
			return nil, err
		}
		part.Live = true
		out.Sections = append(out.Sections, part)
	}
	maps := r.heatMaps()
	for _, m := range maps {
		part, err := m.Part(fig)
		if err != nil {
			return nil, err
		}
		part.Live = true
		out.Maps = append(out.Maps, part)
	}
	for _, c := range r.Columns.List[:min(shownColumns, len(r.Columns.List))] {
		out.Titled = append(out.Titled, titled{c, c.title()})
	}
	for _, t := range r.Tests.List {
		if t.Drift {
			out.Found = append(out.Found, foundTest{t, ShortName(r.Tests.Stretches[t.Stretch].Name)})
		}
	}
	var err error
	if out.Script, err = figures.Script(fig, maps); err != nil {
		return nil, err
	}
	var page bytes.Buffer
	if err := pageTemplate.Execute(&page, out); err != nil {
		return nil, fmt.Errorf("the page cannot be written: %w", err)
	}
	return page.Bytes(), nil
}

// panel is the chart of the tests against one reference.
func (r *Drift) panel(key, title, against string) figures.Panel {
	p := figures.Panel{Key: key, Title: title, XLabel: "stretch, by its first time", YLabel: "MMD² (0: no difference)",
		Reference: &figures.Reference{Value: 0, Label: "no difference", Color: "#777777"}}
	for _, s := range r.Tests.Stretches {
		p.XNames = append(p.XNames, ShortName(s.Name))
	}
	for _, in := range r.Tests.subjects() {
		s := figures.Series{Name: in, Label: in, Color: looks[in]}
		for _, t := range r.Tests.List {
			if t.In == in && t.Against == against {
				s.Points = append(s.Points, figures.Point{X: float64(t.Stretch), Mean: t.MMD2, Low: t.MMD2, High: t.MMD2})
			}
		}
		if len(s.Points) > 0 {
			p.Series = append(p.Series, s)
		}
	}
	return p
}

func (r *Drift) heatMaps() (maps []figures.HeatMap) {
	names := make([]string, len(r.Blocks))
	for i, b := range r.Blocks {
		names[i] = ShortName(b.Name)
	}
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
