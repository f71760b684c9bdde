package lab

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"tvps/figures"
	"tvps/replicate/paper"
	"tvps/replicate/runs"
)

// drawable leaves out what failed runs make impossible to compare with the first series: series without a seed and
// step in common with it, and panels that have no other.
func drawable(plan []PanelPlan, rows []figures.Row) ([]PanelPlan, []figures.Row) {
	var panels []PanelPlan
	var kept []figures.Row
	for _, p := range plan {
		series, base := p.Series, p.Series[0]
		p.Series = slices.DeleteFunc(slices.Clone(series), func(name string) bool {
			_, _, err := figures.Relative(rows, p.Key, p.Shown, name, base)
			return err != nil
		})
		if len(p.Series) < min(len(series), 2) {
			continue
		}
		p.Absent = slices.DeleteFunc(slices.Clone(series), func(name string) bool {
			return slices.Contains(p.Series, name)
		})
		panels = append(panels, p)
		for _, r := range rows {
			if r.Panel == p.Key && slices.Contains(p.Series, r.Series) {
				kept = append(kept, r)
			}
		}
	}
	return panels, kept
}

// Rows turns the panel's finished runs into rows of the metric that it shows.
func (p PanelPlan) Rows(report runs.Report) []figures.Row {
	rows := p.rowsOf(report, func(metric string) bool { return metric == p.metric() })
	for i := range rows {
		rows[i].Metric = p.Shown
	}
	return rows
}

// rowsOf turns the panel's finished runs into rows of some metrics.
func (p PanelPlan) rowsOf(report runs.Report, wanted func(metric string) bool) []figures.Row {
	var rows []figures.Row
	for _, job := range p.Jobs {
		for _, r := range finished(job.Job, report).Rows {
			if wanted(r.Metric) {
				rows = append(rows, figures.Row{Panel: p.Key, Series: job.Series, Seed: job.Spec.Seed,
					T: r.T, Metric: r.Metric, Value: r.Value})
			}
		}
	}
	return rows
}

// further returns what the drawn runs measured besides what the panel shows, if the protocol has tasks. A panel of
// another metric has the runs of one that shows the measure.
func (p PanelPlan) further(report runs.Report) []figures.Row {
	if p.Protocol.IsTask == nil || p.Metric != "" {
		return nil
	}
	rows := p.rowsOf(report, func(metric string) bool { return metric != p.metric() })
	return slices.DeleteFunc(rows, func(r figures.Row) bool { return !slices.Contains(p.Series, r.Series) })
}

// finished returns a job's run with the steps that the job wants, or an empty one if the report lacks any of them.
func finished(job runs.Job, report runs.Report) *runs.Result {
	if whole, ok := report.Results[job.Spec.ID()]; ok {
		if wanted := whole.Only(job.Steps); len(wanted.Steps) == len(job.Steps) {
			return wanted
		}
	}
	return &runs.Result{}
}

