package supervised

import (
	"fmt"
	"maps"
	"slices"

	"tvps/data/streams"
	"tvps/gomlx_models/propensity"
	"tvps/replicate/experiment"
)

// Settings are all numbers and choices of one scenario. A scale sets them, --set overrides one by name, --show-config
// prints them with their source. The tag `set` is the name. The tag `doc` is the meaning with its source: a place in
// the paper, or the number of the interpretation (replicate/paper/INTERPRETATIONS.md).
//
// The tag `of` is the group: the part of the work that a setting can change. "stream" concerns every run. "gaussian",
// "shift" and "clear" concern the scenarios that name them. "classifier" concerns measures that train one, "vector"
// and "head" only that kind of model. "finetune", "omega" and "clip" concern the learners that name them, "score" and
// "mmd" those measures. "plan" changes no run: it says which steps are computed.
type Settings struct {
	Scenario  string  `set:"scenario" of:"stream" doc:"name of the stream (Sections 3.1.2, 3.1.3; Fig. 5, 14; Appendix D.1)"`
	Steps     int     `set:"steps" of:"stream" doc:"time steps of the stream (Gaussian: 160, Section 3.1.2; periodic: 100, Fig. 5; label shift: I9)"`
	N         int     `set:"n" of:"stream" doc:"training samples per step (Gaussian 2000; others 200, Table 2)"`
	TestN     int     `set:"test-n" of:"stream" doc:"test samples at t+1: Gaussian draws; label shift: test images used, 0 for all (I11)"`
	Turn      int     `set:"turn" of:"gaussian" doc:"Gaussian: first step at which the mean turns, 50 or 49, and then every 50 (I3)"`
	Period    int     `set:"period" of:"gaussian" doc:"Gaussian: period of a wave of the mean instead of the drift, in steps; 0 for the drift (I15)"`
	Amplitude float64 `set:"amplitude" of:"gaussian" doc:"Gaussian: amplitude of that wave (I15)"`
	Features  string  `set:"features" of:"clear" doc:"CLEAR: auto (published features if found, else the stand-in) or stand-in (features of CIFAR-10 test images) (I16)"`
	Data      string  `set:"data" of:"shift" doc:"images: auto (full CIFAR-10 if found, else the embedded sample) or sample"`
	Images    int     `set:"images" of:"shift" doc:"label shift: number of images to draw from (stand-in: of all images used), 0 for all of the split"`
	Reading   string  `set:"reading" of:"shift" doc:"label shift: listing (lambda = t/(T-1)) or equation (lambda = t/T, t from 1) (I9)"`
	Evaluate  string  `set:"evaluate" of:"shift" doc:"label shift: weighted (per-class accuracy weighted by q_{t+1}) or draw (I11)"`

	Network     string  `set:"network" of:"classifier" doc:"model: linear, mlp or head (the last block of ResNet-18 and its classifier) (I3, I10)"`
	Hidden      int     `set:"hidden" of:"vector" doc:"width of the mlp's two hidden layers (I3)"`
	Width       int     `set:"width" of:"head" doc:"channels of ResNet-18's first stage; 64 is the paper's (I10)"`
	Checkpoint  string  `set:"checkpoint" of:"head" doc:"pre-trained network: committed (split 0 for all seeds; from pretrain, except for width 16) or split (one per seed's split, from pretrain) (I10)"`
	Start       string  `set:"start" of:"head" doc:"head's initial weights at every step: pretrained or reinit (random) (I5)"`
	Block       string  `set:"block" of:"head" doc:"trained part of ResNet-18 below its classifier: basic (last basic block) or stage (last stage, two blocks) (I10)"`
	BatchNorm   string  `set:"batch-norm" of:"head" doc:"batch normalisation: batch (statistics of the batch) or frozen (averages of pre-training) (I6)"`
	Convolution string  `set:"convolution" of:"head" was:"direct" doc:"3x3 convolutions of the last block: direct, or winograd (Winograd's: 1.5 times as fast on a CPU, other last digits; needs block=basic) (I10)"`
	Rate        float64 `set:"rate" of:"classifier" doc:"learning rate of Adam (9e-4, Table 2)"`
	Batch       int     `set:"batch" of:"classifier" doc:"minibatch size (128, Table 2)"`
	Epochs      int     `set:"epochs" of:"classifier" doc:"epochs over the training data of a step (CIFAR-10 20, CLEAR 25, Table 2; Gaussian I3)"`
	MaxUpdates  int     `set:"max-updates" of:"classifier" doc:"limit of minibatches per training, 0 for none (I3, I10)"`

	FinetuneEpochs int `set:"finetune-epochs" of:"finetune" doc:"epochs over the latest step's data in Fine-tune (I7)"`

	Method      propensity.Method       `set:"method" of:"omega" doc:"parametrisation of g: method1 or method2 (Eq. 8, Eq. 10)"`
	GNetwork    propensity.Network      `set:"g-network" of:"omega" doc:"network of g: mlp, fc3, conv5 or deep (Table 2; I4)"`
	GInput      string                  `set:"g-input" of:"omega" doc:"input of g under label shift: features (the trunk's, pooled) or pixels (I4)"`
	GHidden     int                     `set:"g-hidden" of:"omega" doc:"width of g's hidden layers (I4)"`
	GLabel      bool                    `set:"g-label" of:"omega" doc:"label as an input of g (Appendix B: inputs are (x,y,t); I2)"`
	GJoin       propensity.Join         `set:"g-join" of:"omega" doc:"relative scale of x, label and time in the first layer's pre-activations: first (x as it is) or even (x divided by its dimensions) (I2, I16)"`
	GStart      string                  `set:"g-start" of:"omega" doc:"initial g at every step: scratch, or previous (a fit from scratch on the samples up to t-1) (I1)"`
	GTime       propensity.TimeEncoding `set:"g-time" of:"omega" doc:"time encoding of g: scalar, fourier, periods, embedding or onehot (I2)"`
	Frequencies int                     `set:"g-frequencies" of:"omega" doc:"number of frequencies of the time encodings fourier and periods (I2)"`
	GRate       float64                 `set:"g-rate" of:"omega" doc:"learning rate of g (1e-4, Table 2; I1)"`
	GSchedule   propensity.Schedule     `set:"g-schedule" of:"omega" was:"constant" doc:"learning rate of g over its updates: constant, or cosine (falls to 0 as half a cosine; I1)"`
	GUpdates    int                     `set:"g-updates" of:"omega" doc:"minibatches of g per step (M = 200, Table 2; I1)"`
	GEpochs     int                     `set:"g-epochs" of:"omega" doc:"epochs of g over the samples instead of g-updates, 0 for g-updates (M = 200, \"number of epochs\" in Algorithm 2; I1)"`
	GBatch      int                     `set:"g-batch" of:"omega" doc:"minibatch size of g (512, Table 2)"`
	Window      int                     `set:"window" of:"omega" doc:"standard score: number of last steps that count as current (I8)"`

	Clip propensity.ClipPolicy `set:"clip" of:"clip" doc:"clip of omega: min1, exp1 or none (omega clip 1, Table 2; I2)"`

	Target       int    `set:"target" of:"score" doc:"scores by time: target step T, -1 for the last (Fig. 3b, 5b, 6b)"`
	MMDPast      int    `set:"mmd-past" of:"mmd" doc:"MMD: samples of the past in one comparison, drawn from all earlier steps (I17)"`
	MMDSamples   string `set:"mmd-samples" of:"mmd" was:"fitted" doc:"MMD: compared images: held-out ones (of the test set) or those that g is fitted on (I17)"`
	Permutations int    `set:"permutations" of:"mmd" doc:"MMD: permutations of the two-sample test (I17)"`

	Stride int `set:"stride" of:"plan" doc:"stride: train every N-th step; choose N coprime to T (I12)"`
	First  int `set:"first" of:"plan" doc:"first step to train at"`
}

