package continual

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"tvps/gomlx_models/loop"
	"tvps/replicate/protocol"
	"tvps/replicate/runs"
)

// experiment is what the runs of a learner have in common: all but the seed.
type experiment struct {
	host     *protocol.Host
	settings Settings
	source   Source
	learner  Learner
	measure  measure
}

// Jobs returns one run for each series and seed. measure is what they report, see [MeasureAccuracy] and the others;
// empty for accuracy. It computes nothing. Errors: impossible settings, missing data or checkpoints.
func (s Settings) Jobs(h *protocol.Host, series []string, seeds []int64, measure string) ([]runs.Wanted, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	var out []runs.Wanted
	for _, name := range series {
		x, err := s.experiment(h, name, measure)
		if err != nil {
			return nil, err
		}
		jobs, err := x.jobs(seeds)
		if err != nil {
			return nil, err
		}
		for _, job := range jobs {
			out = append(out, runs.Wanted{Series: name, Job: job})
		}
	}
	return out, nil
}

// experiment returns that of a series.
func (s Settings) experiment(h *protocol.Host, series, measure string) (experiment, error) {
	if err := s.CheckSeries(series, measure); err != nil {
		return experiment{}, err
	}
	learner, s, err := resolve(series, s)
	if err != nil {
		return experiment{}, err
	}
	m, err := measureOf(measure)
	if err != nil {
		return experiment{}, err
	}
	return experiment{h, s, s.open(h), learner, m}, nil
}

// jobs returns the runs of the seeds, grouped by batched seeds.
func (x experiment) jobs(seeds []int64) ([]runs.Job, error) {
	var out []runs.Job
	for batch := range slices.Chunk(seeds, x.batchSize()) {
		var group *runs.Group
		if len(batch) > 1 {
			group = &runs.Group{Size: len(batch), Start: func(ctx context.Context, members []runs.Spec, _ runs.Files) (runs.GroupStep, func(), error) {
				return x.startGroup(ctx, batch, members)
			}}
		}
		for _, seed := range batch {
			spec, err := x.spec(seed)
			if err != nil {
				return nil, err
			}
			job := runs.Job{Spec: spec, Steps: x.measure.steps(x.settings), Cost: x.measure.cost(x.settings, x.learner), Group: group}
			if group == nil {
				job.Start = func(ctx context.Context) (runs.StepFunc, func(), error) { return x.start(ctx, seed) }
			}
			out = append(out, job)
		}
	}
	return out, nil
}

// batchSize is the number of seeds that train in one program: several where a small network is trained by the
// classifier's own loop. Nothing else gains: see BenchmarkBatchedSeeds.
func (x experiment) batchSize() int {
	if x.settings.scenario().Batched && x.measure.trains && x.learner.Train == nil {
		return x.settings.Stack
	}
	return 1
}

// spec is the identity of a seed's run: the settings, data and programs that can change its numbers.
func (x experiment) spec(seed int64) (runs.Spec, error) {
	ofSource, err := x.source.Identity(seed)
	if err != nil {
		return runs.Spec{}, err
	}
	identity := x.identity()
	maps.Copy(identity, x.host.Backend.Info.Identity())
	identity["protocol"] = version
	maps.Copy(identity, ofSource)
	folder := x.settings.Scenario
	if x.source.About().StandIn != "" {
		folder += "-stand-in"
	}
	return runs.Spec{Experiment: folder, Learner: x.learner.Look.Name, Seed: seed, Settings: identity}, nil
}

// identity returns the settings that can change the numbers, as text by name.
func (x experiment) identity() map[string]string {
	s := x.settings
	groups := slices.Concat([]string{"stream"}, s.scenario().Groups, x.measure.groups, x.learner.Groups)
	if x.measure.trains {
		groups = append(groups, "classifier", string(s.model()))
	}
	out := s.of(groups...)
	if x.measure.name != MeasureAccuracy {
		out["measure"] = x.measure.name
	}
	return out
}

// start prepares the run of a seed that trains alone.
func (x experiment) start(ctx context.Context, seed int64) (runs.StepFunc, func(), error) {
	engine, release, err := enginesOf(x.host).take(x.settings)
	if err != nil {
		return nil, nil, err
	}
	run, err := x.newRunContext(ctx, engine, seed)
	if err != nil {
		release()
		return nil, nil, err
	}
	return x.measure.start(run), release, nil
}

// startGroup prepares the runs of batched seeds on one engine. All seeds train, also those whose runs are stored and
// that are not among the members.
func (x experiment) startGroup(ctx context.Context, seeds []int64, members []runs.Spec) (runs.GroupStep, func(), error) {
	engine, release, err := enginesOf(x.host).take(x.settings)
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
		run, err := x.newRunContext(ctx, engine, seed)
		if err != nil {
			stop()
			return nil, nil, err
		}
		run.Classifier = run.Classifier.In(group, i)
		steps[i] = runs.Guarded(x.measure.start(run))
	}
	return func(ctx context.Context, t int) ([][]runs.Row, error) {
		return groupStep(ctx, group, t, seeds, steps, members)
	}, stop, nil
}

// groupStep computes step t of all seeds and returns the rows of the members.
func groupStep(ctx context.Context, group *loop.Group, t int, seeds []int64, steps []runs.StepFunc,
	members []runs.Spec) ([][]runs.Row, error) {
	rows := make([][]runs.Row, len(seeds))
	err := group.Each(ctx, func(ctx context.Context, i int) (err error) {
		if rows[i], err = steps[i](ctx, t); err != nil {
			return fmt.Errorf("seed %d: %w", seeds[i], err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var out [][]runs.Row
	for _, member := range members {
		out = append(out, rows[slices.Index(seeds, member.Seed)])
	}
	return out, nil
}
