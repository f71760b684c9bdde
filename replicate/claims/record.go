package claims

import (
	"slices"

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
	Judged   map[string]JudgedSample      `json:"judged,omitempty"` // by panel, where it has a narrow sample
}

// JudgedSample is the first narrow sample of a panel, with the runs of all of them that the figure does not draw.
type JudgedSample struct {
	Sample
	Runs []RunRecord `json:"runs"`
}

// RunRecord is one run of a figure.
type RunRecord struct {
	ID         string          `json:"id"`
	Panel      string          `json:"panel"`
	Series     string          `json:"series"`
	Provenance runs.Provenance `json:"provenance"`
	Run        string          `json:"run"`
}

// NewRecord collects the provenance of the runs of panels.
func NewRecord(scale experiment.Scale, madeBy runs.Provenance, panels []Collected) Record {
	record := Record{MadeBy: madeBy, Scale: scale, Settings: map[string]map[string]string{},
		Judged: map[string]JudgedSample{}}
	for _, c := range panels {
		if c.Narrow {
			continue
		}
		if len(c.Seeds) > len(record.Seeds) {
			record.Seeds = c.Seeds
		}
		record.Settings[c.Key] = map[string]string{}
		for _, field := range c.Settings.Fields() {
			record.Settings[c.Key][field.Name] = field.Value
		}
		drawn := c.records()
		record.Runs = append(record.Runs, drawn...)
		if narrow := NarrowOf(panels, c.Key); len(narrow) > 0 {
			record.Judged[c.Key] = judgedRecord(narrow, drawn)
		}
	}
	return record
}

// records lists the panel's runs.
func (c Collected) records() (out []RunRecord) {
	for _, job := range c.Jobs {
		if run := c.Results[job.Spec.ID()]; run != nil {
			out = append(out, RunRecord{job.Spec.ID(), c.Key, job.Series, run.Provenance, job.Spec.String()})
		}
	}
	return out
}

// judgedRecord is that of the narrow samples of a panel; the drawn runs are recorded elsewhere.
func judgedRecord(narrow []Collected, drawn []RunRecord) JudgedSample {
	out := JudgedSample{Sample: narrow[0].Sample(), Runs: []RunRecord{}}
	for _, c := range narrow {
		for _, run := range c.records() {
			same := func(r RunRecord) bool { return r.ID == run.ID }
			if !slices.ContainsFunc(slices.Concat(drawn, out.Runs), same) {
				out.Runs = append(out.Runs, run)
			}
		}
	}
	return out
}
