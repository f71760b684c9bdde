package reinforce

import (
	"context"
	"fmt"
	"io"
	"slices"

	"tvps/data/env"
	"tvps/replicate/experiment"
)

// Scenario is a robot whose task changes from episode to episode.
type Scenario struct {
	Name string
	// New makes the environment of one seed. The first call on a machine may fetch the simulator and its models.
	New func(ctx context.Context, s Settings, seed int64, log io.Writer) (env.Env, error)
	// Scales are its settings. Without any it belongs to no figure: the caller sets every one.
	Scales experiment.ByScale

	Parts    []string // tags `of` in Settings of the settings that only such scenarios have
	Success  bool     // whether runs report Success; its environments then have a method Success() bool
	StepCost float64  // estimated milliseconds of a simulated step with its action, on one core
	// Note says in one sentence which tasks there are; nil if the other notes say it all.
	Note func(s Settings) string
}

// scenarios are the paper's robots, a usual benchmark, and what else is declared.
var scenarios = []Scenario{
	{
		Name: "cheetah", New: newCheetah(false), StepCost: .3,
		Scales: experiment.ByScale{
			experiment.Paper:  cheetahPaper,
			experiment.Medium: slices.Concat(cheetahPaper, robotSmall, []string{"episodes=3000", "every=40"}),
			experiment.Small:  slices.Concat(cheetahPaper, robotSmall, []string{"episodes=1600", "every=40"}),
			experiment.Tiny:   slices.Concat(cheetahPaper, robotTiny),
		},
	},
	{
		Name: "claw", New: newClaw, Parts: []string{"claw"}, Success: true, StepCost: 1.8, Note: clawNote,
		Scales: experiment.ByScale{
			experiment.Paper:  clawPaper,
			experiment.Medium: slices.Concat(clawPaper, robotSmall, fewValves, []string{"episodes=3000"}),
			experiment.Small:  slices.Concat(clawPaper, robotSmall, fewValves, []string{"episodes=2000"}),
			experiment.Tiny:   slices.Concat(clawPaper, robotTiny, fewValves),
		},
	},
	{Name: "halfcheetah", New: newCheetah(true), StepCost: .3},
}

// The settings of the robots at the paper's size, and what the smaller scales change: small networks and batches, few
// episodes.
var (
	robot = []string{
		"evaluate=tasks", "repeat=2", "valves=10", "hidden=256", "layers=2", "batch=256", "gamma=.99", "tau=.005",
		"actor-rate=3e-4", "critic-rate=3e-4", "alpha=.2", "replay=1000000", "burn-in=10000", "update-every=1",
		"context-hidden=30", "history=30", "recent=100",
		"g-hidden=64", "g-layers=4", "g-rate=1e-4", "g-updates=4", "g-batch=512", "g-every=1", "method=method2",
		"g-time=fourier", "g-frequencies=8", "clip=min1",
		"threads=1", "stack=0",
	}
	cheetahPaper = slices.Concat(robot, []string{
		"horizon=50", "learn-alpha=true", "episodes=3000", "every=100", "evaluate-episodes=50",
	})
	clawPaper = slices.Concat(robot, []string{
		"horizon=40", "learn-alpha=false", "episodes=5000", "every=100", "evaluate-episodes=5",
	})
	fewValves  = []string{"valves=3"} // as many as SAC learns to turn in that time
	robotSmall = []string{"hidden=128", "batch=128", "replay=200000", "burn-in=2000", "history=10"}
	robotTiny  = []string{
		"hidden=32", "batch=32", "replay=2000", "burn-in=200", "episodes=24", "every=8", "evaluate-episodes=5",
		"history=10", "g-hidden=16", "g-batch=64", "stack=3",
	}
)

// DeclareScenario adds a scenario and returns it. Call it from a package's initialisation: the table is read without a
// lock. It panics on a name that is empty or taken.
func DeclareScenario(s Scenario) Scenario {
	if _, taken := scenarioOf(s.Name); taken || s.Name == "" || s.New == nil {
		panic(fmt.Sprintf("reinforce: the scenario %q needs a name of its own and a function New", s.Name))
	}
	scenarios = append(scenarios, s)
	return s
}

// Scenarios lists the names of all scenarios.
func Scenarios() []string {
	var out []string
	for _, s := range scenarios {
		out = append(out, s.Name)
	}
	return out
}

// scenarioOf returns the scenario of that name; ok is false if there is none.
func scenarioOf(name string) (s Scenario, ok bool) {
	i := slices.IndexFunc(scenarios, func(s Scenario) bool { return s.Name == name })
	if i < 0 {
		return Scenario{}, false
	}
	return scenarios[i], true
}

// At returns the settings of a scenario at a scale. Errors: an unknown scenario, one without scales, an unknown scale.
func At(scenario string, scale experiment.Scale) (experiment.Setup, error) {
	s, ok := scenarioOf(scenario)
	switch {
	case !ok:
		nearest := experiment.Nearest(scenario, Scenarios())
		return nil, fmt.Errorf("there is no scenario %q; did you mean %q?", scenario, nearest)
	case s.Scales == nil:
		return nil, fmt.Errorf("scenario %q has no scale: no figure uses it", scenario)
	}
	list, err := s.Scales.At(scale)
	if err != nil {
		return nil, fmt.Errorf("scenario %s: %w", scenario, err)
	}
	setup, err := experiment.Apply(Settings{Scenario: scenario}, list)
	if err != nil {
		return nil, fmt.Errorf("scenario %s at scale %s: %w", scenario, scale, err)
	}
	return setup, nil
}

// newCheetah returns the New of Half-Cheetah: in changing wind, or plain.
func newCheetah(plain bool) func(context.Context, Settings, int64, io.Writer) (env.Env, error) {
	return func(ctx context.Context, s Settings, _ int64, log io.Writer) (env.Env, error) {
		return env.NewCheetah(ctx, env.CheetahOptions{Options: env.Options{Log: log}, Plain: plain, Horizon: s.Horizon})
	}
}

// newClaw makes a D'Claw that turns the first valves.
func newClaw(ctx context.Context, s Settings, seed int64, log io.Writer) (env.Env, error) {
	tasks := make([]int, s.Valves)
	for i := range tasks {
		tasks[i] = i
	}
	return env.NewClaw(ctx, env.ClawOptions{Options: env.Options{Log: log}, Repeat: s.Repeat, Tasks: tasks, Seed: seed,
		Horizon: s.Horizon})
}

func clawNote(s Settings) string {
	if s.Valves == 1 {
		return "One valve, the same in every episode."
	}
	return fmt.Sprintf("%d valves, each %d times before the next.", s.Valves, s.Repeat)
}