// complete leaves out the rows of series of which a run is missing: a claim is judged by all its seeds or not at all.
func complete(plan []PanelPlan, rows []figures.Row, report runs.Report) []figures.Row {
	incomplete := map[[2]string]bool{}
	for _, p := range plan {
		for _, job := range p.Jobs {
			if len(finished(job.Job, report).Steps) == 0 {
				incomplete[[2]string{p.Key, job.Series}] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(rows), func(r figures.Row) bool {
		return incomplete[[2]string{r.Panel, r.Series}]
	})
}

// draw describes the figure, writes its files and prints it.
func (l *Lab) draw(f paper.Figure, o Options, plan []PanelPlan, r *Result) (err error) {
	if r.evidence, err = l.evidence(o, f, plan, complete(plan, r.Rows, r.Report)); err != nil {
		return err
	}
	if err := l.describe(f, o, plan, r); err != nil {
		return err
	}
	return l.write(o, r)
}

// claimsFile is the name of the file with a figure's verdicts.
const claimsFile = "claims.json"

// write writes the files of a described figure and prints it.
func (l *Lab) write(o Options, r *Result) error {
	if err := figures.Write(r.Figure, r.Rows, r.Record, o.Out); err != nil {
		return err
	}
	if err := WriteJSON(filepath.Join(o.Out, claimsFile), r.Claims); err != nil {
		return err
	}
	return l.print(o, r)
}

// describe makes charts, tables, verdicts and the record of a figure from its rows and its evidence.
func (l *Lab) describe(f paper.Figure, o Options, plan []PanelPlan, r *Result) error {
	if err := l.charts(f, o, plan, r); err != nil {
		return err
	}
	r.Claims = judgeAll(f, plan, r.evidence)
	l.fillPage(f, o, plan, r)
	return nil
}

// charts makes charts, tables and the record of a figure from its rows and its evidence.
func (l *Lab) charts(f paper.Figure, o Options, plan []PanelPlan, r *Result) error {
	provenance := l.Provenance()
	r.Figure = figures.Figure{Name: f.Name(), Title: f.Title, Caption: f.Caption}
	var seeds []string
	for _, p := range plan {
		panel, err := chart(p, r.Rows)
		if err != nil {
			return err
		}
		panel.Judged = r.evidence.ofLarger(p)
		panel.Metrics = p.further(r.Report)
		panel.Notes = slices.Concat(p.Notes(), p.ends(r, f.Claims), p.noted(r.Report),
			r.evidence.notes(p.Key, len(p.Spans) > 0), p.spans(r.evidence))
		if panel.Films, err = p.films(l.Store); err != nil {
			return err
		}
		if len(panel.Films) == 0 && p.Metric == "" {
			panel.Films = l.tables.films(r.Figure, p)
		}
		r.Figure.Panels = append(r.Figure.Panels, panel)
		summary, err := figures.Table(r.Rows, p.Key, p.Shown, p.Series[0])
		if err != nil {
			return err
		}
		r.Tables = append(r.Tables, summary)
		if n := fmt.Sprint(len(p.Seeds)); !slices.Contains(seeds, n) {
			seeds = append(seeds, n)
		}
	}
	r.Figure.Source = []string{
		fmt.Sprintf("Scale %s, %s seeds, %s.", o.Scale, strings.Join(seeds, " or "), l.backendsOf(r.Report)),
		CommitNote + ShortCommit(provenance) + ".",
	}
	r.Record = RecordOf(o, plan, provenance, r.Report)
	r.Record.addJudged(plan, r.evidence)
	return nil
}

// CommitNote begins the sentence of a figure's source that names the commit.
const CommitNote = "Commit "

// ShortCommit names the commit in twelve digits, and says if the checkout had changes.
func ShortCommit(p runs.Provenance) string {
	switch {
	case p.Commit == "":
		return "unknown"
	case p.Dirty:
		return p.Commit[:min(12, len(p.Commit))] + " with changes"
	}
	return p.Commit[:min(12, len(p.Commit))]
}

// chart describes one panel: the values of every series, or their differences to the first one, which is then the
// line 0.
func chart(p PanelPlan, rows []figures.Row) (figures.Panel, error) {
	base, _ := figures.LookUp(p.Series[0])
	panel := figures.Panel{
		Key:    p.Key,
		Title:  p.Title,
		XLabel: p.Protocol.XLabel,
		YLabel: cmp.Or(p.YLabel, "test accuracy"),
		YRange: p.YRange,
		Share:  p.Absolute && slices.Contains([]string{"accuracy", "score"}, p.metric()),
	}
	if p.Source.StandIn != "" {
		panel.Title += " (" + p.Source.StandIn + ")"
	}
	if !p.Absolute {
		panel.YLabel += " minus " + base.Label
		panel.Reference = figures.NewReference(p.Series[0], 0)
	}
	for i, name := range p.Series {
		if i == 0 && !p.Absolute {
			continue
		}
		points, _, err := figures.Absolute(rows, p.Key, p.Shown, name)
		if !p.Absolute {
			points, _, err = figures.Relative(rows, p.Key, p.Shown, name, p.Series[0])
		}
		if err != nil {
			return figures.Panel{}, err
		}
		series := figures.NewSeries(name, points)
		if slices.Contains(p.MeanLines, name) || slices.Contains(p.References, name) {
			series.Style = figures.MeanLine
		}
		panel.Series = append(panel.Series, series)
	}
	return panel, nil
}

// labels are the names of series for people.
func labels(series []string) []string {
	out := make([]string, len(series))
	for i, name := range series {
		look, _ := figures.LookUp(name)
		out[i] = look.Label
	}
	return out
}

// print writes tables and verdicts.
func (l *Lab) print(o Options, r *Result) error {
	for _, t := range r.Tables {
		if err := figures.PrintTable(l.Stdout, t); err != nil {
			return err
		}
		for _, note := range r.evidence.notes(t.Panel, false) {
			fmt.Fprintln(l.Stdout, note)
		}
	}
	fmt.Fprintln(l.Stdout, "Claims of the paper, here:")
	for _, c := range r.Claims {
		fmt.Fprintln(l.Stdout, c)
	}
	_, err := fmt.Fprintf(l.Stdout, "Figure: %s\n", filepath.Join(o.Out, "index.html"))
	return err
}