// rules returns which values the settings may take.
func rules() experiment.Rules {
	r := experiment.Rules{Choices: maps.Clone(choices), Minimum: minimum, Maximum: maximum}
	r.Choices["scenario"] = Scenarios()
	return r
}

// choices lists the values that a setting of text may take, except the scenario.
var choices = map[string][]string{
	"features":    {"auto", "stand-in"},
	"data":        {"auto", "sample"},
	"reading":     {"listing", "equation"},
	"evaluate":    {"weighted", "draw"},
	"network":     {"linear", "mlp", "head"},
	"checkpoint":  {"committed", "split"},
	"start":       {"pretrained", "reinit"},
	"block":       {"basic", "stage"},
	"batch-norm":  {"batch", "frozen"},
	"convolution": {"direct", winograd},
	"g-join":      propensity.Names(propensity.Joins()),
	"g-start":     {"scratch", "previous"},
	"method":      propensity.Names(propensity.TimeVaryingMethods()),
	"g-network":   propensity.Names(propensity.Networks()),
	"g-input":     {"features", "pixels"},
	"g-time":      propensity.Names(propensity.Encodings()),
	"g-schedule":  propensity.Names(propensity.Schedules()),
	"clip":        propensity.Names(propensity.Clips()),

	"mmd-samples": {heldOut, "fitted"},
}

