package tables

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"tvps/data/artifact"
	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/runs"

	"github.com/gomlx/compute"
)

// inputs is how g sees columns. Answers of a g that saw them in another way are not taken from the store.
const inputs = "normal scores"

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
		if rule.ownPrediction() || rule.pairs { // it has rows of its own, which depend on the first test block
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
		spec.Settings["g"] = canonical([]any{inputs, c.fit})
	}
	job := runs.Job{Spec: spec, Steps: p.steps, Batch: c.batch(), Again: p.ownModel() && !p.Reuse}
	job.Rows = func(step int) (n int) {
		for _, rows := range p.stream.Times.Counts[:step] {
			n += rows
		}
		return n
	}
	if !p.ownModel() { // g and bounds make all steps cost about the same
		job.Seconds = 1
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

// task is the one of a test block, with a sample of the past for a built-in model.
func (p *BacktestJob) task(step int) (*task, error) {
	return newTask(p.stream, step, !p.ownModel(), p.Seed)
}

// metric is the name of a row: a measure of a weighting, or of a prediction without a model.
func metric(measure, of string) string { return measure + ": " + of }

// heldOut is the name of the row of g's held-out loss.
func heldOut(k crossfit.Kind) string { return metric("held-out loss of g", string(k)) }

// omega fits g on the past, where a weighting needs it, and returns the weights of the rows of train for T by kind, and
// rows of g's held-out losses.
func (c *computation) omega(ctx context.Context, t *task) (map[crossfit.Kind][]float64, []runs.Row, error) {
	if len(c.fit.Kinds) == 0 {
		return nil, nil, nil
	}
	g, err := c.fitter.Fit(ctx, t.sampled(), c.fit, c.Seed)
	if err != nil {
		return nil, nil, err
	}
	out := map[crossfit.Kind][]float64{}
	for _, kind := range c.fit.Kinds {
		w, err := g.WeightsOf(ctx, t.data, t.stream.Times.Values[t.step-1], crossfit.WeightOptions{Kind: kind})
		if err != nil {
			return nil, nil, err
		}
		out[kind] = w.Weight
	}
	var held []runs.Row
	if g.Joint != nil {
		held = append(held, runs.Row{T: t.step, Metric: heldOut(crossfit.Joint), Value: g.Joint.HeldOut})
	}
	if g.Covariate != nil {
		held = append(held, runs.Row{T: t.step, Metric: heldOut(crossfit.Covariate), Value: g.Covariate.HeldOut})
	}
	return out, held, nil
}

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
	add(NoChange, t.same(t.outcomes(t.weights(Weighting{Window: 1}, nil))))
	add(Majority, t.same(t.outcomes(t.equal())))
	omega, held, err := c.omega(ctx, t)
	if err != nil {
		return nil, err
	}
	rows = append(rows, held...)
	p, predicted := c.past(c.known, step), map[string][][]float64{} // by weighting or rule
	var names []string
	var weights [][]float64
	train := func(name string, w []float64) {
		if t.single(w) { // there is nothing to learn
			predicted[name] = append(predicted[name], t.same(t.outcomes(w)))
			return
		}
		names, weights = append(names, name), append(weights, w)
	}
	for _, w := range c.weightings {
		train(w.String(), t.weights(w, omega[w.Kind]))
	}
	for _, rule := range c.rules {
		if rule.train == nil {
			continue
		}
		lists, err := rule.train(ctx, c, rule, t, p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", rule.Name, err)
		}
		for _, weights := range lists {
			train(rule.Name, weights)
		}
	}
	var predictions [][]float64
	if len(weights) > 0 {
		if predictions, err = c.model.predict(ctx, t, weights); err != nil {
			return nil, err
		}
	}
	for i, p := range predictions {
		bad := slices.IndexFunc(p, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
		if bad >= 0 {
			return nil, fmt.Errorf("the model %s predicts %v for row %d (weights: %s)", c.Model, p[bad],
				bad/t.outputs()+1, names[i])
		}
		predicted[names[i]] = append(predicted[names[i]], p)
	}
	of := func(w Weighting) []float64 { return predicted[w.String()][0] }
	for _, w := range c.weightings {
		add(w.String(), of(w))
	}
	for _, rule := range c.rules {
		if rule.pairs {
			rows = append(rows, t.squares(rule.Weightings, of)...)
		}
		if rule.mix != nil {
			members := collect(rule.Weightings, of)
			mixture := mixed(members, rule.mix(rule, p))
			add(rule.Name, mixture)
			for i, w := range rule.Weightings {
				rows = append(rows, runs.Row{T: step, Metric: slopeOf(rule, w), Value: t.slope(mixture, members[i])})
			}
		}
		if rule.train != nil {
			add(rule.Name, mixed(predicted[rule.Name], nil))
		}
	}
	return rows, nil
}
