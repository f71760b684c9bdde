package lab

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tvps/data/artifact"
	"tvps/figures"
	"tvps/replicate/claims"
	"tvps/replicate/experiment"
	"tvps/replicate/paper"
	"tvps/replicate/runs"
)

// describe makes charts, tables and the record of the panels that are drawn of a figure, and says what was judged of
// them; of a draft nothing is.
func describe(f paper.Figure, o Options, panels []drawing, judged []claims.Judged, madeBy runs.Provenance,
	draft *figures.Draft) (*Result, error) {
	r := &Result{Figure: figures.Figure{Name: f.Name(), Title: f.Title, Caption: f.Caption, Compact: o.Compact, Draft: draft}}
	var used, narrow []claims.Collected
	for _, d := range panels {
		panel, means, err := describePanel(f, d)
		if err != nil {
			return nil, err
		}
		r.Rows, used = append(r.Rows, d.Written(d.Rows())...), append(used, d.Collected)
		r.Figure.Panels, r.Figure.Tables = append(r.Figure.Panels, panel), append(r.Figure.Tables, means)
		if note := d.Source.Note + "."; note != "." && !slices.Contains(r.Figure.Data, note) {
			r.Figure.Data = append(r.Figure.Data, note)
		}
		narrow = append(narrow, d.narrow...)
	}
	r.Figure.Source = []string{fmt.Sprintf("Scale %s, %s.", o.Scale, backendsOf(used, madeBy.Backend))}
	used = append(used, narrow...)
	r.describeClaims(f, o, judged)
	r.Figure.Command, r.Figure.Links = o.pageCommand(f), links(used, draft)
	comparable(panels, r.Figure.Panels)
	r.beside(panels)
	r.Record = claims.NewRecord(o.Scale, madeBy, used)
	return r, nil
}

// describePanel makes chart, notes and table of means of a panel.
func describePanel(f paper.Figure, d drawing) (panel figures.Chart, means figures.Summary, err error) {
	rows := d.Written(d.Rows())
	if means, err = figures.Table(rows, d.Key, d.Shown().String(), d.Series[0]); err != nil {
		return panel, means, err
	}
	if d.Shown().Name == "accuracy" {
		means.Unit = figures.Points
	}
	panel, err = chart(d.Panel, rows)
	if d.Scale != "" {
		panel.Title += fmt.Sprintf(" (scale %s)", d.Scale)
	}
	panel.Sample = d.Sample().String()
	if sized, ok := d.Settings.(experiment.Sized); ok {
		panel.Sample += ", " + sized.Size()
	}
	panel.Notes = d.Notes(d.absent, f.Claims)
	for _, n := range d.narrow {
		panel.Notes = append(panel.Notes, n.Note())
	}
	panel.Judged, panel.Metrics, panel.Others = d.judged, d.metrics, d.others
	return panel, means, err
}

// describeClaims sets what the page says of the claims about panels that are drawn.
func (r *Result) describeClaims(f paper.Figure, o Options, judged []claims.Judged) {
	drawn := func(p claims.JudgedPart) bool {
		return slices.ContainsFunc(r.Figure.Panels, func(c figures.Chart) bool { return c.Key == p.Panel })
	}
	for _, c := range judged {
		if slices.ContainsFunc(c.Parts, drawn) {
			r.Claims = append(r.Claims, c)
		}
	}
	if o.Scale == experiment.Tiny { // as TinyNote says
		r.Figure.Tally = TinyNote
		return
	}
	if r.Figure.Draft != nil {
		return
	}
	all := o
	all.Learners = nil // those of claims, not those shown
	shown := claims.Show(r.Claims, func(panels string) string { return all.pageCommand(f, panels) })
	r.Figure.Answer, r.Figure.Tally, r.Figure.Claims = shown.Answer, shown.Tally, shown.Claims
	if len(o.Overrides) > 0 {
		r.Figure.Tally = fmt.Sprintf("With %s: %s", strings.Join(o.Overrides, ", "), shown.Tally)
	}
}

// comparable gives panels that show the same of one scenario with the same settings one range of y.
func comparable(drawn []drawing, panels []figures.Chart) {
	for i, c := range drawn {
		same := []*figures.Chart{&panels[i]}
		for j, other := range drawn[:i] {
			if other.Scenario == c.Scenario && slices.Equal(other.Set, c.Set) && other.Shown() == c.Shown() && panels[j].YLabel == panels[i].YLabel {
				same = append(same, &panels[j])
			}
		}
		if len(same) > 1 {
			figures.SameScale(same)
		}
	}
}

// beside says next to what the paper says of each panel what was measured: the learners against the first one, or the
// parts of claims if the panel does not show what learners are compared by.
func (r *Result) beside(drawn []drawing) {
	for i, c := range drawn {
		here := r.Figure.Tables[i].Gains()
		if !c.Open() {
			here = r.Figure.Effects(c.Key)
		}
		r.Figure.Panels[i].Here = cmp.Or(here, "see the chart")
	}
}

// chart describes one panel: the values of every series, or their differences to the first one, which is then the
// line 0.
func chart(p claims.Panel, rows []figures.Row) (figures.Chart, error) {
	shown := p.Shown()
	panel := figures.Chart{
		Key:    p.Key,
		Title:  p.Title,
		XLabel: p.Protocol.XLabel,
		YLabel: cmp.Or(p.YLabel, "accuracy"),
		YRange: p.YRange,
		Share:  p.Absolute && slices.Contains([]string{"accuracy", "score"}, shown.Name),
		Paper:  paper.Beside(p.Figure, p.Key),
	}
	if shown.Name == "accuracy" {
		panel.Unit = figures.Percent
	}
	if shown.StandIn != "" {
		panel.Title += " (" + shown.StandIn + ")"
	}
	drawn, base := p.Series, ""
	if !p.Absolute {
		drawn, base = p.Series[1:], p.Series[0]
		panel.Reference = figures.NewReference(base, 0)
		panel.YLabel += " minus " + panel.Reference.Label
		if panel.Unit != "" {
			panel.Unit = figures.Points
		}
	}
	for _, name := range drawn {
		at, err := figures.Means(rows, p.Key, shown.String(), name, base)
		if err != nil {
			return figures.Chart{}, err
		}
		series := figures.NewSeries(name, at)
		if slices.Contains(p.MeanLines, name) {
			series.Mean, series.Dash = true, "20 4" // another panel may have the series' curve: the legend tells them apart
		}
		series.Mean = series.Mean || slices.Contains(p.References, name)
		panel.Series = append(panel.Series, series)
	}
	return panel, nil
}

// links are those of a figure's page: to its verdicts, which a draft has not, and the folders of its runs.
func links(panels []claims.Collected, draft *figures.Draft) []figures.Link {
	var out []figures.Link
	if draft == nil {
		out = append(out, figures.Link{Label: "Claims with all numbers", Text: claimsFile, Href: claimsFile})
	}
	var folders []string
	results := map[string]*runs.Result{}
	for _, c := range panels {
		maps.Copy(results, c.Results)
		for _, job := range c.Jobs {
			folders = append(folders, job.Spec.Experiment)
		}
	}
	slices.Sort(folders)
	if len(results) > 0 {
		label := runs.Plural(len(results), "run") + ", stored below the folder of --results or read from tables"
		out = append(out, figures.Link{Label: label, Text: strings.Join(slices.Compact(folders), ", ")})
	}
	return out
}

// WriteJSON writes v to a file as indented JSON, atomically.
func WriteJSON(path string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	if err := artifact.Replace(path, append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return nil
}
