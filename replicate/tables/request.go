// Package tables is what the questions about a user's own table share: it reads the table ([Open]) and tests it for
// drift ([Finding]). Each question has a package of its own: whether the table has drifted, when and by which columns
// (drift), what each row of the past counts for today (weights), and whether such weights would have helped (backtest).
// All answer in one way: Prepare finds what the user can mend, the job that it returns computes, and the result is a
// summary (String), a page or a file, and JSON.
package tables

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tvps/data/table"
	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/runs"
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
	Group   string       `json:"group,omitempty"`
	Bin     string       `json:"bin"`
	Seed    int64        `json:"seed"`
	Rows    int          `json:"rows"`            // up to T, that are learned from
	Leaks   []string     `json:"leaks,omitempty"` // features that tell time or label by themselves
	Finding *Finding     `json:"drift,omitempty"`
	Notes   []string     `json:"notes,omitempty"`
	// Span counts the rows and names their times, and Contents names the columns of the table by their kinds.
	Span, Contents string `json:"-"`
}

// Opened is a request whose table was read and checked: what all answers begin with.
type Opened struct {
	Stream  *Stream
	Present int     // place of T, the last time that takes part
	Rows    []int   // up to T, as in the file, that are learned from
	Unseen  []int   // the other rows up to T
	Tested  *Sample // rows that are tested for drift; nil: none are
	About   About
}

// Open reads the table up to T: until, as the table has its times, or the last time if it is empty. Its errors are
// *table.Error where the user can mend the table or the request.
func (q Request) Open(until string) (o Opened, err error) {
	if o.Stream, err = Open(q.Source); err != nil {
		return o, err
	}
	s := o.Stream
	if o.Present, err = s.at(until); err != nil {
		return o, err
	}
	if err = s.labelUpTo(o.Present + 1); err != nil {
		var constant *table.Error
		if errors.As(err, &constant) {
			constant.Problem, constant.Fix = constant.Problem+o.UpTo(), "name a later time with --at"
		}
		return o, err
	}
	o.Rows = s.Times.Rows(0, o.Present+1)
	marks, err := s.unseen()
	if err != nil {
		return o, err
	}
	if marks != nil {
		all := o.Rows
		o.Rows = slices.DeleteFunc(slices.Clone(all), func(row int) bool { return marks[row] })
		o.Unseen = slices.DeleteFunc(all, func(row int) bool { return !marks[row] })
	}
	if least := q.Fit.LeastRows(); len(o.Rows) < least {
		unmarked := ""
		if len(o.Unseen) > 0 {
			unmarked = " that " + q.Unseen + " does not mark"
		}
		return o, o.Mistake("%d rows%s%s are too few; g needs at least %d", len(o.Rows), o.UpTo(), unmarked, least)
	}
	sorted := slices.Clone(o.Rows)
	s.Sort(sorted)
	if q.Fit.Permutations > 0 {
		if o.Tested, err = s.sampleOf(sorted); err != nil {
			return o, err
		}
	}
	o.About = About{File: q.File, Schema: s.Table.Schema(), Time: q.Time, Label: q.Label,
		Group: q.Group, Bin: q.Bin.String(), Seed: q.Seed, Rows: len(o.Rows), Contents: s.String()}
	o.About.Span = fmt.Sprintf("%s, %s to %s in %s", runs.Plural(len(o.Rows), "row"), ShortName(s.Times.Names[0]),
		ShortName(s.Times.Names[o.Present]), runs.Plural(o.Present+1, "time"))
	if o.Tested != nil && s.Group != nil {
		once, brief := s.passing(o.Rows)
		if once == len(o.Rows) {
			mistake := o.Mistake("each of its values is at one time only, and the tests for drift compare rows of one value")
			mistake.Column, mistake.Fix = q.Group, "leave out --group, name another column, or choose a finer --bin"
			return o, mistake
		}
		if 2*brief > len(o.Rows) {
			o.About.AddNote("%d of %d rows have a %s that is there in less than a tenth of the times: drift from one %s "+
				"to the next is not found; to see it leave out --group", brief, len(o.Rows), q.Group, q.Group)
		}
	}
	if o.Tested != nil {
		names, err := s.entities(sorted)
		if err != nil {
			return o, err
		}
		if len(names) > 0 {
			o.About.AddNote("at most times each value of %s is in one row: if it names entities, such as shops, whose rows depend on "+
				"each other, give --group %s", Joined(names, "or"), names[0])
		}
	}
	if until != "" && s.Times.Beyond(until, o.Present) {
		o.About.AddNote("%s lies inside %s: the rows of this bin count up to its end", until, s.Times.Names[o.Present])
	}
	if s.mixed {
		o.About.AddNote("the rows of each time are sorted by %s, so their order is taken as random: rows that depend on each "+
			"other may be called drift; if it is the order of time, name a column of finer times by --time", q.Label)
	}
	if s.Late != "" && until == "" {
		o.About.AddNote("the present is %s, not %s, the last time of the table: its rows have no label. x alone needs none: "+
			"--kind covariate of weights, or no --label", ShortName(s.Times.Names[o.Present]), s.Late)
	}
	if s.partly != "" && until == "" {
		o.About.AddNote("%s", s.partly)
	}
	found, notes, err := s.leaks(sorted)
	if o.About.Leaks = notes; o.Tested != nil {
		o.Tested.hidden = found
	}
	return o, err
}

// Begin says what was read, and has notes for the user before anything is fitted.
func (o *Opened) Begin() string {
	text := fmt.Sprintf("%s; %s\n", o.About.Span, o.About.Contents)
	for _, note := range o.About.Leaks {
		text += fmt.Sprintf("note: %s\n", note)
	}
	return text
}

// UpTo names T where later rows take no part.
func (o *Opened) UpTo() string {
	if o.Present == len(o.Stream.Times.Names)-1 {
		return ""
	}
	return " up to " + o.Stream.Times.Names[o.Present]
}

// Mistake is an error about the rows up to T.
func (o *Opened) Mistake(problem string, args ...any) *table.Error {
	fix := "give more rows"
	if o.UpTo() != "" {
		fix = "name a later time with --at"
	}
	return &table.Error{File: o.Stream.Source.File, Problem: fmt.Sprintf(problem, args...), Fix: fix}
}

// Mendable makes an error about rows that differ too little a *table.Error.
func (o *Opened) Mendable(err error) error {
	if !errors.Is(err, crossfit.ErrFewRows) {
		return err
	}
	mistake := o.Mistake("the rows%s have too few different values", o.UpTo())
	mistake.Err = err
	return mistake
}

// Test answers whether the rows drift.
func (a *About) Test(ctx context.Context, q Request, s *Sample) (err error) {
	if a.Finding, err = s.Find(ctx, q.Fit, q.Seed); err == nil {
		a.Notes = slices.Concat(a.Notes, s.notes, a.Finding.notes())
	}
	return err
}

// AddNote adds a note to the answer.
func (a *About) AddNote(text string, args ...any) {
	a.Notes = append(a.Notes, fmt.Sprintf(text, args...))
}

// AllNotes are the leaks and the notes.
func (a *About) AllNotes() []string { return slices.Concat(a.Leaks, a.Schema.Notes, a.Notes) }

// NoteLines are the notes of a summary.
func (a *About) NoteLines() string {
	var b strings.Builder
	for _, note := range a.AllNotes() {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	return b.String()
}
