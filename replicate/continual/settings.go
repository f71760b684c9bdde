package continual

import (
	"fmt"

	"tvps/data/gaussian"
	"tvps/gomlx_models/propensity"
	"tvps/replicate/settings"
)

// Settings are all numbers and choices of one scenario. A scale sets them, --set
// overrides one by name, --show-config prints them with their source. The tag `set`
// is the name, `doc` what it means with its source: a place in the paper, or the
// number of the interpretation (replicate/paper/INTERPRETATIONS.md). The tag `of`
// names the part of the work that a setting can change: "stream" concerns every run,
// "gaussian", "shift" and "clear" the scenarios of that kind, "classifier" whatever
// trains one, "vector" and "head" only that kind of model, "finetune", "omega" and
// "clip" the learners that use them, "score" and "mmd" these measures, "plan" none: it
// says which steps are run and how many seeds together, not what is learned.
type Settings struct {
	Scenario  string  `set:"scenario" of:"stream" doc:"which stream (Sections 3.1.2, 3.1.3; Fig. 5, 14; Appendix D.1)"`
	Steps     int     `set:"steps" of:"stream" doc:"time steps of the stream (Gaussian: 160, Section 3.1.2; periodic: 100, Fig. 5; label shift: I9)"`
	N         int     `set:"n" of:"stream" doc:"training samples a step (Gaussian 2000; others 200, Table 2)"`
	TestN     int     `set:"test-n" of:"stream" doc:"test samples at t+1: Gaussian draws; label shift: test images used, 0 for all (I11)"`
	Turn      int     `set:"turn" of:"gaussian" doc:"Gaussian: first step at which the mean turns, 50 or 49, and then every 50 (I3)"`
	Period    int     `set:"period" of:"gaussian" doc:"Gaussian: steps of a wave of the mean in place of the drift, 0 for the drift (I15)"`
	Amplitude float64 `set:"amplitude" of:"gaussian" doc:"Gaussian: height of that wave (I15)"`
	Features  string  `set:"features" of:"clear" doc:"CLEAR: auto (the published features if found, else the stand-in) or stand-in (features of CIFAR-10 test images) (I16)"`
	Data      string  `set:"data" of:"shift" doc:"images: auto (full CIFAR-10 if found, else the embedded sample) or sample"`
	Images    int     `set:"images" of:"shift" doc:"label shift: images that the stream draws from (stand-in: all images in use), 0 for all of the split"`
	Reading   string  `set:"reading" of:"shift" doc:"label shift: listing (lambda = t/(T-1)) or equation (t/T, t from 1) (I9)"`
	Evaluate  string  `set:"evaluate" of:"shift" doc:"label shift: weighted (per-class accuracy weighted by q_{t+1}) or draw (I11)"`

	Network    string  `set:"network" of:"classifier" doc:"linear, mlp, or head: the last block of ResNet-18 and its classifier (I3, I10)"`
	Hidden     int     `set:"hidden" of:"vector" doc:"width of the mlp's two hidden layers (I3)"`
	Width      int     `set:"width" of:"head" doc:"channels of the first stage of ResNet-18; 64 is the paper's (I10)"`
	Checkpoint string  `set:"checkpoint" of:"head" doc:"committed (split 0 for all seeds) or split (one for each seed's split, from pretrain) (I10)"`
	Start      string  `set:"start" of:"head" doc:"where the head starts at every step: pretrained or reinit (I5)"`
	Block      string  `set:"block" of:"head" doc:"what is trained of ResNet-18 besides its classifier: basic (the last basic block) or stage (the last stage, two of them) (I10)"`
	BatchNorm  string  `set:"batch-norm" of:"head" doc:"batch (statistics of the batch) or frozen (averages of pre-training) (I6)"`
	Rate       float64 `set:"rate" of:"classifier" doc:"learning rate of Adam (9e-4, Table 2)"`
	Batch      int     `set:"batch" of:"classifier" doc:"samples a minibatch (128, Table 2)"`
	Epochs     int     `set:"epochs" of:"classifier" doc:"passes over the training data of a step (CIFAR-10 20, CLEAR 25, Table 2; Gaussian I3)"`
	MaxUpdates int     `set:"max-updates" of:"classifier" doc:"limit of minibatches in one training, 0 for none (I3, I10)"`

	FinetuneEpochs int `set:"finetune-epochs" of:"finetune" doc:"passes over the latest step's data in Fine-tune (I7)"`

	Method      string  `set:"method" of:"omega" doc:"method1 or method2 (Eq. exp_family, Eq. deviations)"`
	GNetwork    string  `set:"g-network" of:"omega" doc:"mlp, fc3 or conv5 (Table 2; I4)"`
	GInput      string  `set:"g-input" of:"omega" doc:"label shift: features (pooled, of the trunk) or pixels (I4)"`
	GHidden     int     `set:"g-hidden" of:"omega" doc:"width of g's hidden layers (I4)"`
	GLabel      bool    `set:"g-label" of:"omega" doc:"whether g sees the label (Appendix B: inputs are (x,y,t); I2)"`
	GJoin       string  `set:"g-join" of:"omega" doc:"how loud x is beside label and time in the first sums of g: first (as it is) or even (divided by its dimensions) (I2, I16)"`
	GStart      string  `set:"g-start" of:"omega" doc:"where the fit of g starts at every step: scratch, or previous (what a fit from scratch reached on the samples up to t-1) (I1)"`
	GTime       string  `set:"g-time" of:"omega" doc:"scalar, fourier, embedding or onehot (I2)"`
	Frequencies int     `set:"g-frequencies" of:"omega" doc:"of the fourier encoding (I2)"`
	GRate       float64 `set:"g-rate" of:"omega" doc:"learning rate of g (1e-4, Table 2; I1)"`
	GUpdates    int     `set:"g-updates" of:"omega" doc:"minibatches of g at every step (M = 200, Table 2; I1)"`
	GEpochs     int     `set:"g-epochs" of:"omega" doc:"passes of g over the samples in place of g-updates, 0 for those (M = 200, \"number of epochs\" in Algorithm 2; I1)"`
	GBatch      int     `set:"g-batch" of:"omega" doc:"samples a minibatch of g (512, Table 2)"`
	Window      int     `set:"window" of:"omega" doc:"standard score: last steps that count as current (I8)"`

	Clip string `set:"clip" of:"clip" doc:"min1, exp1 or none (omega clip 1, Table 2; I2)"`

	Target       int `set:"target" of:"score" doc:"scores by time: the step T that they look back from, -1 for the last (Fig. 3b, 5b, 6b)"`
	MMDPast      int `set:"mmd-past" of:"mmd" doc:"MMD: samples of the past in one comparison, drawn from all of it (I17)"`
	Permutations int `set:"permutations" of:"mmd" doc:"MMD: permutations of the two-sample test (I17)"`

	Stride int `set:"stride" of:"plan" doc:"every how many steps models are trained; choose one coprime to T (I12)"`
	First  int `set:"first" of:"plan" doc:"first step at which models are trained"`
	Stack  int `set:"stack" of:"plan" doc:"Gaussian: seeds whose classifiers train in one compiled program; rounding depends on it"`
}

