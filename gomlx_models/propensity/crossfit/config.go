// Package crossfit computes weights for a table of the caller's own whose drift is not known. It chooses the settings
// of g by held-out loss, and tests for drift. It cross-fits an ensemble, so that no network gives a weight to a row
// that it was trained on.
//
//	g, err := crossfit.Fit(ctx, table, crossfit.DefaultConfig(), seed)
//	weights, err := g.WeightsOf(ctx, table, T, crossfit.WeightOptions{Kind: crossfit.Conditional})
//
// The loss is that of Algorithm 2 of the paper (Method 1). README.md of that package says what the
// kinds of weights are for.
package crossfit

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"tvps/gomlx_models/propensity"
)

// Kind is which ratio of densities a weight estimates, for a sample (x, y) seen at time t.
type Kind string

const (
	// Joint is p_T(x,y) / p_t(x,y).
	Joint Kind = "joint"
	// Covariate is p_T(x) / p_t(x). Without outcomes it equals Joint.
	Covariate Kind = "covariate"
	// Conditional is p_T(y|x) / p_t(y|x) = omega(x,y) / omega(x): the drift of y given x alone.
	Conditional Kind = "conditional"
)

// Kinds lists all kinds.
func Kinds() []Kind { return []Kind{Joint, Covariate, Conditional} }

// Candidate is one way to train g.
type Candidate struct {
	Hidden       int     // units of each of two hidden layers
	Updates      int     // largest number of minibatches
	LearningRate float64 // of Adam at the start; it falls to 0 as half a cosine over Updates
	// Decay is the decoupled weight decay (Loshchilov and Hutter 2019): an update also takes
	// rate * Decay of every weight; biases have none.
	Decay float64
}

// Config are the settings of Fit. DefaultConfig is a start that works.
type Config struct {
	Kinds      []Kind      // the kinds that WeightsOf will be asked for; Conditional needs two fits of g
	Candidates []Candidate // views are compared with the first
	Stride     int         // minibatches between two looks at the held-out loss
	Patience   int         // looks without improvement that end a training
	Batch      int         // samples per minibatch
	Folds      int         // K of cross-fitting, 2 to 16
	Ensemble   int         // seeds for each fold, 1 to 32; the spread of log omega needs 2
	// Permutations is the number of shuffles of the times in FindDrift.
	Permutations int
}

// DefaultConfig has two trainings with early stopping, an ensemble of three seeds in each of three folds, and 199
// shuffles. The settings were chosen by held-out loss on drifting Gaussians, weather, and hires of bicycles: at 150
// updates a rate of 1e-2 beat 3e-3 nearly everywhere; 1,500 updates gained nothing on 600. On the
// natural tables 32 units and minibatches of 128 lose as little as 64 and 512.
func DefaultConfig() Config {
	return Config{Kinds: Kinds(), Candidates: []Candidate{
		{Hidden: 32, Updates: 150, LearningRate: 1e-2, Decay: 1},
		{Hidden: 32, Updates: 600, LearningRate: 1e-2, Decay: .3},
	}, Stride: 30, Patience: 4, Batch: 128, Folds: 3, Ensemble: 3, Permutations: 199}
}

// ForTest is a fit of a second, for the tests of other packages: by one candidate with so many updates.
func ForTest(updates int) Config {
	c := DefaultConfig()
	c.Candidates, c.Folds, c.Ensemble, c.Permutations = c.Candidates[:1], 2, 1, 0
	c.Candidates[0].Updates = updates
	return c
}

// ErrFewRows is matched by the errors of Fit about too few rows, or too few different ones.
var ErrFewRows = errors.New("too few different rows")

// MaxPermutations is the largest number of permutations.
const MaxPermutations = 9999

const mostFolds, mostEnsemble = 16, 32 // folds are bits of a number, see askedFolds

// LeastRows is the least number of rows that Fit takes: two for each fold.
func (c Config) LeastRows() int { return 2 * c.Folds }

// Validate returns an error that names the first impossible setting.
func (c Config) Validate() error {
	err := cmp.Or(
		propensity.AtLeast("stride", c.Stride, 1),
		propensity.AtLeast("batch", c.Batch, 1),
		propensity.AtLeast("patience", c.Patience, 1),
		propensity.AtLeast("folds", c.Folds, 2),
		propensity.AtLeast("ensemble", c.Ensemble, 1),
		propensity.AtLeast("permutations", c.Permutations, 0),
		propensity.AtLeast("number of candidates", len(c.Candidates), 1),
		propensity.AtLeast("number of kinds", len(c.Kinds), 1),
	)
	for _, k := range c.Kinds {
		err = cmp.Or(err, propensity.OneOf("kind", k, Kinds()))
	}
	if c.Folds > mostFolds || c.Ensemble > mostEnsemble || c.Permutations > MaxPermutations {
		err = cmp.Or(err, fmt.Errorf("%d folds, an ensemble of %d and %d permutations; at most %d, %d and %d are possible",
			c.Folds, c.Ensemble, c.Permutations, mostFolds, mostEnsemble, MaxPermutations))
	}
	for _, g := range c.Candidates {
		err = cmp.Or(err, propensity.AtLeast("hidden", g.Hidden, 1))
		if err == nil && (!(g.LearningRate > 0) || math.IsInf(g.LearningRate, 0)) {
			err = fmt.Errorf("the learning rate is %v; it must be a positive number", g.LearningRate)
		}
		if err == nil && (g.Updates < 1 || !(g.Decay >= 0) || g.Decay*g.LearningRate >= 1) {
			err = fmt.Errorf("%d updates with a weight decay of %v; there must be 1 or more, with a decay of at least 0 "+
				"and below 1 times the learning rate", g.Updates, g.Decay)
		}
	}
	if err != nil {
		return fmt.Errorf("crossfit: %w", err)
	}
	return nil
}
