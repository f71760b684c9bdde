// Package tables answers the questions about a user's own table: whether it has drifted, when and by which columns
// (Drift), what each row of the past counts for today (Weights), and whether such weights would have helped (Backtest).
// All answers come about in one way: Open reads the table, a Prepare function finds what the user can mend, the job
// that it returns computes, and the result is a summary (String), a page or a file, and JSON.
//
//   - drift: finding.go tests x, y and y given x, times.go finds when, drift.go which columns, and text.go says so.
//   - backtest: step.go trains and tests on one block with the weights of rules.go and of the files that are named as
//     rules; result.go compares the rules, advice.go says what to use. Models: linear.go, mlp.go, and command.go of the
//     user.
//   - weights: weights.go asks finding.go, then package crossfit for omega.
package tables

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tvps/data/table"
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
	// Contents names the columns of the table by their kinds.
	Contents string `json:"-"`
}

// opened is a request whose table was read and checked: what all answers begin with.
type opened struct {
	stream *Stream
	at     int     // place of T, the last time that takes part
	rows   []int   // up to T, as in the file
	tested *sample // rows that are tested for drift; nil: none are
	about  About
}

// open reads the table up to T: until, as the table has its times, or the last time if it is empty.
func (q Request) open(until string) (o opened, err error) {
	if o.stream, err = Open(q.Source); err != nil {
		return o, err
	}
	s := o.stream
	if o.at, err = s.At(until); err != nil {
		return o, err
	}
	s.all = nil // it holds the whole table
	o.rows = s.Times.Rows(0, o.at+1)
	if least := q.Fit.LeastRows(); len(o.rows) < least {
		return o, o.mistake("%d rows%s are too few; g needs at least %d", len(o.rows), o.upTo(), least)
	}
	sorted := slices.Clone(o.rows)
	s.Sort(sorted)
	if q.Fit.Permutations > 0 {
		if o.tested, err = s.sample(sorted, o.at+1); err != nil {
			return o, err
		}
	}
	o.about = About{File: q.File, Schema: s.Table.Schema(), Time: q.Time, Label: q.Label, Bin: q.Bin.String(), Seed: q.Seed,
		Rows: len(o.rows), Contents: s.String()}
	if zone := s.Times.Zone(); zone != "" {
		give := "a place such as Europe/Paris"
		if strings.Contains(zone, "/") {
			give = zone
		}
		o.about.note("the times of column %s have the zone %s, but each %s begins at midnight in UTC; --zone with %s changes that",
			q.Time, zone, q.Bin.Unit, give)
	}
	same, err := s.constant(o.rows)
	if err != nil {
		return o, err
	}
	if len(same) > 0 {
		o.about.note("columns with one value in all rows%s, on which no answer depends: %s", o.upTo(), few(same, 5))
	}
	found, notes, err := s.leaks(sorted)
	if o.about.Leaks = notes; o.tested != nil {
		o.tested.hidden = found
	}
	return o, err
}

// Leaks are notes for the user before anything is fitted.
func (o *opened) Leaks() []string { return o.about.Leaks }

// Note adds a note to the answer.
func (o *opened) Note(text string) { o.about.note("%s", text) }

// upTo names T where later rows take no part.
func (o *opened) upTo() string {
	if o.at == len(o.stream.Times.Names)-1 {
		return ""
	}
	return " up to " + o.stream.Times.Names[o.at]
}

// mistake is an error about the rows up to T.
func (o *opened) mistake(problem string, args ...any) *table.Error {
	fix := "give more rows"
	if o.upTo() != "" {
		fix = "name a later time with --at"
	}
	return &table.Error{File: o.stream.Source.File, Problem: fmt.Sprintf(problem, args...), Fix: fix}
}

// mendable makes an error about rows that differ too little a *table.Error.
func (o *opened) mendable(err error) error {
	if !errors.Is(err, crossfit.ErrFewRows) {
		return err
	}
	mistake := o.mistake("the rows%s have too few different values", o.upTo())
	mistake.Err = err
	return mistake
}

// test answers whether the rows drift.
func (a *About) test(ctx context.Context, fitter *crossfit.Fitter, q Request, s *sample) (err error) {
	if a.Finding, err = s.find(ctx, fitter, q); err == nil {
		a.Notes = slices.Concat(a.Notes, s.notes, a.Finding.notes())
	}
	return err
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

// ShortName is the name of a time; that of a block of rows is where it begins.
func ShortName(time string) string {
	if _, from, ok := strings.Cut(time, " (from "); ok {
		return strings.TrimSuffix(from, ")")
	}
	return time
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
