// Package backtest finds out whether weights of the past would have helped on a user's own table: for each time T a
// model learns from the rows up to T with each weighting and predicts the next block.
package backtest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"tvps/data/artifact"
	"tvps/data/table"
	"tvps/gomlx_models/backend"
	"tvps/gomlx_models/propensity"
	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/own"
	"tvps/replicate/runs"
	"tvps/replicate/usage"

	"github.com/gomlx/compute"
)

// Request says what is to be tested.
type Request struct {
	own.Source
	Model string // of Models, or a command: "exec:...", "serve:..."
	// Baselines are the rules without omega; nil: all. Uniform and Forgetting always take part.
	Baselines []string
	Kinds     []crossfit.Kind // of omega, each alone and with forgetting; nil: all
	Until     string          // the last block, as the table has its times; empty: the last one
	Last      int             // test blocks: the last so many; 0: all but the first fifth of the blocks
	Fit       crossfit.Config
	Seed      int64
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

// Open returns a host with the store in the folder results.
func Open(b *backend.Backend, results string, workers int, log io.Writer) (Host, error) {
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
)

// Prepared is a request whose table was read and checked.
type Prepared struct {
	Request
	stream *own.Stream
	steps  []int // places of the times of the test blocks
	rules  []Rule
	unit   float64 // time between neighbouring blocks (median)
}

// check returns a usage error for an impossible request, before its table is read.
func (q Request) check() error {
	if q.Label == "" {
		return usage.Errorf("the label is missing: a back test needs an outcome that models predict")
	}
	for _, name := range q.Baselines {
		if !slices.Contains(Baselines(), name) {
			return usage.Errorf("there is no baseline %q; the baselines are %s", name, strings.Join(Baselines(), ", "))
		}
	}
	for _, kind := range q.Kinds {
		if !slices.Contains(crossfit.Kinds(), kind) {
			return usage.Errorf("there is no kind of weight %q; the kinds are %s", kind,
				strings.Join(propensity.Names(crossfit.Kinds()), ", "))
		}
	}
	if q.Last < 0 {
		return usage.Errorf("the number of test blocks is %d; give at least 0", q.Last)
	}
	if err := q.Fit.Validate(); err != nil {
		return usage.Error(err)
	}
	return CheckModel(q.Model)
}

// Prepare reads the table and chooses rules and test blocks. It finds all that the user can mend in the table or the
// request, as usage errors and *table.Error, before anything is computed.
func Prepare(q Request) (*Prepared, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	s, err := own.Open(q.Source)
	if err != nil {
		return nil, err
	}
	bad := func(problem, fix string) error {
		return &table.Error{File: q.File, Column: q.Time, Problem: problem, Fix: fix}
	}
	last, err := s.At(q.Until)
	if err != nil {
		return nil, err
	}
	blocks := last + 1
	if blocks < leastBlocks {
		return nil, bad(fmt.Sprintf("there are %d blocks of time", blocks),
			fmt.Sprintf("a back test needs at least %d: choose a finer --bin", leastBlocks))
	}
	if slices.Contains(s.Features, weightColumn) || q.Label == weightColumn {
		return nil, &table.Error{File: q.File, Column: weightColumn, Problem: "the weights for a trainer have this name",
			Fix: "rename the column, or leave it out with --drop"}
	}
	p := &Prepared{Request: q, stream: s}
	tests := cmp.Or(q.Last, blocks-max(2, blocks/5))
	if tests > blocks-2 || tests < 4 {
		return nil, bad(fmt.Sprintf("%d of %d blocks cannot be test blocks", tests, blocks),
			fmt.Sprintf("give --last from 4 to %d", blocks-2))
	}
	if tests > mostTests {
		return nil, bad(fmt.Sprintf("there are %d test blocks", tests),
			fmt.Sprintf("choose a coarser --bin, or the last %d with --last", mostTests))
	}
	for t := blocks - tests; t < blocks; t++ {
		p.steps = append(p.steps, t)
	}
	p.unit = unit(s.Times.Values)
	for _, rule := range allRules(blocks, p.unit) {
		if q.has(rule) {
			p.rules = append(p.rules, rule)
		}
	}
	return p, nil
}

// has tells whether a rule takes part.
func (q Request) has(rule Rule) bool {
	switch {
	case rule.Kind != "":
		return q.Kinds == nil || slices.Contains(q.Kinds, rule.Kind)
	case rule.Name == Uniform || rule.Name == Forgetting:
		return true
	}
	return q.Baselines == nil || slices.Contains(q.Baselines, rule.Name)
}

// unit is the median distance of neighbouring times.
func unit(times []float64) float64 {
	var gaps []float64
	for i := range times[1:] {
		gaps = append(gaps, times[i+1]-times[i])
	}
	slices.Sort(gaps)
	return gaps[len(gaps)/2]
}

// Run tests. Test blocks that the store has are not computed again. Errors: *runs.InterruptedError, and those of the
// models.
func (p *Prepared) Run(ctx context.Context, h Host) (*Result, error) {
	model, err := newTrainer(p.Model, h.Backend, h.Workers, p.Seed)
	if err != nil {
		return nil, err
	}
	defer model.close() // all its answers are stored
	jobs, err := p.jobs(h, model)
	if err != nil {
		return nil, err
	}
	report, err := runs.Execute(ctx, h.Store, jobs, runs.Options{Workers: 1, Out: h.Log, Provenance: h.Provenance,
		Verify: h.Verify})
	if err != nil {
		return nil, err
	}
	if err := report.Err(); err != nil {
		return nil, err
	}
	var rows []runs.Row
	for _, job := range jobs {
		rows = append(rows, report.Results[job.Spec.ID()].Rows...)
	}
	return newResult(p, rows), nil
}

// jobs are two runs: the weightings without omega, with the predictions that need no model, and those with omega.
func (p *Prepared) jobs(h Host, model trainer) ([]runs.Job, error) {
	hash, err := artifact.SHA256(p.File)
	if err != nil {
		return nil, err
	}
	settings := map[string]string{"table": hash, "source": p.identity(), "model": model.identity()}
	var jobs []runs.Job
	for _, learner := range []string{"baselines", "omega"} {
		list := weightings(p.rules)
		list = slices.DeleteFunc(list, func(w Weighting) bool { return (w.Kind != "") != (learner == "omega") })
		if len(list) == 0 {
			continue
		}
		c := &computation{Prepared: p, model: model, backend: h.Backend, weightings: list}
		spec := runs.Spec{Experiment: "backtest", Learner: learner, Seed: p.Seed, Settings: maps.Clone(settings)}
		spec.Settings["weightings"] = fmt.Sprint(list)
		cost := float64(len(list))
		if learner == "omega" {
			c.fit = p.Fit
			c.fit.Permutations, c.fit.Kinds = 0, nil
			for _, w := range list {
				if !slices.Contains(c.fit.Kinds, w.Kind) {
					c.fit.Kinds = append(c.fit.Kinds, w.Kind)
				}
			}
			spec.Settings["g"] = canonical(c.fit)
			cost *= 1.5
		}
		jobs = append(jobs, runs.Job{Spec: spec, Steps: p.steps, Batch: runs.Alone(p.Seed, c.start), Cost: cost})
	}
	return jobs, nil
}

// identity is how the table is read, as text.
func (p *Prepared) identity() string {
	zone := ""
	if p.Read.Location != nil {
		zone = p.Read.Location.String()
	}
	read := p.Read
	read.Location = nil
	return canonical([]any{p.Time, p.Label, p.LabelKind, p.Bin, read, zone})
}

// canonical is a value as JSON. All its callers' types can be marshalled.
func canonical(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// computation computes one run.
type computation struct {
	*Prepared
	model      trainer // of both runs
	backend    compute.Backend
	weightings []Weighting
	fit        crossfit.Config // of g; without kinds where no weighting needs it
	fitter     *crossfit.Fitter
}

func (c *computation) start(context.Context) (runs.StepFunc, func(), error) {
	c.fitter = crossfit.NewFitter(c.backend)
	return c.step, c.fitter.Close, nil
}

// metric is the name of a row: a measure of a weighting, or of a prediction without a model.
func metric(measure, of string) string { return measure + ": " + of }

// heldOut is the name of the row of g's held-out loss.
func heldOut(k crossfit.Kind) string { return metric("held-out loss of g", string(k)) }

// step trains a model with each weighting on the blocks before t, and predicts block t.
func (c *computation) step(ctx context.Context, step int) ([]runs.Row, error) {
	t, err := newTask(c.stream, step)
	if err != nil {
		return nil, err
	}
	var rows []runs.Row
	add := func(name string, prediction []float64) {
		for m, v := range t.score(prediction) {
			rows = append(rows, runs.Row{T: step, Metric: metric(measures(c.stream)[m].name, name), Value: v})
		}
	}
	omega := map[crossfit.Kind][]float64{}
	if len(c.fit.Kinds) == 0 {
		add(NoChange, t.same(t.past(Weighting{Window: 1}.weights(t.block, step-1, t.age, nil))))
		add(Majority, t.same(t.past(t.equal())))
	} else {
		var g *crossfit.Fitted
		if omega, g, err = t.omega(ctx, c.fitter, c.fit, c.Seed); err != nil {
			return nil, err
		}
		for _, found := range []struct {
			kind crossfit.Kind
			*crossfit.Diagnostics
		}{{crossfit.Joint, g.Joint}, {crossfit.Covariate, g.Covariate}} {
			if found.Diagnostics != nil {
				rows = append(rows, runs.Row{T: step, Metric: heldOut(found.kind), Value: found.HeldOut})
			}
		}
	}
	predictions, err := c.predict(ctx, t, omega)
	if err != nil {
		return nil, err
	}
	for i, w := range c.weightings {
		add(w.String(), predictions[i])
	}
	return rows, nil
}

// predict predicts the test rows with each weighting. Where all rows that a weighting leaves have one outcome, no
// model is trained.
func (c *computation) predict(ctx context.Context, t *task, omega map[crossfit.Kind][]float64) ([][]float64, error) {
	out := make([][]float64, len(c.weightings))
	var at []int
	var weights [][]float64
	for i, w := range c.weightings {
		weight := w.weights(t.block, t.step-1, t.age, omega[w.Kind])
		if t.single(weight) {
			out[i] = t.same(t.past(weight))
			continue
		}
		at, weights = append(at, i), append(weights, weight)
	}
	if len(weights) == 0 {
		return out, nil
	}
	predictions, err := c.model.predict(ctx, t, weights)
	if err != nil {
		return nil, err
	}
	for j, i := range at {
		for k, v := range predictions[j] {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("the model %s predicts %v for row %d of %s (weights: %s)", c.Model, v, k/t.outputs()+1,
					t.stream.Times.Names[t.step], c.weightings[i])
			}
		}
		out[i] = predictions[j]
	}
	return out, nil
}
