package crossfit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"tvps/data/random"
	"tvps/gomlx_models/loop"
	"tvps/gomlx_models/propensity"

	"github.com/gomlx/gomlx/support/xslices"
)

// Table is a table of the caller's own: n rows in any order, each with a time. A row's outcome
// y is a class (Label), a number (Target) or missing (both nil).
type Table struct {
	X       []float32 // [n * Dim], one row after another, in any unit: g sees normal scores
	Dim     int       // values of x of a row
	Time    []float64 // [n], in any unit
	Label   []int32   // [n], in 0..Classes-1, or nil
	Classes int       // number of labels; 0 without Label
	Target  []float64 // [n], a numeric y in any unit: one more column to g; nil without
	// Order puts rows of equal time in their order, such as the exact moment when Time is a
	// week; nil: they have none, and are split at random. Rows of one time that depend on their neighbours need it, so
	// that the held-out rows are contiguous in time.
	Order []float64
	// Group is the entity of each row, such as a shop, whose chunks the tests shuffle by themselves; nil: there are none.
	Group []int32
	Unit  Unit // what Time counts, for the phases of the calendar that may recur
	// Zone is that of the calendar, if Time counts hours or days since 1970 in UTC; nil: it counts those of the calendar.
	Zone *time.Location
}

// Rows returns rows of the table, in the given order.
func (d Table) Rows(at []int) Table {
	out := Table{Dim: d.Dim, Time: loop.Pick(d.Time, at), Label: loop.Pick(d.Label, at), Classes: d.Classes,
		Target: loop.Pick(d.Target, at), Order: loop.Pick(d.Order, at), Group: loop.Pick(d.Group, at), Unit: d.Unit,
		Zone: d.Zone}
	out.X = make([]float32, 0, len(at)*d.Dim)
	for _, i := range at {
		out.X = append(out.X, d.X[i*d.Dim:(i+1)*d.Dim]...)
	}
	return out
}

// HasY tells whether the rows have an outcome.
func (d Table) HasY() bool { return d.Label != nil || d.Target != nil }

// Y is the outcome of a row: the number, or the class; 0 without.
func (d Table) Y(row int) float64 {
	switch {
	case d.Target != nil:
		return d.Target[row]
	case d.Label != nil:
		return float64(d.Label[row])
	}
	return 0
}

// check returns an error for the first impossible row.
func (d Table) check() error {
	n := len(d.Time)
	switch {
	case d.Dim < 1 || len(d.X) != n*d.Dim:
		return fmt.Errorf("crossfit: %d values of x, in samples of %d, for %d times; each time needs a sample of 1 or more",
			len(d.X), d.Dim, n)
	case d.Label != nil && d.Target != nil:
		return errors.New("crossfit: rows have labels and targets; give one of them")
	case (d.Label != nil) != (d.Classes > 0):
		return fmt.Errorf("crossfit: %d labels of %d classes; give both or none", len(d.Label), d.Classes)
	case d.Unit != "" && d.Unit != "year" && cycles[d.Unit] == nil:
		return fmt.Errorf("crossfit: unit %q is not one of hour, day, week, month, quarter, year, nor empty", d.Unit)
	case d.Group != nil && len(d.Group) != n:
		return fmt.Errorf("crossfit: %d samples, but the groups of %d", n, len(d.Group))
	case d.Label != nil && len(d.Label) != n:
		return fmt.Errorf("crossfit: %d samples but %d labels", n, len(d.Label))
	}
	for _, column := range []struct {
		name   string
		values []float64
	}{{"time", d.Time}, {"target", d.Target}, {"order", d.Order}} {
		if column.values != nil && len(column.values) != n {
			return fmt.Errorf("crossfit: %d samples, but the %s of %d", n, column.name, len(column.values))
		}
		for i, v := range column.values {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("crossfit: the %s of sample %d is %v; remove or replace it", column.name, i, v)
			}
		}
	}
	for i, v := range d.X {
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("crossfit: sample %d, coordinate %d is %v; remove or replace it", i/d.Dim, i%d.Dim, v)
		}
	}
	for i, y := range d.Label {
		if y < 0 || int(y) >= d.Classes {
			return fmt.Errorf("crossfit: sample %d has label %d; labels go from 0 to %d", i, y, d.Classes-1)
		}
	}
	return nil
}

