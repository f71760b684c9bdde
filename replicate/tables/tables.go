// Package tables answers the questions about a user's own table: whether it has drifted, when and by which columns
// (Drift), what each row of the past counts for today (Weights), and whether such weights would have helped (Backtest).
// All answers come about in one way: Open reads the table, a Prepare function finds what the user can mend, the job
// that it returns computes, and the result is a summary (String), a page or a file, and JSON.
package tables

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"tvps/data/artifact"
	"tvps/data/table"
	"tvps/figures"
	"tvps/gomlx_models/propensity/crossfit"
)

// Request is what is asked of every table.
type Request struct {
	Source
	Fit  crossfit.Config // settings of g
	Seed int64
}

// About is what every result says of its table.
type About struct {
	File    string       `json:"file"`
	Schema  table.Schema `json:"schema"`
	Time    string       `json:"time"`
	Label   string       `json:"label,omitempty"`
	Bin     string       `json:"bin"`
	Seed    int64        `json:"seed"`
	Rows    int          `json:"rows"`            // up to T
	Leaks   []string     `json:"leaks,omitempty"` // features that tell time or label by themselves
	Finding *Finding     `json:"drift,omitempty"`
	Notes   []string     `json:"notes,omitempty"`
	columns string       // of the table, by kind
}

// about describes a table of which so many rows are used, in time order.
func (q Request) about(s *Stream, rows []int) (About, error) {
	a := About{File: q.File, Schema: s.Table.Schema(), Time: q.Time, Label: q.Label, Bin: q.Bin.String(), Seed: q.Seed,
		Rows: len(rows), columns: s.String()}
	var err error
	s.Sort(rows)
	a.Leaks, err = s.Leaks(rows)
	return a, err
}

func (a *About) note(text string, args ...any) { a.Notes = append(a.Notes, fmt.Sprintf(text, args...)) }

// AllNotes are the leaks and the notes.
func (a *About) AllNotes() []string { return slices.Concat(a.Leaks, a.Schema.Notes, a.Notes) }

// noteLines are the notes of a summary.
func (a *About) noteLines() string {
	var b strings.Builder
	for _, note := range slices.Concat(a.Schema.Notes, a.Notes) {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	return b.String()
}

// enough returns an error if g cannot be fitted to so many rows. up: " up to T", or empty.
func (q Request) enough(rows int, up, fix string) error {
	if least := q.Fit.LeastRows(); rows < least {
		return &table.Error{File: q.File, Fix: fix,
			Problem: fmt.Sprintf("%d rows%s are too few; g needs at least %d", rows, up, least)}
	}
	return nil
}

// mendable makes an error about rows that differ too little a *table.Error.
func (q Request) mendable(err error, rows, fix string) error {
	if errors.Is(err, crossfit.ErrFewRows) {
		return &table.Error{File: q.File, Problem: rows + " have too few different values", Fix: fix, Err: err}
	}
	return err
}

// WritePage writes index.html, echarts.min.js and other files by name to the folder, which it makes if needed.
func WritePage(dir string, page []byte, others map[string][]byte) error {
	if err := artifact.MakeFolder(dir); err != nil {
		return fmt.Errorf("cannot write the page: %w", err)
	}
	files := map[string][]byte{"index.html": page, figures.ScriptFile: figures.ECharts}
	for name, content := range others {
		files[name] = content
	}
	for name, content := range files {
		if err := artifact.Replace(filepath.Join(dir, name), content, 0o644); err != nil {
			return fmt.Errorf("cannot write the page: %w", err)
		}
	}
	return nil
}

// ShortName is the name of a time; that of a block of rows is where it begins.
func ShortName(time string) string {
	if _, from, ok := strings.Cut(time, " (from "); ok {
		return strings.TrimSuffix(from, ")")
	}
	return time
}

// plural is a number with its noun.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// joined is "a", "a and b" or "a, b and c".
func joined(list []string, and string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " " + and + " " + list[last]
}

// pText is a probability with three decimals, as ".012".
func pText(p float64) string {
	if p < .0005 {
		return "< .001"
	}
	return strings.TrimPrefix(fmt.Sprintf("%.3f", p), "0")
}

// pIs is a probability as "= .012" or "< .001".
func pIs(p float64) string {
	if text := pText(p); text[0] == '<' {
		return text
	}
	return "= " + pText(p)
}
