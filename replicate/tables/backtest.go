// Package backtest finds out whether weights of the past would have helped on a user's own table: for each time T a
// model learns from the rows up to T with each weighting and predicts the next block.
package tables

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"

	"tvps/data/artifact"
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
	// Rules are of Rules; nil: DefaultRules. Uniform and Forgetting always take part.
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

// check returns a usage error for an impossible request, before its table is read.
func (q BacktestRequest) check() error {
	if q.Label == "" {
		return usage.Errorf("the label is missing: a back test needs an outcome that models predict")
	}
	for _, name := range q.Rules {
		if !slices.Contains(Rules(), name) {
			return usage.Errorf("there is no rule %q; the rules are %s", name, strings.Join(Rules(), ", "))
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
func PrepareBacktest(q BacktestRequest) (*BacktestJob, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	o, err := q.open(q.Until)
	if err != nil {
		return nil, err
	}
	p := &BacktestJob{BacktestRequest: q, opened: o}
	s, last, blocks := o.stream, o.at, o.at+1
	bad := func(problem, fix string) error {
		return &table.Error{File: q.File, Column: q.Time, Problem: problem, Fix: fix}
	}
	if blocks < leastBlocks {
		return nil, bad(fmt.Sprintf("there are %d blocks of time", blocks),
			fmt.Sprintf("a back test needs at least %d: choose a finer --bin", leastBlocks))
	}
	if slices.Contains(s.Features, weightColumn) || q.Label == weightColumn {
		return nil, &table.Error{File: q.File, Column: weightColumn, Problem: "the weights for a trainer have this name",
			Fix: "rename the column, or leave it out with --drop"}
	}
	tests := q.Last
	if all := blocks - max(2, blocks/5); tests == 0 {
		if tests = min(all, mostTests); len(s.Rows(0, last)) > mostPast {
			tests = min(tests, mostLarge)
		}
		if tests < all {
			p.about.note("the last %d blocks are tested; --last %d tests all but the first fifth", tests, all)
		}
	}
	if tests > blocks-2 || tests < 4 {
		return nil, bad(fmt.Sprintf("%d of %d blocks cannot be test blocks", tests, blocks),
			fmt.Sprintf("give --last from 4 to %d", blocks-2))
	}
	if tests > mostTests {
		return nil, bad(fmt.Sprintf("there are %d test blocks", tests),
			fmt.Sprintf("choose a coarser --bin, or the last %d with --last", mostTests))
	}
	if n := len(s.Rows(0, last)); n > mostPast {
		who := "g and the model learn"
		if q.own() {
			who = "g learns"
		}
		p.about.note("%s from about %d of up to %d rows of the past: from all of the newest, from the fewer the older they "+
			"are, with weights that make up for it", who, mostPast, n)
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
	var gaps []float64
	for i := range times[1:] {
		gaps = append(gaps, times[i+1]-times[i])
	}
	slices.Sort(gaps)
	return gaps[len(gaps)/2]
}

// own tells whether the model is the user's own command.
func (q BacktestRequest) own() bool { return !slices.Contains(Models, q.Model) }

// Run tests. Test blocks that the store has are not computed again, but see BacktestRequest.Reuse. Errors:
// *runs.InterruptedError, and those of the models.
func (p *BacktestJob) Run(ctx context.Context, h Host) (*Backtest, error) {
	log := newConsole(h.Log)
	model, err := newTrainer(p.Model, h.Backend, h.Workers, p.Seed, log)
	if err != nil {
		return nil, err
	}
	job, err := p.job(h, model)
	if err != nil {
		return nil, errors.Join(err, model.close())
	}
	about := p.about
	about.Notes = slices.Clone(about.Notes)
	if start, steps := h.Store.Begun(job.Spec, p.Reuse); p.own() && steps > 0 {
		about.note("%d test blocks are taken from a back test that began on %s; for others, as after a change of the trainer, "+
			"name another folder with --results", steps, start.Format("2006-01-02 15:04 MST"))
		fmt.Fprintf(log, "note: %s\n", about.Notes[len(about.Notes)-1])
	} else if p.own() {
		if err := p.checkWeights(ctx, model); err != nil {
			return nil, errors.Join(err, model.close())
		}
	}
	report, err := runs.Execute(ctx, h.Store, []runs.Job{job}, runs.Options{Workers: 1, Out: log, Provenance: h.Provenance,
		Verify: h.Verify})
	if ended := model.close(); ended != nil { // all its answers are stored
		about.note("%v", ended)
		fmt.Fprintf(log, "note: %v\n", ended)
	}
	switch {
	case err != nil:
		return nil, err
	case len(report.Failed) > 0:
		return nil, report.Failed[0].Err
	case report.Err() != nil:
		return nil, report.Err()
	}
	r := newResult(p, about, report.Results[job.Spec.ID()].Rows)
	return r, p.record(ctx, h, r, job.Spec)
}

// job is the run of all weightings, with the predictions that need no model.
func (p *BacktestJob) job(h Host, model trainer) (runs.Job, error) {
	hash, err := artifact.SHA256(p.File)
	if err != nil {
		return runs.Job{}, err
	}
	c := &computation{BacktestJob: p, model: model, backend: h.Backend, weightings: weightings(p.rules)}
	spec := runs.Spec{Experiment: experiment, Learner: "rules", Seed: p.Seed, Settings: map[string]string{"table": hash,
		"source": p.identity(), "model": model.identity(), "weightings": fmt.Sprint(c.weightings),
		"most-rows": fmt.Sprint(mostPast)}}
	for _, rule := range p.rules {
		if rule.own() || rule.pairs { // it has rows of its own, which depend on the first test block
			spec.Settings["rule: "+rule.Name] = fmt.Sprintf("%v, from block %d", rule.Weightings, p.steps[0])
		}
	}
	c.fit = p.Fit
	c.fit.Permutations, c.fit.Kinds = 0, nil
	for _, w := range c.weightings {
		if w.Kind != "" && !slices.Contains(c.fit.Kinds, w.Kind) {
			c.fit.Kinds = append(c.fit.Kinds, w.Kind)
		}
	}
	if len(c.fit.Kinds) > 0 {
		spec.Settings["g"] = canonical(c.fit)
	}
	job := runs.Job{Spec: spec, Steps: p.steps, Batch: c.batch(), Again: p.own() && !p.Reuse}
	job.Rows = func(step int) int {
		n := 0
		for _, rows := range p.stream.Times.Counts[:step] {
			n += rows
		}
		return n
	}
	if !p.own() { // g and bounds make all steps cost about the same
		job.Cost = 1
	}
	return job, nil
}

// identity is how the table is read, as text.
func (p *BacktestJob) identity() string {
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
	*BacktestJob
	model      trainer
	backend    compute.Backend
	weightings []Weighting
	fit        crossfit.Config // of g; without kinds where no weighting needs it
	fitter     *crossfit.Fitter
	known      map[int][]runs.Row // by step
	scorer     *scorer            // of timescales; nil before its first use
}

func (c *computation) close() {
	c.fitter.Close()
	if c.scorer != nil {
		c.scorer.close()
	}
}

// batch is the run by itself.
func (c *computation) batch() *runs.Batch {
	return &runs.Batch{Seeds: []int64{c.Seed}, GroupSize: 1,
		Start: func(_ context.Context, _ []int64, members []runs.Spec, files runs.Files) (runs.GroupStep, func(), error) {
			known, err := files.Rows(members[0])
			c.known, c.fitter = known, crossfit.NewFitter(c.backend)
			return func(ctx context.Context, t int) ([][]runs.Row, error) {
				rows, err := c.step(ctx, t)
				c.known[t] = rows
				return [][]runs.Row{rows}, err
			}, c.close, err
		}}
}

// past has the test blocks before a step.
func (c *computation) past(step int) *past {
	p := &past{measure: measures(c.stream)[0].name}
	for _, t := range c.steps {
		if t < step {
			p.add(c.known[t], c.stream.Times.Counts[t])
		}
	}
	return p
}

// task is the one of a test block, with a sample of the past for a built-in model.
func (p *BacktestJob) task(step int) (*task, error) { return newTask(p.stream, step, !p.own(), p.Seed) }

// metric is the name of a row: a measure of a weighting, or of a prediction without a model.
func metric(measure, of string) string { return measure + ": " + of }

// heldOut is the name of the row of g's held-out loss.
func heldOut(k crossfit.Kind) string { return metric("held-out loss of g", string(k)) }

// step trains a model with each weighting on the blocks before t, and predicts block t.
func (c *computation) step(ctx context.Context, step int) ([]runs.Row, error) {
	t, err := c.task(step)
	if err != nil {
		return nil, err
	}
	var rows []runs.Row
	add := func(name string, prediction []float64) {
		for m, v := range t.score(prediction) {
			rows = append(rows, runs.Row{T: step, Metric: metric(measures(c.stream)[m].name, name), Value: v})
		}
	}
	add(NoChange, t.same(t.past(t.weights(Weighting{Window: 1}, nil))))
	add(Majority, t.same(t.past(t.equal())))
	omega := map[crossfit.Kind][]float64{}
	if len(c.fit.Kinds) > 0 {
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
	p := c.past(step)
	var models []weighted
	for _, w := range c.weightings {
		models = append(models, weighted{w.String(), t.weights(w, omega[w.Kind])})
	}
	trained := map[string]int{} // models of a rule's own
	for _, rule := range c.rules {
		if rule.train == nil {
			continue
		}
		lists, err := rule.train(ctx, c, rule, t, p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", rule.Name, err)
		}
		for _, weights := range lists {
			models = append(models, weighted{rule.Name, weights})
		}
		trained[rule.Name] = len(lists)
	}
	predictions, err := c.predict(ctx, t, models)
	if err != nil {
		return nil, err
	}
	of := map[Weighting][]float64{}
	for i, w := range c.weightings {
		of[w] = predictions[i]
		add(w.String(), predictions[i])
	}
	predictions = predictions[len(c.weightings):]
	for _, rule := range c.rules {
		for i, a := range rule.Weightings {
			for _, b := range rule.Weightings[i+1:] {
				if rule.pairs {
					d := t.each(measures(c.stream)[0], of[a])
					floats.Sub(d, t.each(measures(c.stream)[0], of[b]))
					rows = append(rows, runs.Row{T: step, Metric: squareOf(a, b), Value: floats.Dot(d, d) / float64(len(d))})
				}
			}
		}
		if rule.mix != nil {
			var members [][]float64
			for _, w := range rule.Weightings {
				members = append(members, of[w])
			}
			mixture := mixed(members, rule.mix(rule, p))
			add(rule.Name, mixture)
			for i, w := range rule.Weightings {
				rows = append(rows, runs.Row{T: step, Metric: slopeOf(rule, w), Value: t.slope(mixture, members[i])})
			}
		}
		if n := trained[rule.Name]; n > 0 {
			add(rule.Name, mixed(predictions[:n], nil))
			predictions = predictions[n:]
		}
	}
	return rows, nil
}

// weighted is a model to train: weights of the rows, and their name.
type weighted struct {
	name    string
	weights []float64
}

// predict predicts the test rows with each model. Where all rows that have weight have one outcome, no model is
// trained.
func (c *computation) predict(ctx context.Context, t *task, models []weighted) ([][]float64, error) {
	out := make([][]float64, len(models))
	var at []int
	var weights [][]float64
	for i, m := range models {
		if t.single(m.weights) {
			out[i] = t.same(t.past(m.weights))
			continue
		}
		at, weights = append(at, i), append(weights, m.weights)
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
					t.stream.Times.Names[t.step], models[i].name)
			}
		}
		out[i] = predictions[j]
	}
	return out, nil
}

// console writes lines above the progress: progress, notes and what trainers say. It is safe for concurrent use.
type console struct {
	mu      sync.Mutex
	out     io.Writer
	display artifact.Display
}

func newConsole(out io.Writer) *console {
	if out == nil {
		out = io.Discard
	}
	return &console{out: out, display: artifact.NewDisplay(out)}
}

func (c *console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.display.Clear()
	return c.out.Write(p)
}

// Show shows progress.
func (c *console) Show(fraction float64, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.display.Show(fraction, text)
}

// Clear removes the progress.
func (c *console) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.display.Clear()
}
