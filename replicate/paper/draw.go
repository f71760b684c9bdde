package paper

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"tvps/figures"
	"tvps/replicate/continual"
	"tvps/replicate/runs"

	"github.com/google/renameio/v2"
)

// drawable leaves out what failed runs make impossible to compare with the first series:
// series without a seed and step in common with it, and panels that have no other.
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
		p.Absent = slices.DeleteFunc(slices.Clone(series), func(name string) bool { return slices.Contains(p.Series, name) })
		panels = append(panels, p)
		for _, r := range rows {
			if r.Panel == p.Key && slices.Contains(p.Series, r.Series) {
				kept = append(kept, r)
			}
		}
	}
	return panels, kept
}

// collect turns a panel's finished runs into rows of the metric that it shows.
func collect(p PanelPlan, report runs.Report) []figures.Row {
	var rows []figures.Row
	for _, job := range p.Jobs {
		for _, r := range finished(job.Job, report).Rows {
			if r.Metric == p.metric() {
				rows = append(rows, figures.Row{Panel: p.Key, Series: job.Series, Seed: job.Spec.Seed, T: r.T, Metric: p.Shown, Value: r.Value})
			}
		}
	}
	return rows
}

// finished returns a job's run with the steps that the job wants, or an empty one if the
// report lacks any of them.
func finished(job runs.Job, report runs.Report) *runs.Result {
	if whole, ok := report.Results[job.Spec.ID()]; ok {
		if wanted := whole.Only(job.Steps); len(wanted.Steps) == len(job.Steps) {
			return wanted
		}
	}
	return &runs.Result{}
}

