package backtest

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"tvps/data/artifact"
	"tvps/replicate/runs"
	"tvps/replicate/tables"
)

// record is what the store keeps of a finished back test in addition to its losses.
type record struct {
	File     string          `json:"file"` // absolute
	Table    string          `json:"table-sha256"`
	Columns  string          `json:"columns"` // time, label and bin
	Began    time.Time       `json:"began"`
	Model    string          `json:"model"`
	Sentence string          `json:"verdict"`
	Asked    string          `json:"asked"` // what decides the finding, apart from the run
	Finding  *tables.Finding `json:"drift,omitempty"`
}

const (
	recordSuffix = ".verdict.json"
	recordBytes  = 1 << 20
)

// columns identifies the question that is asked of a table.
func columns(s tables.Source) string { return canonical([]any{s.Time, s.Label, s.Bin}) }

func readRecord(path string) (r record, err error) {
	text, err := artifact.ReadFile(path, recordBytes)
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	return r, err
}

// record completes a result: it tests for drift by the rule of drift and weights, unless the store has the answer, and
// stores it with the verdict. A folder that cannot be written is a note.
func (p *Job) record(ctx context.Context, h Host, r *Result, spec runs.Spec) error {
	path := filepath.Join(h.Store.Dir(), experiment, spec.ID()+recordSuffix)
	parts := []any{inputs, p.Fit, p.Present}
	if p.Group != "" {
		parts = append(parts, p.Group)
	}
	asked := canonical(parts)
	before, _ := readRecord(path) // of a damaged file nothing is taken
	if before.Asked == asked {
		r.Finding = before.Finding
	}
	if r.Finding == nil && p.Tested != nil {
		var err error
		if r.Finding, err = p.Tested.Find(ctx, p.Fit, p.Seed); err != nil {
			return p.Mendable(err)
		}
	}
	if r.Finding != nil {
		r.Notes = slices.Concat(r.Notes, p.Tested.Notes(r.Finding))
	}
	began, _ := h.Store.Begun(spec, true)
	file, err := filepath.Abs(p.File)
	now := record{File: file, Table: spec.Settings["table"], Columns: columns(p.Source), Began: began, Model: r.ShortModel(),
		Sentence: r.Verdict.Sentence, Asked: asked, Finding: r.Finding}
	if text := canonical(now); err == nil && text != canonical(before) {
		err = artifact.Replace(path, []byte(text), 0o644)
	}
	if err != nil {
		r.AddNote("the verdict cannot be stored: %v", err)
	}
	return nil
}

// LastVerdict is what the last back test of a table says that is stored in the folder results, as a sentence with its
// date; empty for none. The table may have changed since, which the sentence says then.
func LastVerdict(results string, s tables.Source) string {
	paths, _ := filepath.Glob(filepath.Join(results, experiment, "*"+recordSuffix)) // the pattern is one
	file, err := filepath.Abs(s.File)
	if err != nil || len(paths) == 0 {
		return ""
	}
	hash, err := s.SHA256()
	if err != nil {
		return ""
	}
	var last record
	since := ""
	for _, path := range paths {
		r, err := readRecord(path)
		if err == nil && r.Columns == columns(s) && r.Began.After(last.Began) && (r.Table == hash || r.File == file) {
			last = r
		}
	}
	if last.Table != hash {
		since = ", before the table changed"
	}
	if last.Sentence == "" {
		return ""
	}
	return fmt.Sprintf("the last back test of this table (%s, model %s%s) says: %s", last.Began.Format("2006-01-02"),
		last.Model, since, last.Sentence)
}