// Diagnostics say what g found, for one set of inputs.
type Diagnostics struct {
	View    View // how g sees the time, and Chosen how it was trained: the lowest held-out loss
	Chosen  Candidate
	Updates int // minibatches at its lowest held-out loss; 0: no training helped, and omega is 1
	// HeldOut is the mean logistic loss of g on rows that it did not see; log 2 without drift.
	HeldOut float64
	// Scale multiplies g: the factor with the lowest held-out loss, below 1 if g is too sure.
	Scale float64
	// Candidates holds the lowest held-out loss of each view and training.
	Candidates []Tried
}

// Tried is a view with a training, and its held-out loss.
type Tried struct {
	View     string
	Training Candidate
	Loss     float64
}

// Fitted is a g fitted to own data by cross-fitting: an ensemble of networks for each fold, which
// did not see the rows of that fold. It is safe for concurrent use.
type Fitted struct {
	Config      Config   // the settings that were used
	Shape       shape    // of the rows
	First, Last float64  // the first and the last time that g knows, u = 0 and u = 1
	Notes       []string // what was done with the data, in sentences; for the user
	// Joint and Covariate tell what g found in (x, y) and in x; nil if it was not fitted.
	Joint, Covariate *Diagnostics

	models map[Kind]*model   // Joint and Covariate
	folds  map[uint64]uint16 // of each row and its equals, by their hash: bit k is fold k
	cycles []Cycle
}

// shape is what rows must have to be given to g, and how g sees them.
type shape struct {
	Dim, Classes int
	Columns      []int               // of x, in their canonical order; g sees them so
	Knots        []propensity.Scores // in that order
	Target       *propensity.Scores  // nil without targets
	Ordered      bool                // rows have an Order
}

// scored are the normal scores of x, with its columns in canonical order.
func (s shape) scored(d Table) []float32 { return propensity.Scored(d.X, s.Knots, s.Columns) }

// check returns an error for rows of another shape.
func (s shape) check(d Table) error {
	switch {
	case d.Dim != s.Dim:
		return fmt.Errorf("crossfit: rows have %d columns, g was fitted on %d", d.Dim, s.Dim)
	case d.Classes != s.Classes:
		return fmt.Errorf("crossfit: rows have labels of %d classes, g was fitted on %d", d.Classes, s.Classes)
	case s.Target != nil && d.Target == nil:
		return errors.New("crossfit: rows have no targets, g was fitted on some")
	case s.Target == nil && d.Target != nil:
		return errors.New("crossfit: rows have targets, g was fitted on none")
	}
	return nil
}

// Fit fits g to the rows and returns what WeightsOf needs. It fits p_t(x,y), and p_t(x) where a
// kind needs it, by logistic regression of a row's own time against the time of another row
// (Algorithm 2), in this way:
//
//   - g sees normal scores: the rank of a number among the rows of its column, as a quantile of the
//     normal distribution. Beyond the fitted values it is that of the least or the greatest one.
//   - Rows are sorted by Time, then Order, and cut into contiguous chunks, which are dealt to
//     Folds folds. Rows that are equal, also in their Order, stay together; without Order equal rows are spread.
//   - For each view of the time and each training one g a fold is trained on the rows of the other
//     folds. The mean loss over the folds' own rows is its held-out loss. The view, the training and
//     the number of updates with the lowest one are taken for all, and Ensemble seeds trained with them.
//   - g is multiplied by the factor that has the lowest held-out loss (Diagnostics.Scale).
//   - The other time is drawn from all rows. The optimum then is log p_t + a function of x (Method 1), whatever the
//     numbers of rows are.
//
// The number of updates is bounded, so the time hardly depends on n. The same rows in another
// order give the same bytes. Errors: impossible rows and settings, fewer rows than two for
// each fold, and kinds that need an outcome which the rows do not have.
func Fit(ctx context.Context, d Table, cfg Config, seed int64) (*Fitted, error) {
	o, rows, err := prepare(d, cfg)
	if err != nil {
		return nil, err
	}
	if err := o.fit(ctx, d, rows, seed); err != nil {
		return nil, err
	}
	return o, nil
}

