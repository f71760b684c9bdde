package backtest

import (
	"context"
	"fmt"
	"math"
	"slices"

	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/runs"

	"github.com/gomlx/gomlx/support/xslices"
)

// job is the run of all weightings, with the predictions that need no model.
func (p *Job) job(model trainer) (runs.Job, error) {
	hash, err := p.SHA256()
	if err != nil {
		return runs.Job{}, err
	}
	c := &computation{Job: p, model: model, weightings: weightings(p.rules)}
	spec := runs.Spec{Experiment: experiment, Learner: "rules", Seed: p.Seed, Settings: map[string]string{"table": hash,
		"source": p.identity(), "model": model.identity(), "weightings": fmt.Sprint(c.weightings),
		"most-rows": fmt.Sprint(mostPast)}}
	for _, rule := range p.rules {
		if rule.ownPrediction() || rule.Record != nil { // it has rows of its own, which depend on the first test block
			spec.Settings["rule: "+rule.Name] = fmt.Sprintf("%v, from block %d", rule.Weightings, p.steps[0])
		}
	}
	if p.Stream.Label.Target == nil {
		spec.Settings["frequencies"] = frequencies
	}
	if p.Stream.Early { // losses are those of these classes
		spec.Settings["label"] = canonical(p.Stream.Label.Names)
	}
	if p.gap != (gap{}) {
		spec.Settings["gap"] = fmt.Sprint(p.gap)
	}
	if p.Source.Unseen != "" { // then its column is no feature
		spec.Settings["unseen"] = p.Source.Unseen
	}
	if p.folds > 1 {
		spec.Settings["folds"] = fmt.Sprint(p.folds)
	}
	c.fit = p.Fit
	c.fit.Permutations, c.fit.Kinds, c.fit.Ensemble = 0, nil, 1
	for _, w := range c.weightings {
		if w.Kind != "" && !slices.Contains(c.fit.Kinds, w.Kind) {
			c.fit.Kinds = append(c.fit.Kinds, w.Kind)
		}
		if w.Season && !slices.Contains(c.fit.Kinds, crossfit.Joint) {
			c.fit.Kinds = append(c.fit.Kinds, crossfit.Joint)
		}
	}
	if len(c.fit.Kinds) > 0 {
		spec.Settings["g"] = canonical([]any{inputs, c.fit})
	}
	return runs.Job{Spec: spec, Steps: p.steps, Batch: c.batch(), Again: p.ownModel() && !p.Reuse}, nil
}

// identity is how the table is read, as text.
func (p *Job) identity() string {
	zone := ""
	if p.Read.Location != nil {
		zone = p.Read.Location.String()
	}
	read := p.Read
	read.Location = nil
	parts := []any{p.Time, p.Label, p.LabelKind, p.Bin, read, zone}
	if p.Group != "" { // then its column is no feature
		parts = append(parts, p.Group)
	}
	return canonical(parts)
}

// computation computes one run.
type computation struct {
	*Job
	model      trainer
	weightings []Weighting
	fit        crossfit.Config    // of g; without kinds where no weighting needs it
	known      map[int][]runs.Row // by step
}

// batch is the run by itself.
func (c *computation) batch() *runs.Batch {
	return &runs.Batch{Seeds: []int64{c.Seed}, GroupSize: 1,
		Start: func(_ context.Context, _ []int64, members []runs.Spec, files runs.Files) (runs.GroupStep, func(), error) {
			known, err := files.Rows(members[0])
			c.known = known
			return func(ctx context.Context, t int) ([][]runs.Row, error) {
				rows, err := c.step(ctx, t)
				c.known[t] = rows
				return [][]runs.Row{rows}, err
			}, nil, err
		}}
}

// task is the one of a test block and fold, with a sample of the past for a built-in model.
func (p *Job) task(step, fold int) (*Task, error) {
	learned, predicted := p.split(step, fold)
	return newTask(p.Stream, step, learned, predicted, !p.ownModel(), p.Seed)
}

// heldOut is the name of the row of g's held-out loss.
func heldOut(k crossfit.Kind) string { return metric("held-out loss of g", string(k)) }

// omega fits g on the past, where a weighting needs it, and returns the weights of the rows of train by kind, for the
// time of the test block, and rows of g's held-out losses.
func (c *computation) omega(ctx context.Context, t *Task) (map[crossfit.Kind][]float64, []runs.Row, error) {
	if len(c.fit.Kinds) == 0 {
		return nil, nil, nil
	}
	g, now, err := t.FitG(ctx, c.fit)
	if err != nil {
		return nil, nil, err
	}
	out := map[crossfit.Kind][]float64{}
	for _, kind := range c.fit.Kinds {
		w, err := g.WeightsOf(ctx, t.Data, now, crossfit.WeightOptions{Kind: kind})
		if err != nil {
			return nil, nil, err
		}
		out[kind] = w.Weight
	}
	var held []runs.Row
	if g.Joint != nil {
		t.Cycle = g.Joint.View.Cycle
		held = append(held, runs.Row{T: t.Step, Metric: heldOut(crossfit.Joint), Value: g.Joint.HeldOut})
	}
	if g.Covariate != nil {
		held = append(held, runs.Row{T: t.Step, Metric: heldOut(crossfit.Covariate), Value: g.Covariate.HeldOut})
	}
	return out, held, nil
}