// rules say which values the settings may take.
var rules = settings.Rules{Choices: choices, Minimum: minimum}

// choices lists the values that a setting of text may take.
var choices = map[string][]string{
	"scenario":   Scenarios(),
	"features":   {"auto", "stand-in"},
	"data":       {"auto", "sample"},
	"reading":    {"listing", "equation"},
	"evaluate":   {"weighted", "draw"},
	"network":    {"linear", "mlp", "head"},
	"checkpoint": {"committed", "split"},
	"start":      {"pretrained", "reinit"},
	"block":      {"basic", "stage"},
	"batch-norm": {"batch", "frozen"},
	"g-join":     {"first", "even"},
	"g-start":    {"scratch", "previous"},
	"method":     {"method1", "method2"},
	"g-network":  {"mlp", "fc3", "conv5"},
	"g-input":    {"features", "pixels"},
	"g-time":     {"scalar", "fourier", "embedding", "onehot"},
	"clip":       {"min1", "exp1", "none"},
}

// minimum is the least value of a whole number; every other one must be positive.
var minimum = map[string]int{"test-n": 0, "images": 0, "g-epochs": 0, "max-updates": 0, "finetune-epochs": 0, "g-updates": 0, "first": 0, "steps": 2,
	"period": 0, "amplitude": 0, "target": -1}

// Fields lists the settings in their order.
func (s Settings) Fields() []settings.Field { return settings.Fields(s) }

// Set overrides one setting by name. Errors name the setting, the valid values and,
// for an unknown name, the nearest one.
func (s *Settings) Set(name, value string) error { return rules.Set(s, name, value) }

// Validate checks every setting and those that must fit together.
func (s Settings) Validate() error {
	if err := rules.Check(s); err != nil {
		return err
	}
	if err := s.checkNetwork(); err != nil {
		return err
	}
	if s.GNetwork == "conv5" && s.GInput != "pixels" {
		return fmt.Errorf("setting g-network=conv5 needs g-input=pixels")
	}
	if _, ok := s.shift(); !ok && s.TestN < 1 {
		return fmt.Errorf("setting test-n=%d: the Gaussian is tested on new draws, so it must be at least 1", s.TestN)
	}
	if s.Turn > gaussian.Paper().Flip {
		return fmt.Errorf("setting turn=%d: the mean turns every %d steps, so it must be at most that", s.Turn, gaussian.Paper().Flip)
	}
	if s.First >= s.Steps {
		return fmt.Errorf("setting first=%d lies behind the last of %d steps", s.First, s.Steps)
	}
	if s.Target >= s.Steps {
		return fmt.Errorf("setting target=%d lies behind the last of %d steps", s.Target, s.Steps)
	}
	return s.propensity(0, propensity.Method2).Validate()
}

// modelPart is the group of settings that concerns the kind of model alone.
func (s Settings) modelPart() string {
	if s.Network == "head" {
		return "head"
	}
	return "vector"
}

// of returns the settings of some groups, as text.
func (s Settings) of(groups ...string) map[string]string { return settings.Of(s, groups...) }

// propensity is the configuration of g under these settings.
func (s Settings) propensity(classes int, method propensity.Method) propensity.Config {
	if !s.GLabel {
		classes = 0
	}
	return propensity.Config{Method: method, Network: propensity.Network(s.GNetwork), Join: propensity.Join(s.GJoin), Hidden: s.GHidden,
		Time: propensity.TimeEncoding(s.GTime), Frequencies: s.Frequencies, Classes: classes, Window: s.Window,
		LearningRate: s.GRate, Updates: s.GUpdates, Epochs: s.GEpochs, Batch: s.GBatch, Clip: propensity.ClipPolicy(s.Clip)}
}

// PlannedSteps are the steps t at which models are trained, tested on t + 1.
func (s Settings) PlannedSteps() []int {
	var out []int
	for t := s.First; t < s.Steps; t += s.Stride {
		out = append(out, t)
	}
	return out
}
