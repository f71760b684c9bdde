package paper

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"

	"tvps/figures"
	"tvps/replicate/runs"

	"github.com/google/renameio/v2"
)

// drawable leaves out what failed runs make impossible to compare with Everything:
// series without a seed and step in common with it, and panels that have no other.
func drawable(plan []PanelPlan, rows []figures.Row) ([]PanelPlan, []figures.Row) {
	var panels []PanelPlan
	var kept []figures.Row
	for _, p := range plan {
		p.Learners = slices.DeleteFunc(slices.Clone(p.Learners), func(name string) bool {
			_, _, err := figures.Relative(rows, p.Key, "accuracy", name, "everything")
			return err != nil
		})
		if len(p.Learners) < 2 {
			continue
		}
		panels = append(panels, p)
		for _, r := range rows {
			if r.Panel == p.Key && slices.Contains(p.Learners, r.Series) {
				kept = append(kept, r)
			}
		}
	}
	return panels, kept
}

// collect turns a panel's finished runs into rows.
func collect(p PanelPlan, report runs.Report) []figures.Row {
	var rows []figures.Row
	for _, job := range p.Jobs {
		result, ok := report.Results[job.Spec.ID()]
		if !ok {
			continue
		}
		for _, r := range result.Rows {
			if r.Metric == "accuracy" {
				rows = append(rows, figures.Row{Panel: p.Key, Series: job.Spec.Learner, Seed: job.Spec.Seed, T: r.T, Metric: r.Metric, Value: r.Value})
			}
		}
	}
	return rows
}

func (l *Lab) draw(f Figure, o Options, plan []PanelPlan, provenance runs.Provenance, r *Result) error {
	r.Figure = figures.Figure{Name: f.Name, Title: f.Title, Caption: f.Caption}
	for _, p := range plan {
		panel, err := chart(p, r.Rows)
		if err != nil {
			return err
		}
		panel.Notes = l.notes(p, o)
		r.Figure.Panels = append(r.Figure.Panels, panel)
		summary, err := figures.Table(r.Rows, p.Key, "accuracy", "everything")
		if err != nil {
			return err
		}
		r.Tables = append(r.Tables, summary)
	}
	r.Figure.Source = []string{fmt.Sprintf("Scale %s, %d seeds, backend %s.", o.Scale, len(o.Seeds), provenance.Backend), CommitNote + commit(provenance) + "."}
	for _, c := range f.Claims {
		if slices.ContainsFunc(plan, func(p PanelPlan) bool { return p.Key == c.Panel }) {
			r.Claims = append(r.Claims, judge(c, r.Rows))
		}
	}
	r.Record = recordOf(o, plan, provenance, r.Report)
	if err := figures.Write(r.Figure, r.Rows, r.Record, o.Out); err != nil {
		return err
	}
	if err := writeJSON(filepath.Join(o.Out, "claims.json"), r.Claims); err != nil {
		return err
	}
	return l.print(o, r)
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

// chart describes one panel: every series relative to Everything, which is the line 0.
func chart(p PanelPlan, rows []figures.Row) (figures.Panel, error) {
	panel := figures.Panel{Key: p.Key, Title: p.Title, XLabel: "time step t", YLabel: "test accuracy minus Everything",
		Reference: figures.NewReference("everything", 0)}
	for _, name := range p.Learners {
		if name == "everything" {
			continue
		}
		points, _, err := figures.Relative(rows, p.Key, "accuracy", name, "everything")
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

// notes says in words what a panel was made from.
func (l *Lab) notes(p PanelPlan, o Options) []string {
	s := p.Settings
	limit := ""
	if s.MaxUpdates > 0 {
		limit = fmt.Sprintf(" (at most %d minibatches of %d)", s.MaxUpdates, s.Batch)
	}
	out := []string{fmt.Sprintf("N = %d samples a step, %d epochs%s, every %s step of %d, clip %s, %s.",
		s.N, s.Epochs, limit, ordinal(s.Stride), s.Steps, s.Clip, s.Method)}
	training := fmt.Sprintf("%d minibatches", s.GUpdates)
	if s.GEpochs > 0 {
		training = fmt.Sprintf("%d epochs", s.GEpochs)
	}
	out = append(out, fmt.Sprintf("g: %s of width %d, %s time, %s of %d at rate %g.", s.GNetwork, s.GHidden, s.GTime, training, s.GBatch, s.GRate))
	if s.Network != "head" {
		return out
	}
	if err := s.CheckStride(); err != nil {
		out = append(out, err.Error()+".")
	}
	if data, err := l.Env.Images(s); err == nil {
		out = append(out, data.Source.Note+".")
	}
	out = append(out, fmt.Sprintf("ResNet-18 of width %d, trained part starts %s.", s.Width, map[string]string{"pretrained": "from the pre-trained weights", "reinit": "from new random weights"}[s.Start]))
	if s.Checkpoint == "committed" {
		out = append(out, "One checkpoint, pre-trained on split 0, serves all seeds.")
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
	record := Record{MadeBy: p, Scale: o.Scale, Seeds: o.Seeds, Settings: map[string]map[string]string{}}
	for _, panel := range plan {
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
