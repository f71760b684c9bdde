package supervised

import (
	"context"
	"fmt"

	"tvps/figures/looks"
	"tvps/gomlx_models/net"
	"tvps/gomlx_models/propensity"
	"tvps/replicate/runs"
)

// Learner is the declaration of one way to learn from a stream: how it trains, what it needs and how it looks in
// figures. To add one, write a file with
//
//	var _ = Declare(Learner{...})
type Learner struct {
	looks.Look // its name in figures, files and runs, and how it is drawn

	Phases []Phase                                  // what it trains at each step t, in this order
	Train  func(run *RunContext) (TrainFunc, error) // a training of its own instead of Phases
	Cost   float64                                  // of Train, in trainings on the samples of all steps

	Groups []string          // groups of settings that concern it alone, see Settings
	Method propensity.Method // of the g that it fits; empty if it fits none
	Needs  Need              // the kind of model that it can train

	StartsPretrained bool              // it starts from the pre-trained head whatever setting start says
	Of               string            // the learner that it is under a fixed setting; empty if it is one of its own
	Under            func(s *Settings) // fixes the setting
	Only             string            // the one measure that it is a series of; empty for a learner
}

// Phase is a training on the samples of some steps.
type Phase struct {
	Steps  func(t int) (first, last int) // both inclusive; none if last < first
	Epochs func(s Settings) int
	Weigh  Weigh // nil: weight 1
}

// Weigh returns omega(x_i, t, t_i) of every sample; what is learned for it is learned from the training samples of
// steps 0..t. Trainings do not call it at t = 0, where there is no past.
type Weigh func(ctx context.Context, run *RunContext, data Samples, t int) (Omega, error)

// Omega is the weights of samples.
type Omega struct {
	Log  []float64  // of each sample, without a clip
	Rows []runs.Row // what is reported of the fit at step t: the held-out loss of g
}

// TrainFunc returns the classifier's values after retraining on data up to t.
type TrainFunc func(ctx context.Context, t int) (net.Values, error)

// methodOfSettings makes a learner fit g by the method of the setting of that name.
const methodOfSettings propensity.Method = "settings"

// Need is a kind of model, named as the group of settings that concerns it alone.
type Need string

// The kinds of models that a learner can need.
const (
	anyModel       Need = ""
	pretrainedHead Need = "head"
	vectorModel    Need = "vector"
)

// Declare adds a learner to those that figures and the command line know, and returns it. Call it from a package's
// initialisation. It panics on a name that is empty or taken.
func Declare(l Learner) Learner {
	looks.Declare(l.Look)
	return learners.Add(l)
}

// Learners lists the names of all learners, sorted.
func Learners() []string {
	return learners.NamesOf(func(l Learner) bool { return l.Only == "" })
}

// resolve returns the learner that a declared series trains and the settings under which it does.
func resolve(series string, s Settings) (Learner, Settings) {
	l, _ := learners.Of(series)
	if l.Under != nil {
		l.Under(&s)
	}
	return l.base(), s
}

// base returns the learner that l is under a fixed setting, or l.
func (l Learner) base() Learner {
	if base, ok := learners.Of(l.Of); ok {
		return base
	}
	return l
}

// weighs tells whether the learner gives samples weights.
func (l Learner) weighs() bool { return len(l.Phases) > 0 && l.Phases[0].Weigh != nil }

// fits tells whether the learner fits a g.
func (l Learner) fits() bool { return l.Method != "" }

// check tells whether the learner can train under the settings.
func (l Learner) check(s Settings) error {
	switch {
	case l.Needs == anyModel || l.Needs == s.model():
		return nil
	case l.Needs == pretrainedHead:
		return fmt.Errorf("the learner %s needs a pre-trained network, and %s has none; choose other panels or series",
			l.Name, s.Scenario)
	}
	return fmt.Errorf("the learner %s trains vector models, and %s takes ResNet-18; choose other panels or series",
		l.Name, s.Scenario)
}
