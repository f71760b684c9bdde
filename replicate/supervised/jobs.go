package supervised

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tvps/replicate/experiment"
	"tvps/replicate/runs"
	"tvps/replicate/usage"
)

// config is what the runs of a series have in common: all but the seed.
type config struct {
	series   string
	settings Settings
	learner  Learner
	measure  measure
	host     *experiment.Host
	source   Source
}

// Outlines returns what the settings say of the runs of each series; measure is that of Jobs. Errors: impossible
// settings.
func (s Settings) Outlines(series []string, measure string) ([]experiment.Outline, error) {
	configs, err := s.configs(series, measure)
	var out []experiment.Outline
	for _, x := range configs {
		out = append(out, x.outline())
	}
	return out, err
}

// Jobs returns one run for each series and seed. measure is what they report, see [measureAccuracy] and the others;
// empty for accuracy. It computes nothing. Errors: impossible settings, missing data or checkpoints.
func (s Settings) Jobs(h *experiment.Host, series []string, seeds []int64, measure string) ([]runs.Wanted, error) {
	configs, err := s.configs(series, measure)
	if err != nil {
		return nil, err
	}
	var out []runs.Wanted
	for _, x := range configs {
		jobs, err := x.on(h).jobs(seeds)
		if err != nil {
			return nil, err
		}
		out = append(out, jobs...)
	}
	return out, nil
}

// configs returns that of each series.
func (s Settings) configs(series []string, measure string) ([]config, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	var out []config
	for _, name := range series {
		x, err := s.config(name, measure)
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}

// config returns that of a series, without host and source. Errors: the series does not exist, or does not fit the
// scenario and the measure.
func (s Settings) config(series, measure string) (config, error) {
	m, err := measureOf(measure)
	if err != nil {
		return config{}, err
	}
	if valid := m.series(); !slices.Contains(valid, series) {
		return config{}, fmt.Errorf("there is no learner %q with a measure of %s%s (%s)",
			series, m.name, usage.Proposal(series, valid), strings.Join(valid, ", "))
	}
	learner, s := resolve(series, s)
	return config{series: series, settings: s, learner: learner, measure: m}, learner.check(s)
}

// on returns the config with a host and the samples there.
func (x config) on(h *experiment.Host) config {
	x.host, x.source = h, x.settings.open(h)
	return x
}

// CheckSeries tells whether a series exists and fits the scenario and the measure.
func (s Settings) CheckSeries(name, measure string) error {
	_, err := s.config(name, measure)
	return err
}

// outline describes the runs without a host.
func (x config) outline() experiment.Outline {
	s := x.settings
	out := experiment.Outline{Series: x.series, Learner: x.learner.Name, Settings: x.identity(), Data: s.data(),
		Steps: x.measure.steps(s), Backend: true, Images: s.model() == pretrainedHead}
	delete(out.Settings, "data") // the source's own name replaces it
	if s.scenario().Pretrained {
		out.Trunk = &experiment.Trunk{Width: s.Width, PerSplit: s.Checkpoint == "split"}
	}
	return out
}

// jobs returns the runs of a series.
func (x config) jobs(seeds []int64) ([]runs.Wanted, error) {
	var out []runs.Wanted
	for _, seed := range seeds {
		spec, err := x.spec(seed)
		if err != nil {
			return nil, err
		}
		start := func(ctx context.Context) (runs.StepFunc, func(), error) { return x.start(ctx, seed) }
		out = append(out, runs.Wanted{Series: x.series, Job: runs.Job{Spec: spec, Batch: runs.Alone(seed, start),
			Steps: x.measure.steps(x.settings), Cost: x.cost}})
	}
	return out, nil
}

// spec is the identity of a seed's run: the settings, data and programs that can change its numbers.
func (x config) spec(seed int64) (runs.Spec, error) {
	ofSource, err := x.source.Identity(seed)
	if err != nil {
		return runs.Spec{}, err
	}
	identity := x.identity()
	maps.Copy(identity, x.host.Backend.Info.Identity())
	maps.Copy(identity, ofSource)
	return runs.Spec{Experiment: x.settings.folder(x.source.About().StandIn), Learner: x.learner.Name, Seed: seed,
		Settings: identity}, nil
}

// folder names the experiment of runs, which is another one if a stand-in replaces the scenario's data.
func (s Settings) folder(standIn string) string {
	if standIn != "" {
		return s.Scenario + "-stand-in"
	}
	return s.Scenario
}

// identity returns the settings that can change the numbers, as text by name, and the protocol's number.
func (x config) identity() map[string]string {
	s := x.settings
	groups := slices.Concat([]string{"stream"}, s.scenario().Groups, x.measure.groups, x.learner.Groups)
	if x.learner.weighs() {
		groups = append(groups, "clip")
	}
	if x.learner.fits() {
		groups = append(groups, "omega")
	}
	if x.measure.trains {
		groups = append(groups, "classifier", string(s.model()))
	}
	out := experiment.Identity(s, groups...)
	if head := string(pretrainedHead); s.scenario().Pretrained && !slices.Contains(groups, head) {
		// Samples are features of this network, and hashes alone do not say of which. Runs from before had these values.
		for name, was := range map[string]string{"width": "16", "checkpoint": "committed"} {
			if value := experiment.Identity(s, head)[name]; value != was {
				out[name] = value
			}
		}
	}
	if x.measure.name != measureAccuracy {
		out["measure"] = x.measure.name
	}
	out["protocol"] = x.version()
	return out
}

// version is the protocol's number: another one for runs whose g sees features or pixels.
func (x config) version() string {
	if x.learner.fits() && x.settings.scenario().Pretrained {
		return versionOfPast
	}
	return version
}

// start prepares the run of a seed on an engine, which stop gives back.
func (x config) start(ctx context.Context, seed int64) (step runs.StepFunc, stop func(), err error) {
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
