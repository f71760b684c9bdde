package tables

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"tvps/data/table"
	"tvps/gomlx_models/backend"
	"tvps/gomlx_models/propensity"
	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/runs"
	"tvps/replicate/usage"

	"github.com/gomlx/compute"
	"gonum.org/v1/gonum/floats"
)

// BacktestRequest says what is to be tested.
type BacktestRequest struct {
	Request
	Model string // of Models, or a command: "exec:...", "serve:..."
	// Rules are of Rules; nil: those of Rules(false). Uniform and Forgetting always take part.
	Rules []string
	Kinds []crossfit.Kind // of omega, each alone and with forgetting; nil: all
	Until string          // the last block, as the table has its times; empty: the last one
	Last  int             // test blocks: the last so many; 0: all but the first fifth, at most mostLarge of a large table
	// Reuse takes a finished back test of the user's own command from the store. Otherwise it is computed again: the
	// command may have changed in a file that its text does not name.
	Reuse bool
}

// Host is what a back test runs on.
type Host struct {
	Backend    compute.Backend
	Store      *runs.Store
	Provenance runs.Provenance
	Workers    int          // models that train at the same time
	Log        io.Writer    // progress
	Verify     func() error // that of runs.Options
}

// OpenHost returns a host with the store in the folder results.
func OpenHost(b *backend.Backend, results string, workers int, log io.Writer) (Host, error) {
	store, err := runs.Open(results)
	if err != nil {
		return Host{}, err
	}
	versions := map[string]string{"plugin": b.Info.PluginVersion, "plugin-sha256": b.Info.PluginSHA256}
	return Host{Backend: b.Backend, Store: store, Workers: workers, Log: log, Verify: b.VerifyPlugin,
		Provenance: runs.NewProvenance(b.Info.Name, versions)}, nil
}

const (
	leastBlocks = 8   // of a table
	mostTests   = 300 // test blocks
	mostLarge   = 24  // test blocks of more than mostPast rows, if their number is not given
)

// BacktestJob is a request whose table was read and checked.
type BacktestJob struct {
	BacktestRequest
	opened
	steps []int // places of the times of the test blocks
	rules []Rule
	unit  float64 // time between neighbouring blocks (median)
}

// PrepareBacktest reads the table and chooses rules and test blocks. It finds all that the user can mend in the table
// or the request, as usage errors and *table.Error, before anything is computed.
func PrepareBacktest(q BacktestRequest) (*BacktestJob, error) {
	if q.Label == "" {
		return nil, usage.Errorf("the label is missing: a back test needs an outcome that models predict")
	}
	if err := cmp.Or(usage.Known("there is no rule", q.Rules, Rules(true)), usage.Known("there is no kind of weight",
		propensity.Names(q.Kinds), propensity.Names(crossfit.Kinds())), checkModel(q.Model)); err != nil {
		return nil, err
	}
	o, err := q.open(q.Until)
	if err != nil {
		return nil, err
	}
	p := &BacktestJob{BacktestRequest: q, opened: o}
	s, blocks, past := o.stream, o.at+1, len(o.stream.Times.Rows(0, o.at))
	bad := func(column, problem, fix string) error {
		return &table.Error{File: q.File, Column: column, Problem: problem, Fix: fix}
	}
	if blocks < leastBlocks {
		return nil, bad(q.Time, fmt.Sprintf("there are %d blocks of time", blocks),
			fmt.Sprintf("a back test needs at least %d: choose a finer --bin", leastBlocks))
	}
	if slices.Contains(s.Features, weightColumn) || q.Label == weightColumn {
		return nil, bad(weightColumn, "the weights for a trainer have this name",
			"rename the column, or leave it out with --drop")
	}
	tests := q.Last
	if all := blocks - max(2, blocks/5); tests == 0 {
		if tests = min(all, mostTests); past > mostPast {
			tests = min(tests, mostLarge)
		}
		if tests < all {
			p.about.note("the last %d blocks are tested; --last %d tests all but the first fifth", tests, all)
		}
	}
	if most := min(blocks-2, mostTests); tests > most || tests < 4 {
		return nil, bad(q.Time, fmt.Sprintf("%d of %d blocks cannot be test blocks", tests, blocks),
			fmt.Sprintf("give --last from 4 to %d", most))
	}
	if past > mostPast {
		who := "g and the model learn"
		if q.ownModel() {
			who = "g learns"
		}
		p.about.note("%s from about %d of up to %d rows of the past: from all of the newest, from the fewer the older they "+
			"are, with weights that make up for it", who, mostPast, past)
	}
	p.steps = crossfit.Positions(blocks)[blocks-tests:]
	p.unit = unit(s.Times.Values)
	p.rules = slices.DeleteFunc(allRules(blocks, p.unit), func(r Rule) bool { return !q.has(r) })
	return p, nil
}