// prepare returns a Fitted without networks, and its rows in order.
func prepare(d Table, cfg Config) (*Fitted, *sortedRows, error) {
	if err := cfg.Validate(); err != nil {
		return nil, nil, err
	}
	if len(d.Time) == 0 && len(d.X) == 0 {
		return nil, nil, errors.New("crossfit: the table has no rows")
	}
	if err := d.check(); err != nil {
		return nil, nil, err
	}
	o := &Fitted{Config: cfg, models: map[Kind]*model{}, folds: map[uint64]uint16{}}
	o.Config.Kinds, o.Config.Candidates = slices.Clone(cfg.Kinds), slices.Clone(cfg.Candidates)
	o.First, o.Last = slices.Min(d.Time), slices.Max(d.Time)
	if o.First == o.Last {
		return nil, nil, errors.New("crossfit: all samples are from one time; drift needs at least two")
	}
	if math.IsInf(o.Last-o.First, 0) {
		return nil, nil, fmt.Errorf("crossfit: times from %v to %v are too far apart; use another unit", o.First, o.Last)
	}
	if least := cfg.LeastRows(); len(d.Time) < least {
		return nil, nil, fmt.Errorf("crossfit: %w: %d samples for %d folds; there must be at least %d",
			ErrFewRows, len(d.Time), cfg.Folds, least)
	}
	var x []float32
	o.Shape, x = shapeOf(d)
	rows := sortRows(d, o.Shape.Columns)
	rows.x = x
	rows.deal(d, cfg.Folds)
	for i, hash := range rows.hash {
		o.folds[hash] |= 1 << rows.fold[i]
	}
	o.cycles = Cycles(d.Unit, d.Zone, rows.times)
	o.note(d, rows)
	return o, rows, nil
}

// note says what was done with times and sizes.
func (o *Fitted) note(d Table, rows *sortedRows) {
	n := len(rows.at)
	if n < rowsPerTime*len(rows.times) {
		o.Notes = append(o.Notes, fmt.Sprintf("there are fewer than %d rows a time (%d rows, %d times): neighbouring times share "+
			"what g learns", rowsPerTime, n, len(rows.times)))
	} else if d.Order == nil {
		o.Notes = append(o.Notes, "rows of one time have no order; if they depend on their neighbours, give Order")
	}
}

// needs lists the models that the kinds need.
func (o *Fitted) needs() []Kind {
	var out []Kind
	for _, m := range []Kind{Joint, Covariate} {
		if slices.ContainsFunc(o.Config.Kinds, func(k Kind) bool { return k == m || k == Conditional }) {
			out = append(out, m)
		}
	}
	return out
}

// fit trains every model.
func (o *Fitted) fit(ctx context.Context, d Table, rows *sortedRows, seed int64) error {
	if !d.HasY() {
		if !slices.Contains(o.Config.Kinds, Joint) && !slices.Contains(o.Config.Kinds, Covariate) {
			return errors.New("crossfit: conditional weights need labels or targets; the rows have none")
		}
		o.Config.Kinds = []Kind{Covariate}
	}
	if all := periods(d.Unit, rows.times); all != nil {
		o.cycles = []Cycle{strongest(ctx, d, rows, all, seed)}
	}
	for _, kind := range o.needs() {
		m, found, err := o.fitModel(ctx, o.rowsOf(d, rows.at, rows.x, kind), rows, kind, random.Seed(seed, "own", kind))
		if err != nil {
			return err
		}
		if o.models[kind] = m; kind == Joint {
			o.Joint = found
		} else {
			o.Covariate = found
		}
	}
	return nil
}

// rowsOf are rows of a table as g of that kind sees them; for Covariate without their outcomes. x: what g sees of x, by
// row of the table, which is copied only if g also sees a number as outcome. at: the rows.
func (o *Fitted) rowsOf(d Table, at []int, x []float32, kind Kind) *data {
	if kind != Joint {
		d.Label, d.Target = nil, nil
	}
	out := &data{table: x, at: at, times: loop.Pick(d.Time, at), label: loop.Pick(d.Label, at)}
	if d.Target == nil {
		return out
	}
	width := len(x) / len(d.Time)
	out.table, out.at = make([]float32, 0, len(at)*(width+1)), xslices.Iota(0, len(at))
	for _, row := range at {
		out.table = append(out.table, x[row*width:(row+1)*width]...)
		out.table = append(out.table, float32(o.Shape.Target.Of(d.Target[row])))
	}
	return out
}

// unit scales a time: 0 is the first and 1 the last one of the rows of Fit.
func (o *Fitted) unit(t float64) float64 { return (t - o.First) / (o.Last - o.First) }
