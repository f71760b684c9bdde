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
	Judged   map[string]JudgedSample      `json:"judged,omitempty"` // by panel, where it is more than is drawn
}

// JudgedSample is what the claims about a panel are judged by, with those of its runs that the figure does not draw.
// Where parts are judged by several samples it is that with the most runs.
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

// NewRecord collects the provenance of the runs that panels have and of those that their claims are judged by.
func NewRecord(scale experiment.Scale, madeBy runs.Provenance, panels []Collected, e Evidence) Record {
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
		if samples := e.samples[c.Key]; len(samples) > 0 {
			record.Judged[c.Key] = judgedRecord(samples, drawn)
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

// judgedRecord is that of the larger samples of a panel; the drawn runs are recorded elsewhere.
func judgedRecord(samples []judgedSample, drawn []RunRecord) JudgedSample {
	out, most := JudgedSample{Runs: []RunRecord{}}, 0
	for _, s := range samples {
		if len(s.Jobs) > most {
			out.Sample, most = s.Sample(), len(s.Jobs)
		}
		for _, run := range s.records() {
			same := func(r RunRecord) bool { return r.ID == run.ID }
			if !slices.ContainsFunc(slices.Concat(drawn, out.Runs), same) {
				out.Runs = append(out.Runs, run)
			}
		}
	}
	return out
}
