package continual

import (
	"slices"

	"tvps/data/labelshift"
	"tvps/replicate/experiment"
)

// scenarios are the declared scenarios: first those of Section 3.1 and of the appendix.
var scenarios = []Scenario{
	{Name: "gaussian", Groups: ofGaussian, Networks: vectorModels, Batched: true,
		Check: checkGaussian, Open: openGaussian,
		Scales: experiment.ByScale{
			experiment.Paper: gaussianPaper,
			experiment.Small: slices.Concat(gaussianPaper, []string{"stride=3"}),
			experiment.Tiny:  slices.Concat(gaussianPaper, gaussianTiny, []string{"stride=31", "first=20"}),
		}},
	{Name: "periodic", Groups: ofGaussian, Networks: vectorModels, Batched: true,
		Check: checkGaussian, Open: openGaussian,
		Scales: experiment.ByScale{
			experiment.Paper: slices.Concat(gaussianPaper, periodic),
			experiment.Small: slices.Concat(gaussianPaper, periodic),
			experiment.Tiny:  slices.Concat(gaussianPaper, periodic, gaussianTiny),
		}},
	{Name: "cifar10a", Groups: ofLabelShift, Networks: imageModel, Shift: labelshift.CIFAR10a, Pretrained: true,
		Data: dataOfImages, Open: openImages,
		Scales: cifar("steps=180", "stride=17", "first=7")},
	{Name: "cifar10b", Groups: ofLabelShift, Networks: imageModel, Shift: labelshift.CIFAR10b, Pretrained: true,
		Data: dataOfImages, Open: openImages,
		Scales: cifar("steps=120", "stride=11", "first=8")},
	{Name: "cifar10c", Groups: ofLabelShift, Networks: imageModel, Shift: labelshift.CIFAR10c, Pretrained: true,
		Data: dataOfImages, Open: openImages,
		Scales: cifar("steps=300", "stride=29", "first=8")},
	{Name: "noshift", Groups: ofLabelShift, Networks: imageModel, Shift: labelshift.NoShift, Pretrained: true,
		Data: dataOfImages, Open: openImages,
		Scales: cifar("steps=180", "stride=17", "first=7")},
	{Name: "clear", Groups: ofClear, Networks: vectorModels, Shift: labelshift.CLEAR, Pretrained: true,
		Data: dataOfClear, Open: openClear,
		Scales: experiment.ByScale{
			experiment.Paper: clearPaper,
			experiment.Small: slices.Concat(clearPaper, clearSmall, []string{"stride=13", "first=8"}),
			experiment.Tiny:  slices.Concat(clearPaper, clearTiny),
		}},
}

var (
	ofGaussian   = []string{"gaussian"}
	ofLabelShift = []string{"shift"}
	ofClear      = []string{"shift", "clear"}
	vectorModels = []string{"linear", "mlp"}
	imageModel   = []string{"head"}
)

// The settings of every scenario at the paper's size. INTERPRETATIONS.md in replicate/paper explains what the paper
// leaves open.
var (
	common = []string{
		"turn=50", "period=0", "amplitude=0", "reading=listing", "data=auto", "features=auto", "images=0",
		"hidden=32", "start=pretrained", "block=basic", "batch-norm=batch", "rate=9e-4", "batch=128",
		"method=method2", "g-label=true", "g-join=first", "g-start=scratch", "g-time=onehot", "g-frequencies=8",
		"g-schedule=constant", "g-batch=512", "window=1", "clip=min1",
		"target=-1", "mmd-past=2000", "mmd-samples=held-out", "permutations=500", "stride=1", "first=1", "stack=1",
	}
	gaussianPaper = slices.Concat(common, []string{
		"steps=160", "n=2000", "test-n=2000", "evaluate=draw", "network=mlp", "width=16", "checkpoint=committed",
		"epochs=25", "max-updates=1000", "finetune-epochs=25",
		"g-network=mlp", "g-input=features", "g-hidden=32", "g-rate=1e-2", "g-updates=1000", "g-epochs=0", "stack=3",
	})
	periodic   = []string{"steps=100", "period=5", "amplitude=2"}
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

// What the smaller scales change: a narrow network with one committed checkpoint, a g on the trunk's features that
// trains in a second, fewer minibatches and steps.
var (
	gaussianTiny = []string{"n=300", "test-n=1000", "max-updates=300", "g-updates=300"}
	cifarSmall   = []string{
		"width=16", "checkpoint=committed", "test-n=2000", "max-updates=100",
		"g-network=mlp", "g-input=features", "g-hidden=64", "g-join=even",
		"g-rate=3e-3", "g-schedule=cosine", "g-updates=1000", "g-epochs=0",
	}
	cifarTiny = slices.Concat(cifarSmall, []string{
		"data=sample", "images=1500", "n=100", "test-n=500", "max-updates=8", "g-updates=150", "g-hidden=32",
		"steps=30", "first=13", "stride=13", "mmd-past=500", "permutations=100",
	})
	clearSmall = []string{"max-updates=1000", "g-rate=3e-3", "g-schedule=cosine", "g-epochs=0"}
	clearTiny  = slices.Concat(clearSmall, []string{
		"features=stand-in", "data=sample", "images=1500", "n=100", "max-updates=100", "g-updates=150", "g-hidden=32",
		"steps=60", "first=13", "stride=23",
	})
)

// cifar returns the scales of a label shift over CIFAR-10: its steps, and what the small scale takes of them.
func cifar(steps string, smallSteps ...string) experiment.ByScale {
	return experiment.ByScale{
		experiment.Paper: slices.Concat(cifarPaper, []string{steps}),
		experiment.Small: slices.Concat(cifarPaper, []string{steps}, smallSteps, cifarSmall),
		experiment.Tiny:  slices.Concat(cifarPaper, cifarTiny),
	}
}
