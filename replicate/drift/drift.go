// Package drift says whether a user's own table has drifted, when, in x, in y or in y given x, by which columns, and
// which part of the past resembles the present.
package drift

import (
	"context"
	"errors"
	"fmt"

	"tvps/data/table"
	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/own"

	"github.com/gomlx/compute"
)

// Request says what is to be measured.
type Request struct {
	own.Source
	Fit  crossfit.Config // with at least LeastPermutations; its Kinds are not used
	Seed int64
}

// LeastPermutations is the least number of permutations: the standard deviation of fewer losses is too uncertain.
const LeastPermutations = 10

// level of all decisions, after correction.
const level = .05

// Bounds of the work, whatever the size of the table.
const (
	mostBlocks   = 60    // of time
	leastRows    = 30    // of a block, on average
	mostRows     = 60000 // that g is fitted on
	testRows     = 250   // of a stretch in a test over time
	columnRows   = 3000  // whose columns are permuted
	mostColumns  = 200   // that are permuted
	mapRows      = 100   // of a block in the map
	shuffles     = 9999  // of a test over time
	leastTested  = 4     // rows of a stretch in a test over time
	mostChunks   = 10    // of a stretch in a test over time
	leastChunks  = 8     // of a typical stretch; otherwise stretches are merged
	leastStretch = 3     // stretches that are not merged further
	chunkTimes   = 6     // autocorrelation times of a chunk
)

// Result is what was found.
type Result struct {
	File   string       `json:"file"`
	Schema table.Schema `json:"schema"`
	Time   string       `json:"time"`
	Label  string       `json:"label,omitempty"`
	Bin    string       `json:"bin"`
	Seed   int64        `json:"seed"`
	Rows   int          `json:"rows"`
	Used   int          `json:"rows-used"` // by g; the others were left out at regular distances

	Blocks    []Block    `json:"blocks"`
	Questions []Question `json:"questions"`
	Tests     *Tests     `json:"tests"`
	Columns   *Columns   `json:"columns"`
	Maps      []Map      `json:"maps"` // of x; with a label also of x and y, and of y given x
	Verdict   Verdict    `json:"verdict"`
	Notes     []string   `json:"notes,omitempty"`
	about     string     // columns of the table by kind
}

// Block is a time, or several neighbouring times of a table that has more than mostBlocks.
type Block struct {
	Name  string  `json:"name"` // its first time
	Value float64 `json:"time"` // mean of its times, as table.Times has them
	Rows  int     `json:"rows"`
}

// Question is one of the three: whether x, y, or y given x drifts.
type Question struct {
	Name  string         `json:"name"`
	Loss  float64        `json:"loss"`      // held-out loss of g with the real times
	Null  float64        `json:"null-loss"` // mean with shuffled times
	P     float64        `json:"p"`
	Holm  float64        `json:"p-holm"`
	Drift bool           `json:"drift"`
	null  *crossfit.Null // of a shuffle
}

// Names of what may drift. InBoth is that of tests and maps.
const (
	InX, InY, InRule, InBoth = "x", "y", "y given x", "x and y"
)

// Prepared is a request whose table was read and checked.
type Prepared struct {
	Request
	result  *Result
	data    crossfit.Table // in order of time; Time is that of the block, Order the place
	of      []int          // block of each row
	encoder *table.Encoder
}

// Prepare reads the table. It finds all that the user can mend in the table or the request, as *table.Error, before
// anything is computed.
func Prepare(q Request) (*Prepared, error) {
	if q.Fit.Permutations < LeastPermutations {
		return nil, fmt.Errorf("drift: %d permutations; at least %d are needed", q.Fit.Permutations, LeastPermutations)
	}
	s, err := own.Open(q.Source)
	if err != nil {
		return nil, err
	}
	b := blocksOf(s.Times)
	rows, thinned := b.rows(s)
	if least := q.Fit.LeastRows(); len(rows) < least {
		return nil, &table.Error{File: q.File, Fix: "give more rows",
			Problem: fmt.Sprintf("%d rows are too few; g needs at least %d", len(rows), least)}
	}
	p := &Prepared{Request: q, of: b.of}
	if p.data, p.encoder, err = s.Data(rows); err != nil {
		return nil, err
	}
	b.retime(&p.data)
	r := &Result{File: q.File, Schema: s.Table.Schema(), Time: q.Time, Label: q.Label, Bin: q.Bin.String(), Seed: q.Seed,
		Rows: s.Table.Rows(), Used: len(rows), Blocks: b.list, about: s.String()}
	if b.per > 1 {
		r.note("%d times were merged to %d blocks of %d", len(s.Times.Values), len(b.list), b.per)
	}
	if thinned {
		r.note("g saw %d of %d rows: every n-th in time order, at most %d of a block", len(rows), r.Rows,
			mostRows/len(b.list))
	}
	r.Notes = append(r.Notes, own.Clocks(p.encoder.Names(), p.data)...)
	p.result = r
	return p, nil
}

// Measure answers. progress, if not nil, is called with the share of the work done and what is done next. Errors: a
// *table.Error if the rows differ too little, and those of package propensity.
func (p *Prepared) Measure(ctx context.Context, backend compute.Backend, progress func(share float64, next string)) (
	*Result, error) {
	m := &measurement{Result: p.result, ctx: ctx, backend: backend, d: p.data, of: p.of, q: p.Request, show: progress}
	err := m.run(p.encoder)
	if errors.Is(err, crossfit.ErrFewRows) {
		err = &table.Error{File: p.File, Problem: "the rows have too few different values", Fix: "give more rows", Err: err}
	}
	if err != nil {
		return nil, err
	}
	return m.Result, nil
}

func (r *Result) note(text string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(text, args...))
}

// measurement is a Result in the making.
type measurement struct {
	*Result
	ctx     context.Context
	backend compute.Backend
	q       Request
	show    func(share float64, next string) // may be nil
	d       crossfit.Table                   // in order of time; Time is that of the block, Order the place
	of      []int                            // block of each row
	fitter  *crossfit.Fitter
	g       *crossfit.Fitted
}

// Shares of the work, as they were timed on tables of 1e5 rows.
const (
	fitShare, yShare, testShare, columnShare = .45, .15, .2, .1
)

func (m *measurement) progress(share float64, next string) {
	if m.show != nil {
		m.show(share, next)
	}
}

func (m *measurement) run(encoder *table.Encoder) error {
	m.fitter = crossfit.NewFitter(m.backend)
	defer m.fitter.Close()
	if err := m.ask(); err != nil {
		return err
	}
	done := fitShare + yShare
	var err error
	if m.Tests, err = m.overTime(func(share float64) { m.progress(done+share*testShare, "tests over time") }); err != nil {
		return err
	}
	done += testShare
	m.Columns, err = m.columns(encoder, func(share float64) { m.progress(done+share*columnShare, "columns") })
	if err != nil {
		return err
	}
	done += columnShare
	if err := m.maps(func(share float64) { m.progress(done+share*(1-done), "map") }); err != nil {
		return err
	}
	m.Verdict = m.judge()
	return nil
}
