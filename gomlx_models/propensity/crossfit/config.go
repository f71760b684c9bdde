// Package crossfit computes weights for a table of the caller's own whose drift is not known. It chooses the settings
// of g by held-out loss, and tests for drift. It cross-fits an ensemble, so that no network gives a weight to a row
// that it was trained on.
//
//	fitter := crossfit.NewFitter(backend)
//	g, err := fitter.Fit(ctx, table.Until(T), crossfit.DefaultConfig(), seed)
//	weights, err := g.Weights(ctx, T, crossfit.WeightOptions{Kind: crossfit.Conditional})
//
// g and its loss are those of package propensity (Algorithm 2 of the paper). README.md of that package says what the
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

// Candidate is one setting of g's training. Fitter.Fit takes the one with the lowest held-out loss.
type Candidate struct {
	Hidden       int     // units of each of two hidden layers
	Frequencies  int     // pairs of sine and cosine of the time
	Updates      int     // largest number of minibatches
	LearningRate float64 // of Adam at the start; it falls to 0 as half a cosine over Updates
	// Decay is the decoupled weight decay (Loshchilov and Hutter 2019): an update also takes
	// rate * Decay of every weight; biases have none.
	Decay float64
}

// Config are the settings of Fitter.Fit. DefaultConfig is a start that works.
type Config struct {
	Method     propensity.Method       // Method1 or Method2
	Network    propensity.Network      `json:",omitempty"` // one of propensity.BatchedNetworks(); "" means Trend
	Time       propensity.TimeEncoding // TimeFourier or TimeScalar
	Kinds      []Kind                  // the kinds that Weights will be asked for; Conditional needs two fits of g
	Candidates []Candidate             // the grid
	Stride     int                     // minibatches between two looks at the held-out loss
	Patience   int                     // looks without improvement that end a training
	Batch      int                     // samples per minibatch
	Folds      int                     // K of cross-fitting, 2 to 16
	Ensemble   int                     // seeds for each fold, 1 to 32; the spread of log omega needs 2
	// Permutations is the number of trainings with shuffled times, and with redrawn outcomes, of Fitter.Drift.
	Permutations int
}

// DefaultConfig is Method 1 with Fourier time, four candidates with early stopping, an ensemble of
// three seeds in each of three folds, and a permutation null of 19. The candidates were chosen
// by held-out loss on drifting Gaussians, 16 and 49 years of weather and two years of bicycle
// hire: at 150 updates a rate of 1e-2 beat 3e-3 nearly everywhere, and 64 units mostly beat 32
// and 16. On bicycles and Gaussians 1,500 updates gained nothing on 600, and a decay of 5 was too
// much. Whether 8 or 2 frequencies, 150 or 600 updates and which decay from .01 to 1 are best
// depends on the data; the .3 lies between the two that were tried.
func DefaultConfig() Config {
	return Config{Method: propensity.Method1, Time: propensity.TimeFourier, Kinds: Kinds(),
		Candidates: []Candidate{
			{Hidden: 64, Frequencies: 8, Updates: 600, LearningRate: 1e-2, Decay: .3},
			{Hidden: 64, Frequencies: 8, Updates: 150, LearningRate: 1e-2, Decay: 1},
			{Hidden: 64, Frequencies: 2, Updates: 150, LearningRate: 1e-2, Decay: 1},
			{Hidden: 64, Frequencies: 2, Updates: 150, LearningRate: 1e-2, Decay: .1},
		},
		Stride: 30, Patience: 4, Batch: 512, Folds: 3, Ensemble: 3, Permutations: 19}
}

// ErrFewRows is matched by the errors of Fitter.Fit about too few rows, or too few different ones.
var ErrFewRows = errors.New("too few different rows")

// MaxPermutations is the largest number of permutations.
const MaxPermutations = 199

// LeastRows is the least number of rows that Fitter.Fit takes: two for each fold.
func (c Config) LeastRows() int { return 2 * c.Folds }

// Validate returns an error that names the first impossible setting.
func (c Config) Validate() error {
	err := cmp.Or(
		propensity.OneOf("time encoding", c.Time, []propensity.TimeEncoding{propensity.TimeFourier, propensity.TimeScalar}),
		propensity.OneOf("method", c.Method, propensity.TimeVaryingMethods()),
		propensity.AtLeast("stride", c.Stride, 1),
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
	if c.Folds > math.MaxUint8 || c.Permutations > MaxPermutations {
		err = cmp.Or(err, fmt.Errorf("%d folds and %d permutations; at most %d and %d are possible", c.Folds,
			c.Permutations, math.MaxUint8, MaxPermutations))
	}
	for _, g := range c.Candidates {
		if err == nil {
			training := c.g(g)
			training.Updates, training.LearningRate, training.Batch = g.Updates, g.LearningRate, c.Batch
			err = cmp.Or(training.ValidateBatched(), training.Validate())
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

// g holds the settings of a candidate's network, without those of its training; no labels.
func (c Config) g(of Candidate) propensity.Config {
	return propensity.Config{Method: c.Method, Network: c.network(), Hidden: of.Hidden, Layers: layers, Time: c.Time,
		Frequencies: of.Frequencies, Clip: propensity.ClipOne}
}

// layers is the number of layers of the network deep.
const layers = 4

func (c Config) network() propensity.Network { return cmp.Or(c.Network, propensity.Trend) }
