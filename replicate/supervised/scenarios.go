package supervised

import (
	"tvps/data/streams"
	"tvps/gomlx_models/propensity"
	"tvps/replicate/experiment"
)

// scenarios are the declared scenarios.
var scenarios = experiment.Register[Scenario]{Kind: "supervised: the scenario",
	Name: func(c Scenario) string { return c.Name }, Entries: builtIn}

// builtIn are those of Section 3.1 and of the appendix.
var builtIn = []Scenario{
	{Name: "gaussian", Groups: []string{"gaussian"}, Networks: vectorModels,
		Open: openGaussian,
		Scales: experiment.ByScale[Settings]{
			experiment.Paper: gaussianPaper,
			experiment.Small: gaussianPaper.with(stride(3, 1)),
			experiment.Tiny:  gaussianPaper.with(gaussianTiny, stride(31, 20)),
		}},
	{Name: "periodic", Groups: []string{"gaussian"}, Networks: vectorModels,
		Open: openGaussian,
		Scales: experiment.ByScale[Settings]{
			experiment.Paper: periodicPaper,
			experiment.Small: periodicPaper,
			experiment.Tiny:  periodicPaper.with(gaussianTiny),
		}},
	overImages("cifar10a", streams.CIFAR10a, 180, stride(17, 7)),
	overImages("cifar10b", streams.CIFAR10b, 120, stride(11, 8)),
	overImages("cifar10c", streams.CIFAR10c, 300, stride(29, 8)),
	overImages("noshift", streams.NoShift, 180, stride(17, 7)),
	{Name: "clear", Groups: []string{"shift", "clear"}, Networks: vectorModels, Shift: streams.CLEAR, Pretrained: true,
		Data: dataOfClear, Open: openClear,
		Scales: experiment.ByScale[Settings]{
			experiment.Paper: clearPaper,
			experiment.Small: clearPaper.with(clearSmall, stride(13, 8)),
			experiment.Tiny:  clearPaper.with(clearSmall, clearTiny),
		}},
}

// vectorModels are the networks that learn from vectors.
var vectorModels = []string{"linear", "mlp"}

// overImages is a label shift over CIFAR-10 of so many steps, of which the smaller scales take few.
func overImages(name string, shift streams.LabelShift, steps int, few func(s *Settings)) Scenario {
	paper := cifarPaper
	paper.Steps = steps
	return Scenario{
		Name: name, Groups: []string{"shift"}, Networks: []string{"head"}, Shift: shift, Pretrained: true,
		Data: dataOfImages, Open: openImages,
		Scales: experiment.ByScale[Settings]{
			experiment.Paper:  paper,
			experiment.Medium: paper.with(few, cifarSmall, cifarMedium),
			experiment.Small:  paper.with(few, cifarSmall),
			experiment.Tiny:   paper.with(cifarSmall, cifarTiny),
		},
	}
}

// The settings of every scenario at the paper's size. INTERPRETATIONS.md in replicate/paper explains what the paper
// leaves open.
var (
	gaussianPaper = Settings{
		Steps: 160, N: 2000, TestN: 2000,
		Turn: 50, Period: 0, Amplitude: 0,
		Features: "auto", Data: "auto", Images: 0, Reading: "listing", Evaluate: "draw",
		Network: "mlp", Hidden: 32, Width: 16, Checkpoint: "committed", Start: "pretrained", Block: "basic",
		BatchNorm: "batch", Convolution: "direct", Rate: 9e-4, Batch: 128, Epochs: 25, MaxUpdates: 1000,
		FinetuneEpochs: 25,
		Method:         propensity.Method2, GNetwork: propensity.MLP, GInput: "features", GHidden: 32,
		GLabel: true, GJoin: propensity.JoinFirst, GStart: "scratch", GTime: propensity.TimeOneHot,
		Frequencies: 8, GRate: 1e-2, GSchedule: propensity.ScheduleConstant, GUpdates: 1000, GEpochs: 0,
		GBatch: 512, Window: 1,
		Clip:   propensity.ClipOne,
		Target: -1, MMDPast: 2000, MMDSamples: heldOut, Permutations: 500,
		Stride: 1, First: 1,
	}
	periodicPaper = gaussianPaper.with(func(s *Settings) { s.Steps, s.Period, s.Amplitude = 100, 5, 2 })
	cifarPaper    = gaussianPaper.with(func(s *Settings) {
		s.N, s.TestN, s.Evaluate = 200, 0, "weighted"
		s.Network, s.Width, s.Checkpoint = "head", 64, "split"
		s.Epochs, s.MaxUpdates, s.FinetuneEpochs = 20, 0, 20
		s.GNetwork, s.GInput = propensity.Conv5, "pixels"
		s.GRate, s.GEpochs = 1e-4, 200
	})
	clearPaper = gaussianPaper.with(func(s *Settings) {
		s.Steps, s.N, s.TestN, s.Evaluate = 500, 200, 0, "weighted"
		s.Network, s.MaxUpdates = "linear", 0
		s.GNetwork, s.GJoin, s.GHidden = propensity.FC3, propensity.JoinEven, 64
		s.GRate, s.GEpochs = 1e-4, 200
	})
)

// with returns changed settings.
func (s Settings) with(changes ...func(s *Settings)) Settings {
	for _, change := range changes {
		change(&s)
	}
	return s
}

func stride(n, first int) func(s *Settings) {
	return func(s *Settings) { s.Stride, s.First = n, first }
}

// What the smaller scales change: a narrow network with one committed checkpoint, a g on the trunk's features that
// trains in a second, fewer minibatches and steps.

func gaussianTiny(s *Settings) { s.N, s.TestN, s.MaxUpdates, s.GUpdates = 300, 1000, 300, 300 }

func cifarSmall(s *Settings) {
	s.Width, s.Checkpoint, s.TestN, s.MaxUpdates = 16, "committed", 2000, 100
	s.GNetwork, s.GInput, s.GHidden, s.GJoin = propensity.MLP, "features", 64, propensity.JoinEven
	s.GRate, s.GSchedule, s.GEpochs = 3e-3, propensity.ScheduleCosine, 0
}

// cifarMedium trains as long as the paper (Table 2), each seed from a checkpoint of its own. It was declared before any
// of its runs (figures/gallery/archive/images-declared.md).
func cifarMedium(s *Settings) { s.MaxUpdates, s.Checkpoint, s.Convolution = 0, "split", winograd }

func cifarTiny(s *Settings) {
	s.Data, s.Images, s.N, s.TestN = "sample", 1500, 100, 500
	s.MaxUpdates, s.GUpdates, s.GHidden = 8, 150, 32
	s.Steps, s.First, s.Stride = 30, 13, 13
	s.MMDPast, s.Permutations = 500, 100
}

func clearSmall(s *Settings) {
	s.MaxUpdates = 1000
	s.GRate, s.GSchedule, s.GEpochs = 3e-3, propensity.ScheduleCosine, 0
}

func clearTiny(s *Settings) {
	s.Features, s.Data, s.Images, s.N = "stand-in", "sample", 1500, 100
	s.MaxUpdates, s.GUpdates, s.GHidden = 100, 150, 32
	s.Steps, s.First, s.Stride = 60, 13, 23
}
