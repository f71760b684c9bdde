package paper

import (
	"fmt"
	"slices"

	"tvps/replicate/continual"
)

// Scales, smallest first. A scale only sets numbers; nothing else knows its name.
var Scales = []string{"tiny", "small", "paper"}

// The settings of every scenario at the paper's size. Names and sources are those of
// continual.Settings; INTERPRETATIONS.md explains what the paper leaves open.
var (
	gaussianPaper = []string{
		"steps=160", "turn=50", "n=2000", "test-n=2000", "evaluate=draw", "reading=listing", "data=auto", "images=0",
		"network=mlp", "hidden=32", "width=16", "checkpoint=committed", "start=pretrained", "batch-norm=batch",
		"rate=9e-4", "batch=128", "epochs=25", "max-updates=1000", "finetune-epochs=25",
		"method=method2", "g-network=mlp", "g-input=features", "g-hidden=32", "g-label=true", "g-time=onehot", "g-frequencies=8",
		"g-rate=3e-3", "g-updates=1000", "g-epochs=0", "g-batch=512", "window=1", "clip=min1", "stride=1", "first=1",
	}
	cifarPaper = []string{
		"turn=50", "n=200", "test-n=0", "evaluate=weighted", "reading=listing", "data=auto", "images=0",
		"network=head", "hidden=32", "width=64", "checkpoint=split", "start=pretrained", "batch-norm=batch",
		"rate=9e-4", "batch=128", "epochs=20", "max-updates=0", "finetune-epochs=20",
		"method=method2", "g-network=conv5", "g-input=pixels", "g-hidden=32", "g-label=true", "g-time=onehot", "g-frequencies=8",
		"g-rate=1e-4", "g-updates=1000", "g-epochs=200", "g-batch=512", "window=1", "clip=min1", "stride=1", "first=1",
	}
)

// What the smaller scales change: a narrow network with one committed checkpoint, a g
// on the trunk's features that learns in a second, fewer minibatches and steps.
var (
	cifarSmall = []string{
		"width=16", "checkpoint=committed", "test-n=2000", "max-updates=100",
		"g-network=mlp", "g-input=features", "g-hidden=64", "g-rate=3e-3", "g-updates=1000", "g-epochs=0",
	}
	cifarTiny = append(slices.Clone(cifarSmall),
		"data=sample", "images=1500", "n=100", "test-n=500", "max-updates=8", "g-updates=150", "g-hidden=32", "steps=30", "first=13")
)

var scenarioSettings = map[string]map[string][]string{
	"gaussian": {
		"paper": gaussianPaper,
		"small": append(slices.Clone(gaussianPaper), "stride=3"),
		"tiny":  append(slices.Clone(gaussianPaper), "n=300", "test-n=1000", "max-updates=300", "g-updates=300", "stride=31", "first=20"),
	},
	"cifar10a": {
		"paper": append(slices.Clone(cifarPaper), "steps=180"),
		"small": slices.Concat(cifarPaper, []string{"steps=180", "stride=17", "first=7"}, cifarSmall),
		"tiny":  slices.Concat(cifarPaper, cifarTiny, []string{"stride=13"}),
	},
	"cifar10b": {
		"paper": append(slices.Clone(cifarPaper), "steps=120"),
		"small": slices.Concat(cifarPaper, []string{"steps=120", "stride=11", "first=8"}, cifarSmall),
		"tiny":  slices.Concat(cifarPaper, cifarTiny, []string{"stride=13"}),
	},
}

// SettingsFor returns the settings of a scenario at a scale, with overrides of the
// form name=value on top.
func SettingsFor(scenario, scale string, overrides []string) (continual.Settings, error) {
	s := continual.Settings{Scenario: scenario}
	byScale, ok := scenarioSettings[scenario]
	if !ok {
		return s, fmt.Errorf("there is no scenario %q", scenario)
	}
	list, ok := byScale[scale]
	if !ok {
		return s, fmt.Errorf("there is no scale %q; did you mean %q? (%v)", scale, continual.Nearest(scale, Scales), Scales)
	}
	for _, o := range slices.Concat(list, overrides) {
		name, value, err := splitOverride(o)
		if err != nil {
			return s, err
		}
		if err := s.Set(name, value); err != nil {
			return s, err
		}
	}
	return s, s.Validate()
}
