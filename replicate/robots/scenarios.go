package robots

import (
	"context"
	"fmt"
	"io"

	"tvps/data/env"
	"tvps/gomlx_models/propensity"
	"tvps/replicate/experiment"
	"tvps/replicate/usage"

	"github.com/gomlx/gomlx/support/xslices"
)

// Scenario is a robot whose task changes from episode to episode.
type Scenario struct {
	Name string
	// New makes the environment of one seed. The first call on a machine may fetch the simulator and its models.
	New func(ctx context.Context, s Settings, seed int64, log io.Writer) (env.Env, error)
	// Scales are its settings. Without any it belongs to no figure: the caller sets every one.
	Scales experiment.ByScale[Settings]

	Parts    []string // tags `of` in Settings of the settings that only such scenarios have
	Success  bool     // whether runs report Success; its environments then have a method Success() bool
	StepCost float64  // estimated milliseconds of a simulated step with its action, on one core
	// Note says in one sentence which tasks there are; nil if the other notes say it all.
	Note func(s Settings) string
}

// scenarios are the declared scenarios.
var scenarios = experiment.Register[Scenario]{Kind: "robots: the scenario",
	Name: func(s Scenario) string { return s.Name }, Entries: builtIn}

// builtIn are the paper's robots and a usual benchmark.
var builtIn = []Scenario{
	{
		Name: "cheetah", New: newCheetah(false), StepCost: .3,
		Scales: experiment.ByScale[Settings]{
			experiment.Paper:  cheetahPaper,
			experiment.Medium: cheetahPaper.with(robotSmall, episodes(3000, 40)),
			experiment.Small:  cheetahPaper.with(robotSmall, episodes(1600, 40)),
			experiment.Tiny:   cheetahPaper.with(robotTiny),
		},
	},
	{
		Name: "claw", New: newClaw, Parts: []string{"claw"}, Success: true, StepCost: 1.8, Note: clawNote,
		Scales: experiment.ByScale[Settings]{
			experiment.Paper:  clawPaper,
			experiment.Medium: clawPaper.with(robotSmall, fewValves, episodes(3000, 100)),
			experiment.Small:  clawPaper.with(robotSmall, fewValves, episodes(2000, 100)),
			experiment.Tiny:   clawPaper.with(robotTiny, fewValves),
		},
	},
	{Name: "halfcheetah", New: newCheetah(true), StepCost: .3},
}

// The settings of the robots at the paper's size.
var (
	cheetahPaper = Settings{
		Horizon: 50, Repeat: 2, Valves: env.Valves,
		Every: 100, Evaluate: EvaluateTasks, EvaluateEpisodes: 50,
		Hidden: 256, Layers: 2, Batch: 256, Gamma: .99, Tau: .005, ActorRate: 3e-4, CriticRate: 3e-4,
		Alpha: .2, LearnAlpha: true, Replay: 1_000_000, BurnIn: 10_000, UpdateEvery: 1,
		ContextHidden: 30, History: 30, Recent: 100,
		GNetwork: propensity.Deep, GHidden: 64, GLayers: 4, GRate: 1e-4, GUpdates: 4, GBatch: 512, GEvery: 1,
		Method: propensity.Method2, GTime: propensity.TimeFourier, Waves: 8, Clip: propensity.ClipOne,
		Episodes: 3000, Threads: 1,
	}
	clawPaper = cheetahPaper.with(func(s *Settings) {
		s.Horizon, s.LearnAlpha, s.EvaluateEpisodes = 40, false, 5
	}, episodes(5000, 100))
)

// with returns changed settings.
func (s Settings) with(changes ...func(s *Settings)) Settings {
	for _, change := range changes {
		change(&s)
	}
	return s
}

// What the smaller scales change: small networks and batches, few episodes.

func robotSmall(s *Settings) {
	s.Hidden, s.Batch, s.Replay, s.BurnIn, s.History = 128, 128, 200_000, 2000, 10
}

func robotTiny(s *Settings) {
	s.Hidden, s.Batch, s.Replay, s.BurnIn, s.History = 32, 32, 2000, 200, 10
	s.Episodes, s.Every, s.EvaluateEpisodes = 24, 8, 5
	s.GHidden, s.GBatch = 16, 64
}

// fewValves are as many as SAC learns to turn in that time.
func fewValves(s *Settings) { s.Valves = 3 }

func episodes(n, every int) func(s *Settings) {
	return func(s *Settings) { s.Episodes, s.Every = n, every }
}

// DeclareScenario adds a scenario and returns it. Call it from a package's initialisation: the table is read without a
// lock. It panics on a name that is empty or taken, and without New.
func DeclareScenario(s Scenario) Scenario {
	if s.New == nil {
		panic("robots: the scenario " + s.Name + " needs a function New")
	}
	return scenarios.Add(s)
}

// Scenarios lists the names of all scenarios, sorted.
func Scenarios() []string { return scenarios.Names() }

// At returns the settings of a scenario at a scale. Errors: an unknown scenario, or a scale that it lacks.
func At(scenario string, scale experiment.Scale) (experiment.Setup, error) {
	s, ok := scenarios.Of(scenario)
	if !ok {
		return nil, fmt.Errorf("there is no scenario %q%s", scenario, usage.Proposal(scenario, Scenarios()))
	}
	settings, err := s.Scales.At(scale)
	if err != nil {
		return nil, fmt.Errorf("scenario %s: %w", scenario, err)
	}
	settings.Scenario = scenario
	return settings, nil
}

// newCheetah returns the New of Half-Cheetah: in changing wind, or plain.
func newCheetah(plain bool) func(context.Context, Settings, int64, io.Writer) (env.Env, error) {
	return func(ctx context.Context, s Settings, _ int64, log io.Writer) (env.Env, error) {
		return env.NewCheetah(ctx, env.CheetahOptions{Log: log, Plain: plain, Horizon: s.Horizon})
	}
}

// newClaw makes a D'Claw that turns the first valves.
func newClaw(ctx context.Context, s Settings, seed int64, log io.Writer) (env.Env, error) {
	return env.NewClaw(ctx, env.ClawOptions{Log: log, Repeat: s.Repeat, Tasks: xslices.Iota(0, s.Valves), Seed: seed,
		Horizon: s.Horizon})
}

func clawNote(s Settings) string {
	if s.Valves == 1 {
		return "One valve, the same in every episode."
	}
	return fmt.Sprintf("%d valves, each %d times before the next.", s.Valves, s.Repeat)
}