// step predicts the test block, one fold of its entities after the other. A value is the mean over all its rows.
func (c *computation) step(ctx context.Context, step int) (rows []runs.Row, err error) {
	all := float64(c.counts[step])
	for fold := range c.folds {
		t, err := c.task(step, fold)
		if err != nil {
			return nil, err
		}
		if len(t.test) == 0 {
			continue
		}
		own, err := c.foldRows(ctx, t, fold)
		if err != nil {
			return nil, err
		}
		for i, r := range own {
			if rows == nil {
				rows = make([]runs.Row, len(own))
			}
			r.Value = rows[i].Value + r.Value*float64(len(t.test))/all
			rows[i] = r
		}
	}
	return rows, nil
}

// foldRows trains a model with each weighting on the blocks before the test block, and predicts a fold of it.
func (c *computation) foldRows(ctx context.Context, t *Task, fold int) ([]runs.Row, error) {
	t.Past = c.past(c.known, c.learnable(t.Step))
	omega, held, err := c.omega(ctx, t)
	if err != nil {
		return nil, err
	}
	models, err := c.models(ctx, t, omega)
	if err != nil {
		return nil, err
	}
	predicted, err := c.predict(ctx, t, models)
	if err != nil {
		return nil, err
	}
	return slices.Concat(t.withoutModel(), held, c.scores(t, predicted)), nil
}

// withoutModel are the rows of the predictions that need no model.
func (t *Task) withoutModel() []runs.Row {
	last, all := t.weights(Weighting{Window: 1}, nil), t.Equal()
	return slices.Concat(t.rows(NoChange, t.constant(t.labelDistribution(last))), t.rows(Majority, t.constant(t.labelDistribution(all))))
}

// weighted is a model that is trained: for a weighting, or for a rule that has models of its own.
type weighted struct {
	name   string    // of the weighting or the rule
	weight []float64 // of the rows of train
}

// models lists what is trained: a model for each weighting, and those of the rules that have models of their own.
func (c *computation) models(ctx context.Context, t *Task, omega map[crossfit.Kind][]float64) (all []weighted, err error) {
	for _, w := range c.weightings {
		all = append(all, weighted{w.String(), t.weights(w, c.part(t, w, omega[w.Kind]))})
	}
	for _, rule := range c.rules {
		if rule.Train == nil {
			continue
		}
		lists, err := rule.Train(ctx, t)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", rule.Name, err)
		}
		for _, w := range lists {
			all = append(all, weighted{rule.Name, scaledWeights(w)})
		}
	}
	return all, nil
}

// part is the part of omega that a weighting takes.
func (c *computation) part(t *Task, w Weighting, omega []float64) []float64 {
	for _, rule := range c.rules {
		if w.Part != "" && rule.Factor != nil && slices.Contains(rule.Weightings, w) {
			return rule.Factor(t, omega)
		}
	}
	return omega
}

// predict has the predictions of models by name: [rows, outputs] of each.
func (c *computation) predict(ctx context.Context, t *Task, models []weighted) (map[string][][]float64, error) {
	predicted := map[string][][]float64{}
	var names []string
	var weights [][]float64
	for _, m := range models {
		if t.single(m.weight) { // there is nothing to learn
			predicted[m.name] = append(predicted[m.name], t.constant(t.labelDistribution(m.weight)))
		} else {
			names, weights = append(names, m.name), append(weights, m.weight)
		}
	}
	if len(weights) == 0 {
		return predicted, nil
	}
	predictions, err := c.model.predict(ctx, t, weights)
	if err != nil {
		return nil, err
	}
	for i, p := range predictions {
		bad := slices.IndexFunc(p, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
		if bad >= 0 {
			return nil, fmt.Errorf("the model %s predicts %v for row %d (weights: %s)", c.Model, p[bad],
				bad/t.outputs()+1, names[i])
		}
		predicted[names[i]] = append(predicted[names[i]], p)
	}
	return predicted, nil
}

// scores are the rows of all weightings and of the rules with predictions of their own.
func (c *computation) scores(t *Task, predicted map[string][][]float64) (rows []runs.Row) {
	of := func(w Weighting) []float64 { return predicted[w.String()][0] }
	for _, w := range c.weightings {
		rows = append(rows, t.rows(w.String(), of(w))...)
	}
	for _, rule := range c.rules {
		switch {
		case rule.mixes:
			members := xslices.Map(rule.Weightings, of)
			mixture := mixed(members, adaHedge(rule.Name, rule.Weightings, t.Past))
			prediction := mixture
			if rule.Train != nil {
				prediction = mixed(predicted[rule.Name], nil)
			}
			rows = slices.Concat(rows, t.rows(rule.Name, prediction), t.slopes(rule.Name, rule.Weightings, members, mixture))
		case rule.Train != nil:
			rows = append(rows, t.rows(rule.Name, mixed(predicted[rule.Name], nil))...)
		}
		if rule.Record != nil {
			rows = append(rows, rule.Record(t, of)...)
		}
	}
	return rows
}
