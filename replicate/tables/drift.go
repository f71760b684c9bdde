package tables

import (
	"cmp"
	"context"
	"math"
	"slices"

	"tvps/data/random"
	"tvps/gomlx_models/propensity/crossfit"

	"github.com/gomlx/compute"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// Bounds of the work, whatever the size of the table.
const (
	testRows     = 250  // of a stretch in a test over time
	columnRows   = 3000 // whose columns are permuted
	mostColumns  = 200  // that are permuted
	mapRows      = 100  // of a block in the map
	shuffles     = 9999 // of a test over time
	leastTested  = 4    // rows of a stretch in a test over time
	mostChunks   = 10   // of a stretch in a test over time
	leastChunks  = 8    // of a typical stretch; otherwise stretches are merged
	leastStretch = 3    // stretches that are not merged further
	chunkTimes   = 6    // autocorrelation times of a chunk
)

// Drift is what was found.
type Drift struct {
	About
	Used int `json:"rows-used"` // by g; the others were left out at regular distances

	Blocks  []Block  `json:"blocks"`
	Tests   *Tests   `json:"tests"`
	Columns *Columns `json:"columns"`
	Maps    []Map    `json:"maps"` // of x; with a label also of x and y, and of y given x
	Verdict Verdict  `json:"verdict"`
}

// DriftJob is a request whose table was read and checked.
type DriftJob struct {
	Request
	opened
}

// PrepareDrift reads the table. It finds all that the user can mend in the table or the request, as *table.Error,
// before anything is computed.
func PrepareDrift(q Request) (*DriftJob, error) {
	o, err := q.open("")
	if err != nil {
		return nil, err
	}
	if o.stream.late != "" {
		o.about.note("the present is %s, not %s, the last time of the table: its rows have no label. "+
			"Without --label x is tested up to it", ShortName(o.stream.Times.Names[o.at]), o.stream.late)
	}
	return &DriftJob{q, o}, nil
}

// Measure answers. progress, if not nil, is called with the share of the work done and what is done next. Errors: a
// *table.Error if the rows differ too little, and those of package propensity.
func (p *DriftJob) Measure(ctx context.Context, backend compute.Backend, progress func(share float64, next string)) (
	*Drift, error) {
	s := p.tested
	m := &measurement{Drift: &Drift{About: p.about, Used: len(s.of), Blocks: s.list}, sample: s, q: p.Request, ctx: ctx,
		backend: backend, show: progress}
	return m.Drift, p.mendable(m.run())
}

// measurement is a Drift in the making.
type measurement struct {
	*Drift
	*sample
	q       Request
	ctx     context.Context
	backend compute.Backend
	show    func(share float64, next string) // may be nil
	fitter  *crossfit.Fitter
	g       *crossfit.Fitted
}

func (m *measurement) run() error {
	m.fitter = crossfit.NewFitter(m.backend)
	defer m.fitter.Close()
	cfg := m.q.Fit
	cfg.Kinds = []crossfit.Kind{crossfit.Covariate}
	if m.data.HasY() {
		cfg.Kinds = crossfit.Kinds()
	}
	done := 0.
	for _, part := range []struct {
		name  string
		share float64 // of the work, as it was timed on tables of 1e5 rows
		run   func(progress func(share float64)) error
	}{
		{"tests for drift", .3, func(func(float64)) error { return m.test(m.ctx, m.fitter, m.q, m.sample) }},
		{"propensity score", .3, func(func(float64)) (err error) {
			m.g, err = m.fitter.Fit(m.ctx, m.data, cfg, m.q.Seed)
			return err
		}},
		{"tests over time", .2, m.overTime}, {"columns", .1, m.columns}, {"map", .1, m.maps},
	} {
		progress := phase(m.show, done, part.share, part.name)
		progress(0)
		m.fitter.Progress = progress
		if err := part.run(progress); err != nil {
			return err
		}
		done += part.share
	}
	m.Notes = append(m.Notes, m.g.Notes...)
	m.Verdict = m.judge()
	return nil
}

// phase is the progress of a part of the work: from is the share of the work before it, of its own. show may be nil.
func phase(show func(share float64, doing string), from, of float64, doing string) func(share float64) {
	return func(share float64) {
		if show != nil {
			show(from+share*of, doing)
		}
	}
}

// Columns says how much log omega at the present depends on each column. All features of a column are permuted among
// the rows, which leaves its distribution as it is, and
//
//	change = mean_i (log omega_i with the column permuted - log omega_i)^2 / variance of log omega,
//
// where the mean is over rows of all times, and Share is the change divided by the sum of all changes. Columns that
// depend on each other share what they contribute. The networks of all folds are averaged.
type Columns struct {
	Spread float64        `json:"spread"` // standard deviation of log omega over the rows
	List   []Contribution `json:"list"`   // by falling share
}

// Contribution is that of one column.
type Contribution struct {
	Column string  `json:"column"`
	Label  bool    `json:"label,omitempty"` // it is the label
	Change float64 `json:"change"`
	Share  float64 `json:"share"`
}

// columns permutes each column.
func (m *measurement) columns(progress func(share float64)) error {
	encoder, kind := m.encoder, crossfit.Covariate
	if m.data.HasY() {
		kind = crossfit.Joint
	}
	d := m.data.Rows(thin(crossfit.Positions(len(m.data.Time)), columnRows))
	d.Order = nil // so that no row equals a fitted one: all are weighted by the networks of all folds
	logs := func(d crossfit.Table) ([]float64, error) {
		w, err := m.g.WeightsOf(m.ctx, d, m.Blocks[len(m.Blocks)-1].Value, crossfit.WeightOptions{Kind: kind})
		if err != nil {
			return nil, err
		}
		return w.LogOmega, nil
	}
	base, err := logs(d)
	if err != nil {
		return err
	}
	variance := stat.Variance(base, nil)
	out := &Columns{Spread: math.Sqrt(variance)}
	of := encoder.Of()
	chosen := m.screen(d, of, len(encoder.Columns), base)
	n := len(d.Time)
	if m.data.HasY() {
		chosen = append(chosen, -1) // the label
	}
	for i, column := range chosen {
		progress(float64(i) / float64(len(chosen)))
		changed, c := d, Contribution{Column: m.q.Label, Label: true}
		if column < 0 {
			y := d.Rows(random.New(m.q.Seed, "drift", "label").Perm(n))
			changed.Label, changed.Target = y.Label, y.Target
		} else {
			c = Contribution{Column: encoder.Columns[column].Name}
			perm := random.New(m.q.Seed, "drift", "column", c.Column).Perm(n)
			changed.X = slices.Clone(d.X)
			for j := range of {
				for i := 0; of[j] == column && i < n; i++ {
					changed.X[i*d.Dim+j] = d.X[perm[i]*d.Dim+j]
				}
			}
		}
		after, err := logs(changed)
		if err != nil {
			return err
		}
		if c.Change = math.Pow(floats.Distance(after, base, 2), 2) / float64(n); variance > 0 {
			c.Change /= variance
		}
		out.List = append(out.List, c)
	}
	sum := 0.
	for _, c := range out.List {
		sum += c.Change
	}
	for i := range out.List {
		if sum > 0 {
			out.List[i].Share = out.List[i].Change / sum
		}
	}
	slices.SortStableFunc(out.List, func(a, b Contribution) int { return cmp.Compare(b.Share, a.Share) })
	m.Columns = out
	return nil
}

// screen lists the columns to permute: all, or those mostColumns whose features correlate most with log omega.
func (m *measurement) screen(d crossfit.Table, of []int, columns int, logs []float64) []int {
	chosen := crossfit.Positions(columns)
	if columns <= mostColumns {
		return chosen
	}
	m.note("of %d columns the %d whose features correlate most with log omega were permuted", columns, mostColumns)
	score := make([]float64, columns)
	feature := make([]float64, len(d.Time))
	for j, column := range of {
		for i := range feature {
			feature[i] = float64(d.X[i*d.Dim+j])
		}
		if c := stat.Correlation(feature, logs, nil); !math.IsNaN(c) {
			score[column] = max(score[column], c*c)
		}
	}
	slices.SortStableFunc(chosen, func(a, b int) int { return cmp.Compare(score[b], score[a]) })
	return chosen[:mostColumns]
}

// Map says how much each block is worth at each other one:
//
//	Worth[T][t] = mean over rows i of block t of min(omega(x_i, T, t), 1).
//
// Its expectation is the integral of min(p_T, p_t), that is 1 minus the total variation distance of the two blocks:
// 1 if they have one distribution, 0 if no value occurs in both. With omega of y given x it is the mean over x of
// that of the two distributions of y. Each row is weighted by the networks that did not see it.
type Map struct {
	In    string      `json:"in"` // InX, InBoth or InRule
	Worth [][]float64 `json:"worth"`
}

// maps makes the maps.
func (m *measurement) maps(progress func(share float64)) error {
	var rows, of []int
	for b := range m.Blocks {
		for _, row := range thin(between(m.of, b, b+1), mapRows) {
			rows, of = append(rows, row), append(of, b)
		}
	}
	d := m.data.Rows(rows)
	kinds := []crossfit.Kind{crossfit.Covariate, crossfit.Joint, crossfit.Conditional}
	m.Maps = []Map{{In: InX}, {In: InBoth}, {In: InRule}}
	if !m.data.HasY() {
		m.Maps = m.Maps[:1]
	}
	for at, block := range m.Blocks {
		progress(float64(at) / float64(len(m.Blocks)))
		for i := range m.Maps {
			w, err := m.g.WeightsOf(m.ctx, d, block.Value, crossfit.WeightOptions{Kind: kinds[i]})
			if err != nil {
				return err
			}
			m.Maps[i].add(w.LogOmega, of, len(m.Blocks))
		}
	}
	return nil
}

// likePresent is how like the last block each earlier one is in all that a row has: x, and y if there is a label.
func (r *Drift) likePresent() []float64 {
	last := len(r.Blocks) - 1
	return r.Maps[min(1, len(r.Maps)-1)].Worth[last][:last]
}

// unlike is the mean of min(omega, 1) below which rows have less than half of their distribution in common with others.
const unlike = .5

// mapOf is the map of a subject.
func (r *Drift) mapOf(in string) *Map {
	return &r.Maps[slices.IndexFunc(r.Maps, func(m Map) bool { return m.In == in })]
}

// add appends the row of a T. logs: log omega of rows, of: their blocks.
func (m *Map) add(logs []float64, of []int, blocks int) {
	worth, count := kept(logs, of, blocks)
	floats.Div(worth, count)
	m.Worth = append(m.Worth, worth)
}

// kept is the sum of min(omega, 1) over the rows of each block, and their number.
func kept(logs []float64, of []int, blocks int) (sum, count []float64) {
	sum, count = make([]float64, blocks), make([]float64, blocks)
	for i, v := range logs {
		sum[of[i]] += min(1, math.Exp(v))
		count[of[i]]++
	}
	return sum, count
}

// turn is the block that differs most from the one before it; 0 if none differs. It is sharp if they differ at least
// twice as much as neighbours typically do.
func (m *Map) turn() (block int, sharp bool) {
	change := make([]float64, len(m.Worth)-1)
	for b := range change {
		change[b] = 1 - (m.Worth[b+1][b]+m.Worth[b][b+1])/2
	}
	at := floats.MaxIdx(change)
	most := change[at]
	if most <= 0 {
		return 0, false
	}
	slices.Sort(change)
	return at + 1, most >= 2*change[len(change)/2]
}
