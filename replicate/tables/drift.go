package tables

import (
	"context"

	"tvps/gomlx_models/propensity/crossfit"

	"github.com/gomlx/compute"
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
	return &DriftJob{q, o}, err
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
	if m.hasY() {
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
