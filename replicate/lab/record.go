package lab

import (
	"encoding/json"
	"fmt"

	"tvps/data/artifact"
	"tvps/replicate/experiment"
	"tvps/replicate/runs"
)

// Record is the contents of provenance.json: how the figure was made, and the provenance of each run.
type Record struct {
	MadeBy   runs.Provenance              `json:"made-by"`
	Runs     []RunRecord                  `json:"runs"`
	Scale    experiment.Scale             `json:"scale"`
	Seeds    []int64                      `json:"seeds"`
	Settings map[string]map[string]string `json:"settings"`         // by panel and name
	Judged   map[string]JudgedSample      `json:"judged,omitempty"` // by panel, where it is more than is drawn
}

// JudgedSample is what the claims about a panel are judged by, with those of its runs that the figure does not draw.
// Where parts are judged by several samples it is that with the most runs.
type JudgedSample struct {
	Sample
	Compared []ComparedSample `json:"compared,omitempty"` // where there are several
	Runs     []RunRecord      `json:"runs"`
}

// ComparedSample is what the parts of claims with some sets of series are judged by.
type ComparedSample struct {
	Series [][]string `json:"series"`
	Sample
}

// RunRecord is one run of a figure.
type RunRecord struct {
	ID         string          `json:"id"`
	Panel      string          `json:"panel"`
	Series     string          `json:"series"`
	Provenance runs.Provenance `json:"provenance"`
	Run        string          `json:"run"`
}

// RecordOf collects the provenance of the runs of a plan that the report has.
func RecordOf(o Options, plan []PanelPlan, p runs.Provenance, report runs.Report) Record {
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
				record.Runs = append(record.Runs, RunRecord{job.Spec.ID(), panel.Key, job.Series, r.Provenance, job.Spec.String()})
			}
		}
	}
	return record
}

// addJudged adds the larger samples by which claims about panels of a plan are judged.
func (r *Record) addJudged(plan []PanelPlan, e evidence) {
	r.Judged = map[string]JudgedSample{}
	for _, p := range plan {
		sample := JudgedSample{Runs: []RunRecord{}}
		has, most := map[string]bool{}, 0
		for _, drawn := range r.Runs {
			has[drawn.ID] = has[drawn.ID] || drawn.Panel == p.Key
		}
		for _, q := range e.larger[p.Key] {
			if len(q.Jobs) > most {
				sample.Sample, most = q.sample(), len(q.Jobs)
			}
			sample.Compared = append(sample.Compared, ComparedSample{q.compared, q.sample()})
			for _, job := range q.Jobs {
				if id := job.Spec.ID(); !has[id] {
					has[id] = true
					sample.Runs = append(sample.Runs, RunRecord{id, p.Key, job.Series, e.results[id].Provenance, job.Spec.String()})
				}
			}
		}
		if len(sample.Compared) == 1 {
			sample.Compared = nil
		}
		if most > 0 {
			r.Judged[p.Key] = sample
		}
	}
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