// complete leaves out the rows of series of which a run is missing: a claim is judged by
// all its seeds or not at all.
func complete(plan []PanelPlan, rows []figures.Row, report runs.Report) []figures.Row {
	broken := map[[2]string]bool{}
	for _, p := range plan {
		for _, job := range p.Jobs {
			if len(finished(job.Job, report).Steps) == 0 {
				broken[[2]string{p.Key, job.Series}] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(rows), func(r figures.Row) bool { return broken[[2]string{r.Panel, r.Series}] })
}

// draw describes the figure, writes its files and prints it.
func (l *Lab) draw(f Figure, o Options, plan []PanelPlan, r *Result) error {
	if err := l.describe(f, o, plan, r); err != nil {
		return err
	}
	if err := figures.Write(r.Figure, r.Rows, r.Record, o.Out, figures.WithEChartsFile(l.ECharts)); err != nil {
		return err
	}
	if err := writeJSON(filepath.Join(o.Out, "claims.json"), r.Claims); err != nil {
		return err
	}
	return l.print(o, r)
}

// describe makes charts, tables, verdicts and the record of a figure from its rows.
func (l *Lab) describe(f Figure, o Options, plan []PanelPlan, r *Result) error {
	provenance := l.provenance()
	r.Figure = figures.Figure{Name: f.Name, Title: f.Title, Caption: f.Caption}
	var seeds []string
	for _, p := range plan {
		panel, err := chart(p, r.Rows)
		if err != nil {
			return err
		}
		panel.Notes = slices.Concat(p.Settings.notes(l, p), p.Settings.findings(p, r.Rows))
		panel.Films = p.Settings.films(l, p)
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
	r.Figure.Source = []string{fmt.Sprintf("Scale %s, %s seeds, backend %s.", o.Scale, strings.Join(seeds, " or "), l.backendName()), CommitNote + commit(provenance) + "."}
	r.Claims = judgeAll(f, plan, complete(plan, r.Rows, r.Report))
	r.Record = recordOf(o, plan, provenance, r.Report)
	l.fillPage(f, o, plan, r)
	return nil
}

// fillPage adds what the figure's page shows next to its charts.
func (l *Lab) fillPage(f Figure, o Options, plan []PanelPlan, r *Result) {
	page := &r.Figure
	for _, c := range r.Claims {
		page.Claims = append(page.Claims, c.onPage())
	}
	page.Tables = r.Tables
	for _, p := range plan {
		if note := p.Settings.dataNote(l); note != "" && !slices.Contains(page.Data, note+".") {
			page.Data = append(page.Data, note+".")
		}
	}
	page.Command = o.pageCommand(f)
	page.Links = []figures.Link{
		{Label: "Claims with all numbers", Text: "claims.json", Href: "claims.json"},
	}
	if folders := experimentsOf(plan); len(r.Report.Results) > 0 {
		label := fmt.Sprintf("%d stored runs, below the folder of --results", len(r.Report.Results))
		page.Links = append(page.Links, figures.Link{Label: label, Text: strings.Join(folders, ", ")})
	}
}

// experimentsOf lists the folders of the runs of a plan in the store.
func experimentsOf(plan []PanelPlan) []string {
	var out []string
	for _, job := range jobsOf(plan) {
		out = append(out, job.Spec.Experiment)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// pageCommand is the command that makes the figure with these options. Options given for
// several figures may not all apply to this one: then it is the command for all figures.
func (o Options) pageCommand(f Figure) string {
	name := fmt.Sprint("fig", f.Number)
	if o.Across && len(o.Overrides) > 0 {
		name = "all"
	}
	command := o.Command(name)
	if len(o.Panels) > 0 {
		command += " --panel " + strings.Join(o.Panels, ",")
	}
	if len(o.Learners) > 0 {
		command += " --series " + strings.Join(o.Learners, ",")
	}
	return command
}

// outcomes gives each verdict its look on a page.
var outcomes = map[Verdict]figures.Outcome{
	Holds: figures.Confirmed, Partly: figures.Mixed, DoesNotHold: figures.Contradicted,
	Undecided: figures.Open, NotRun: figures.Missing,
}

// onPage is the verdict as a page shows it.
func (v Verdict) onPage() figures.Verdict {
	return figures.Verdict{Word: string(v), Outcome: outcomes[v]}
}

// onPage is the claim as a page shows it.
func (j Judged) onPage() figures.Claim {
	c := figures.Claim{ID: j.ID, Text: j.Text, Place: j.Place, Says: j.Says, Verdict: j.Verdict.onPage()}
	for _, p := range j.Parts {
		c.Parts = append(c.Parts, figures.ClaimPart{
			What: p.what(), Panel: p.panel(), Effect: p.Effect, Verdict: p.Verdict.onPage(),
		})
	}
	return c
}

// CommitNote begins the sentence of a figure's source that names the commit.
const CommitNote = "Commit "

func commit(p runs.Provenance) string {
	switch {
	case p.Commit == "":
		return "unknown"
	case p.Dirty:
		return p.Commit[:min(12, len(p.Commit))] + " with changes"
	}
	return p.Commit[:min(12, len(p.Commit))]
}

// chart describes one panel: the values of every series, or their differences to the
// first one, which is then the line 0.
func chart(p PanelPlan, rows []figures.Row) (figures.Panel, error) {
	base, _ := figures.LookUp(p.Series[0])
	panel := figures.Panel{Key: p.Key, Title: p.Title, XLabel: p.Settings.xLabel(), YLabel: cmp.Or(p.YLabel, "test accuracy"), YRange: p.YRange}
	if p.StandIn {
		panel.Title += " (" + continual.StandIn + ")"
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
			return panel, err
		}
		series := figures.NewSeries(name, points)
		if slices.Contains(p.MeanLines, name) {
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

func ordinal(n int) string {
	if n == 1 {
		return "single"
	}
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		suffix = map[int]string{1: "st", 2: "nd", 3: "rd"}[n%10]
		if suffix == "" {
			suffix = "th"
		}
	}
	return fmt.Sprint(n, suffix)
}

// Record is what provenance.json holds: how the figure was made, and for each run its own
// provenance.
type Record struct {
	MadeBy   runs.Provenance              `json:"made-by"`
	Runs     []RunRecord                  `json:"runs"`
	Scale    string                       `json:"scale"`
	Seeds    []int64                      `json:"seeds"`
	Settings map[string]map[string]string `json:"settings"` // by panel and name
}

// RunRecord is one run of a figure.
type RunRecord struct {
	ID         string          `json:"id"`
	Panel      string          `json:"panel"`
	Provenance runs.Provenance `json:"provenance"`
	Run        string          `json:"run"`
}

func recordOf(o Options, plan []PanelPlan, p runs.Provenance, report runs.Report) Record {
	record := Record{MadeBy: p, Scale: o.Scale, Settings: map[string]map[string]string{}}
	for _, panel := range plan {
		if len(panel.Seeds) > len(record.Seeds) {
			record.Seeds = panel.Seeds
		}
		record.Settings[panel.Key] = map[string]string{}
		for _, field := range panel.Settings.Fields() {
			record.Settings[panel.Key][field.Name] = field.Value
		}
		for _, job := range panel.Jobs {
			if r, ok := report.Results[job.Spec.ID()]; ok {
				record.Runs = append(record.Runs, RunRecord{job.Spec.ID(), panel.Key, r.Provenance, job.Spec.String()})
			}
		}
	}
	return record
}

func writeJSON(path string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	if err := renameio.WriteFile(path, append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return nil
}

// print writes tables and verdicts.
func (l *Lab) print(o Options, r *Result) error {
	for _, t := range r.Tables {
		if err := figures.PrintTable(l.Stdout, t); err != nil {
			return err
		}
	}
	fmt.Fprintln(l.Stdout, "Claims of the paper, here:")
	for _, c := range r.Claims {
		fmt.Fprintln(l.Stdout, c)
	}
	_, err := fmt.Fprintf(l.Stdout, "Figure: %s\n", filepath.Join(o.Out, "index.html"))
	return err
}
