package lab

import (
	"encoding/json"
	"fmt"

	"tvps/data/artifact"
	"tvps/replicate/runs"
	"tvps/replicate/settings"
)

// Record is the contents of provenance.json: how the figure was made, and the provenance of each run.
type Record struct {
	MadeBy   runs.Provenance              `json:"made-by"`
	Runs     []RunRecord                  `json:"runs"`
	Scale    settings.Scale               `json:"scale"`
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
				record.Runs = append(record.Runs, RunRecord{job.Spec.ID(), panel.Key, r.Provenance, job.Spec.String()})
			}
		}
	}
	return record
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
