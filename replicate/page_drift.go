package main

import (
	_ "embed"
	"fmt"
	"slices"

	"tvps/figures"
	"tvps/replicate/tables"
	"tvps/replicate/tables/drift"

	"github.com/gomlx/gomlx/support/xslices"
)

//go:embed page_drift.html
var driftText string

var driftTemplate = pageTemplate(driftText)

// driftPage is the answer of drift with its page.
type driftPage struct{ *drift.Result }

// WritePage writes index.html and echarts.min.js to the folder, which it makes if needed.
func (r driftPage) WritePage(dir string) error {
	fig := figures.Figure{Name: "drift"}
	fig.Panels = slices.DeleteFunc([]figures.Chart{r.likeness(), r.panel("before", "Difference from the stretch before", drift.Before),
		r.panel("present", "Difference from the present, the last stretch", drift.Present)},
		func(p figures.Chart) bool { return len(p.Series) == 0 }) // stretches of too few rows are not tested
	return writePage(dir, driftTemplate, r, fig, r.heatMaps(), nil)
}

// shownColumns bounds the columns on the page.
const shownColumns = 40

// Titled are the columns that the page shows.
func (r driftPage) Titled() []drift.Contribution {
	return r.Columns.List[:min(shownColumns, len(r.Columns.List))]
}

// driftLooks are those of what is tested over time, and of what is mapped, as Styled numbers them.
var driftLooks = map[string]int{tables.InX: 0, tables.InY: 1, tables.InBoth: 3, tables.InRule: 2}

// likeness is the chart of the last row of each map.
func (r driftPage) likeness() figures.Chart {
	p := figures.Chart{Key: "likeness", Title: "How much each past block resembles the present", XLabel: "block of time",
		YLabel: "mean of min(ω, 1) (1: alike)", YRange: &[2]float64{0, 1}}
	p.XNames = xslices.Map(r.Blocks, func(b tables.Block) string { return tables.ShortName(b.Name) })
	for _, m := range r.Maps {
		s := figures.Series{Name: m.In, Label: m.In, Points: figures.Course(m.Worth[len(m.Worth)-1])}
		p.Series = append(p.Series, s.Styled(driftLooks[m.In]))
	}
	return p
}

// panel is the chart of the tests against one reference.
func (r driftPage) panel(key, title, against string) figures.Chart {
	p := figures.Chart{Key: key, Title: title, XLabel: "stretch, by its first time", YLabel: "MMD² (0: no difference)",
		Reference: figures.Zero("no difference")}
	p.XNames = xslices.Map(r.Tests.Stretches, func(s drift.Stretch) string { return tables.ShortName(s.Name) })
	for _, in := range []string{tables.InX, tables.InY, tables.InBoth} {
		s := figures.Series{Name: in, Label: in}.Styled(driftLooks[in])
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

func (r driftPage) heatMaps() (maps []figures.HeatMap) {
	names := xslices.Map(r.Blocks, func(b tables.Block) string { return tables.ShortName(b.Name) })
	densities := map[string]string{tables.InX: "p_T(x) and p_t(x)", tables.InBoth: "p_T(x, y) and p_t(x, y)",
		tables.InRule: "p_T(y | x) and p_t(y | x), averaged over x"}
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
