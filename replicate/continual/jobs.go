package continual

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"tvps/gomlx_models/loop"
	"tvps/replicate/runs"
)

// Jobs returns one run for each series and seed. measured is what they report, see
// MeasureAccuracy and the others; empty for accuracy. On the Gaussian the classifiers of
// several seeds train in one program, as many as Settings.Stack says.
func Jobs(e *Env, s Settings, series []string, seeds []int64, measured string) ([]runs.Wanted, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	var jobs []runs.Wanted
	for _, name := range series {
		if err := CheckSeries(name, s, measured); err != nil {
			return nil, err
		}
		learner, settings, err := resolve(name, s)
		if err != nil {
			return nil, err
		}
		for together := range slices.Chunk(seeds, settings.together(learner, measured)) {
			some, err := e.jobs(settings, learner, together, measured)
			if err != nil {
				return nil, err
			}
			for _, job := range some {
				jobs = append(jobs, runs.Wanted{Series: name, Job: job})
			}
		}
	}
	return jobs, nil
}

// together is how many seeds may train in one program: several where a small network is
// trained by the classifier's own loop. Nothing else gains: see BenchmarkGaussianStack.
func (s Settings) together(name, measured string) int {
	measured, _ = measureOf(measured)
	if slices.Contains(scenarios[s.Scenario].groups, "gaussian") && measured == MeasureAccuracy && learnerTable[name].train == nil {
		return s.Stack
	}
	return 1
}

// jobs are the runs of a learner for seeds that train together.
func (e *Env) jobs(s Settings, name string, seeds []int64, measured string) ([]runs.Job, error) {
	_, m := measureOf(measured)
	var group *runs.Group
	if len(seeds) > 1 {
		group = &runs.Group{Size: len(seeds), Start: func(ctx context.Context, members []runs.Spec, _ runs.Files) (runs.GroupStep, func(), error) {
			return e.startGroup(ctx, s, name, seeds, members)
		}}
	}
	var jobs []runs.Job
	for _, seed := range seeds {
		settings := s.identity(name, measured)
		identity, err := e.Identity(s, seed)
		if err != nil {
			return nil, err
		}
		maps.Copy(settings, identity)
		job := runs.Job{
			Spec:  runs.Spec{Experiment: e.experiment(s), Learner: name, Seed: seed, Settings: settings},
			Steps: m.steps(s),
			Cost:  m.cost(s, learnerTable[name]),
			Group: group,
		}
		if group == nil {
			job.Start = func(ctx context.Context) (runs.StepFunc, func(), error) { return e.start(ctx, s, name, seed, measured) }
		}
		jobs = append(jobs, job)
	}
	return jobs, nil
}

// start prepares the run of a seed that trains alone.
func (e *Env) start(ctx context.Context, s Settings, name string, seed int64, measured string) (runs.StepFunc, func(), error) {
	engine, release, err := e.engine(s)
	if err != nil {
		return nil, nil, err
	}
	b, err := e.bench(ctx, engine, s, name, seed, measured)
	if err != nil {
		release()
		return nil, nil, err
	}
	_, m := measureOf(measured)
	return m.start(b, learnerTable[name]), release, nil
}

// startGroup prepares the runs of seeds that train together, on one engine. All seeds
// train, also those whose runs are stored and not among the members.
func (e *Env) startGroup(ctx context.Context, s Settings, name string, seeds []int64, members []runs.Spec) (runs.GroupStep, func(), error) {
	engine, release, err := e.engine(s)
	if err != nil {
		return nil, nil, err
	}
	group := loop.NewGroup(len(seeds))
	stop := func() {
		group.Close()
		release()
	}
	steps := make([]runs.StepFunc, len(seeds))
	for i, seed := range seeds {
		b, err := e.bench(ctx, engine, s, name, seed, MeasureAccuracy)
		if err != nil {
			stop()
			return nil, nil, err
		}
		b.classifier = b.classifier.In(group, i)
		steps[i] = runs.Guarded(func(ctx context.Context, t int) ([]runs.Row, error) { return b.step(ctx, learnerTable[name], t) })
	}
	return func(ctx context.Context, t int) ([][]runs.Row, error) {
		rows := make([][]runs.Row, len(seeds))
		err := group.Each(ctx, func(ctx context.Context, i int) (err error) {
			if rows[i], err = steps[i](ctx, t); err != nil {
				err = fmt.Errorf("seed %d: %w", seeds[i], err)
			}
			return err
		})
		var out [][]runs.Row
		for _, member := range members {
			out = append(out, rows[slices.Index(seeds, member.Seed)])
		}
		return out, err
	}, stop, nil
}

// trainingCost estimates the relative work of a learner's step, for the order of runs
// and the time left.
func trainingCost(s Settings, l learner) float64 {
	past := float64(s.N*s.Steps) / 2 // samples of all steps so far, half-way
	full := past * float64(s.Epochs) / float64(s.Batch)
	if s.MaxUpdates > 0 {
		full = float64(s.MaxUpdates)
	}
	one := min(full, float64(s.N*s.Epochs)/float64(s.Batch))
	update := 1. // measured: minibatches of a vector model,
	if s.Network == "head" {
		update = map[string]float64{"basic": 150, "stage": 310}[s.Block] // and of the head of ResNet-18
	}
	cost := 1 + s.gCost(l)
	if l.train != nil { // Meta-Weight-Net: three passes forward and back
		cost += 3 * full * update
	}
	for _, p := range l.phases {
		if first, last := p.steps(s.Steps); first == last {
			cost += one * update
		} else {
			cost += full * update
		}
	}
	return cost
}

// gCost is the relative work of g at one step.
func (s Settings) gCost(l learner) float64 {
	if l.method == "" {
		return 0
	}
	updates := float64(s.GUpdates)
	if s.GEpochs > 0 {
		updates = float64(s.N*s.Steps) / 2 * float64(s.GEpochs) / float64(s.GBatch)
	}
	if s.GStart == "previous" {
		updates *= 2
	}
	return 4 * updates // measured: of a minibatch of a vector model
}
