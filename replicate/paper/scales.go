package paper

import (
	"fmt"
	"slices"

	"tvps/replicate/settings"
)

// Scales, smallest first. A scale only sets numbers; nothing else knows its name.
var Scales = []string{"tiny", "small", "paper"}

// The settings of every scenario at the paper's size. Names and sources are those of
// continual.Settings; INTERPRETATIONS.md explains what the paper leaves open.
var (
	common = []string{
		"turn=50", "period=0", "amplitude=0", "reading=listing", "data=auto", "features=auto", "images=0",
		"hidden=32", "start=pretrained", "block=basic", "batch-norm=batch", "rate=9e-4", "batch=128",
		"method=method2", "g-label=true", "g-join=first", "g-start=scratch", "g-time=onehot", "g-frequencies=8", "g-batch=512", "window=1", "clip=min1",
		"target=-1", "mmd-past=2000", "permutations=500", "stride=1", "first=1", "stack=1",
	}
	gaussianPaper = slices.Concat(common, []string{
		"steps=160", "n=2000", "test-n=2000", "evaluate=draw", "network=mlp", "width=16", "checkpoint=committed",
		"epochs=25", "max-updates=1000", "finetune-epochs=25",
		"g-network=mlp", "g-input=features", "g-hidden=32", "g-rate=3e-3", "g-updates=1000", "g-epochs=0", "stack=3",
	})
	cifarPaper = slices.Concat(common, []string{
		"n=200", "test-n=0", "evaluate=weighted", "network=head", "width=64", "checkpoint=split",
		"epochs=20", "max-updates=0", "finetune-epochs=20",
		"g-network=conv5", "g-input=pixels", "g-hidden=32", "g-rate=1e-4", "g-updates=1000", "g-epochs=200",
	})
	clearPaper = slices.Concat(common, []string{
		"steps=500", "n=200", "test-n=0", "evaluate=weighted", "network=linear", "width=16", "checkpoint=committed",
		"epochs=25", "max-updates=0", "finetune-epochs=25",
		"g-network=fc3", "g-join=even", "g-input=features", "g-hidden=64", "g-rate=1e-4", "g-updates=1000", "g-epochs=200",
	})
)

// What the smaller scales change: a narrow network with one committed checkpoint, a g
// on the trunk's features that learns in a second, fewer minibatches and steps.
var (
	gaussianTiny = []string{"n=300", "test-n=1000", "max-updates=300", "g-updates=300"}
	cifarSmall   = []string{
		"width=16", "checkpoint=committed", "test-n=2000", "max-updates=100",
		"g-network=mlp", "g-input=features", "g-hidden=64", "g-rate=3e-3", "g-updates=1000", "g-epochs=0",
	}
	cifarTiny = slices.Concat(cifarSmall, []string{
		"data=sample", "images=1500", "n=100", "test-n=500", "max-updates=8", "g-updates=150", "g-hidden=32",
		"steps=30", "first=13", "stride=13", "mmd-past=500", "permutations=100",
	})
	clearSmall = []string{"max-updates=1000", "g-rate=3e-3", "g-epochs=0"}
	clearTiny  = slices.Concat(clearSmall, []string{
		"features=stand-in", "data=sample", "images=1500", "n=100", "max-updates=100", "g-updates=150", "g-hidden=32", "steps=60", "first=13", "stride=23",
	})
)

var scenarioSettings = map[string]map[string][]string{
	"gaussian": {
		"paper": gaussianPaper,
		"small": slices.Concat(gaussianPaper, []string{"stride=3"}),
		"tiny":  slices.Concat(gaussianPaper, gaussianTiny, []string{"stride=31", "first=20"}),
	},
	"periodic": {
		"paper": slices.Concat(gaussianPaper, periodic),
		"small": slices.Concat(gaussianPaper, periodic),
		"tiny":  slices.Concat(gaussianPaper, periodic, gaussianTiny),
	},
	"cifar10a": cifar("steps=180", "stride=17", "first=7"),
	"cifar10b": cifar("steps=120", "stride=11", "first=8"),
	"cifar10c": cifar("steps=300", "stride=29", "first=8"),
	"noshift":  cifar("steps=180", "stride=17", "first=7"),
	"cheetah": {
		"paper": cheetahPaper,
		"small": slices.Concat(cheetahPaper, robotSmall, []string{"episodes=800", "every=40", "burn-in=2000"}),
		"tiny":  slices.Concat(cheetahPaper, robotTiny),
	},
	"claw": {
		"paper": clawPaper,
		"small": slices.Concat(clawPaper, robotSmall, []string{"episodes=1000", "every=50", "burn-in=2000"}),
		"tiny":  slices.Concat(clawPaper, robotTiny),
	},
	"clear": {
		"paper": clearPaper,
		"small": slices.Concat(clearPaper, clearSmall, []string{"stride=13", "first=8"}),
		"tiny":  slices.Concat(clearPaper, clearTiny),
	},
}

// The settings of the robots at the paper's size, and what the smaller scales change: small
// networks and batches, few episodes.
var (
	robot = []string{
		"repeat=2", "valves=10", "hidden=256", "layers=2", "batch=256", "gamma=.99", "tau=.005", "actor-rate=3e-4", "critic-rate=3e-4",
		"alpha=.2", "replay=1000000", "burn-in=10000", "update-every=1", "context-hidden=30", "history=30",
		"g-hidden=64", "g-layers=4", "g-rate=1e-4", "g-updates=4", "g-batch=512", "g-every=1", "method=method2", "g-time=fourier", "g-frequencies=8", "clip=min1",
		"stack=0",
	}
	cheetahPaper = slices.Concat(robot, []string{"horizon=50", "learn-alpha=true", "episodes=3000", "every=100", "evaluate-episodes=50"})
	clawPaper    = slices.Concat(robot, []string{"horizon=40", "learn-alpha=false", "episodes=5000", "every=100", "evaluate-episodes=5"})
	robotSmall   = []string{"hidden=128", "batch=128", "replay=200000", "history=10"}
	robotTiny    = []string{"hidden=32", "batch=32", "replay=2000", "burn-in=200", "episodes=24", "every=8", "evaluate-episodes=5", "history=10", "g-hidden=16", "g-batch=64", "stack=3"}
)

var periodic = []string{"steps=100", "period=5", "amplitude=2"}

// cifar are the scales of a label shift over CIFAR-10: its steps, and what the small
// scale takes of them.
func cifar(steps string, smallSteps ...string) map[string][]string {
	return map[string][]string{
		"paper": slices.Concat(cifarPaper, []string{steps}),
		"small": slices.Concat(cifarPaper, []string{steps}, smallSteps, cifarSmall),
		"tiny":  slices.Concat(cifarPaper, cifarTiny),
	}
}

// SettingsFor returns the settings of a scenario at a scale, with overrides of the
// form name=value on top.
func SettingsFor(scenario, scale string, overrides []string) (Setup, error) {
	s := setupOf(scenario)
	byScale, ok := scenarioSettings[scenario]
	if !ok {
		return s, fmt.Errorf("there is no scenario %q", scenario)
	}
	list, ok := byScale[scale]
	if !ok {
		return s, fmt.Errorf("there is no scale %q; did you mean %q? (%v)", scale, settings.Nearest(scale, Scales), Scales)
	}
	for _, o := range slices.Concat(list, overrides) {
		name, value, err := splitOverride(o)
		if err != nil {
			return s, err
		}
		if s, err = s.With(name, value); err != nil {
			return s, err
		}
	}
	return s, s.Validate()
}