// has tells whether a rule takes part.
func (q BacktestRequest) has(rule Rule) bool {
	switch {
	case rule.Kind != "":
		return q.Kinds == nil || slices.Contains(q.Kinds, rule.Kind)
	case rule.Name == Uniform || rule.Name == Forgetting:
		return true
	case q.Rules == nil:
		return !rule.Extra
	}
	return slices.Contains(q.Rules, rule.Name)
}

// unit is the median distance of neighbouring times.
func unit(times []float64) float64 {
	gaps := slices.Clone(times[1:])
	floats.Sub(gaps, times[:len(gaps)])
	slices.Sort(gaps)
	return gaps[len(gaps)/2]
}

// ownModel tells whether the model is the user's own command.
func (q BacktestRequest) ownModel() bool { return !slices.Contains(Models, q.Model) }

// Run tests. Test blocks that the store has are not computed again, but see BacktestRequest.Reuse. Errors:
// *runs.InterruptedError, and those of the models.
func (p *BacktestJob) Run(ctx context.Context, h Host) (*Backtest, error) {
	log := newConsole(h.Log)
	model := newTrainer(p.Model, h.Backend, h.Workers, p.Seed, log)
	job, err := p.job(h, model)
	if err != nil {
		return nil, errors.Join(err, model.close())
	}
	about := p.about
	about.Notes = slices.Clone(about.Notes)
	note := func(text string, args ...any) {
		about.note(text, args...)
		fmt.Fprintf(log, "note: "+text+"\n", args...)
	}
	if start, steps := h.Store.Begun(job.Spec, p.Reuse); p.ownModel() && steps > 0 {
		note("%d test blocks are taken from a back test that began on %s; for others, as after a change of the trainer, "+
			"name another folder with --results", steps, start.Format("2006-01-02 15:04 MST"))
	} else if p.ownModel() {
		unseen, err := p.checkWeights(ctx, model)
		if err != nil {
			return nil, errors.Join(err, model.close())
		}
		if unseen != "" {
			note("%s", unseen)
		}
	}
	report, err := runs.Execute(ctx, h.Store, []runs.Job{job}, runs.Options{Workers: 1, Out: log, Provenance: h.Provenance,
		Verify: h.Verify})
	if ended := model.close(); ended != nil { // all its answers are stored
		note("%v", ended)
	}
	if err == nil && len(report.Failed) > 0 {
		err = report.Failed[0].Err
		if failed := new(runs.StepError); errors.As(err, &failed) {
			name := ShortName(p.stream.Times.Names[failed.Step])
			if err = fmt.Errorf("the test block of %s: %w", name, failed.Err); errors.Is(err, crossfit.ErrFewRows) {
				err = &table.Error{File: p.File, Problem: "the rows before the test block of " + name + " are too few, or too " +
					"much alike, for g", Fix: "test fewer blocks with --last, choose a coarser --bin, or give --kinds none", Err: err}
			}
		}
	}
	if err = cmp.Or(err, report.Err()); err != nil {
		return nil, err
	}
	r := newResult(p, about, report.Results[job.Spec.ID()].Rows)
	return r, p.record(ctx, h, r, job.Spec)
}