// heldOut is the value of mmd-samples for images that g is not fitted on.
const heldOut = "held-out"

// winograd is the value of convolution for resnet.WinogradHead.
const winograd = "winograd"

// minimum is the least value of a number; every other one must be positive.
var minimum = map[string]int{"test-n": 0, "images": 0, "g-epochs": 0, "max-updates": 0, "finetune-epochs": 0,
	"g-updates": 0, "first": 0, "steps": 2, "period": 0, "amplitude": 0, "target": -1}

// maximum bounds what sizes arrays: of numbers that are multiplied with each other, more would not fit into memory.
var maximum = map[string]int{"batch": 1 << 16, "g-batch": 1 << 16, "hidden": 1 << 14, "g-hidden": 1 << 14,
	"width": 1 << 10, "g-frequencies": 1 << 12, "steps": 100_000, "n": 1_000_000, "test-n": 1_000_000,
	"mmd-past": 100_000, "permutations": 1_000_000}

// Validate checks every setting and those that must fit together.
func (s Settings) Validate() error {
	if err := rules().Check(s); err != nil {
		return err
	}
	if err := s.scenario().check(s); err != nil {
		return err
	}
	switch {
	case s.GNetwork == "conv5" && s.GInput != "pixels":
		return fmt.Errorf("setting g-network=conv5 needs g-input=pixels")
	case s.Convolution == winograd && s.Block != "basic":
		return fmt.Errorf("setting convolution=winograd needs block=basic: the first block of a stage has stride 2")
	case s.TestN < 1 && slices.Contains(s.scenario().Groups, "gaussian"):
		return fmt.Errorf("setting test-n=%d: the Gaussian is tested on new draws, so it must be at least 1", s.TestN)
	case (s.Period > 0) != (s.Amplitude > 0):
		return fmt.Errorf("settings period=%d amplitude=%g of scenario %s: a wave needs both above 0, a drift neither",
			s.Period, s.Amplitude, s.Scenario)
	case s.Turn > streams.PaperGaussian().Flip:
		return fmt.Errorf("setting turn=%d: the mean turns every %d steps, so it must be at most that",
			s.Turn, streams.PaperGaussian().Flip)
	case s.First >= s.Steps:
		return fmt.Errorf("setting first=%d is after the last of %d steps", s.First, s.Steps)
	case s.Steps*(s.N+s.TestN) > experiment.Largest:
		return fmt.Errorf("settings steps=%d n=%d test-n=%d: these are more than %d samples", s.Steps, s.N, s.TestN,
			experiment.Largest)
	case s.Target >= s.Steps:
		return fmt.Errorf("setting target=%d is after the last of %d steps", s.Target, s.Steps)
	}
	return s.propensity(0, propensity.Method2).Validate()
}

// model returns the kind of model, which is the group of settings that concerns it alone.
func (s Settings) model() Need {
	if s.Network == "head" {
		return pretrainedHead
	}
	return vectorModel
}

// layersOfDeep is the number of layers of the network deep (Table 1).
const layersOfDeep = 4

// propensity returns the configuration of g under these settings.
func (s Settings) propensity(classes int, method propensity.Method) propensity.Config {
	if !s.GLabel {
		classes = 0
	}
	return propensity.Config{
		Method: method, Network: s.GNetwork, Join: s.GJoin,
		Hidden: s.GHidden, Layers: layersOfDeep,
		Time: s.GTime, Frequencies: s.Frequencies, Classes: classes, Window: s.Window,
		LearningRate: s.GRate, Schedule: s.GSchedule,
		Updates: s.GUpdates, Epochs: s.GEpochs, Batch: s.GBatch, Clip: s.Clip,
	}
}
