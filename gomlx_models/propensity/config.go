package propensity

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Method is the estimator of Section 2.2 of the paper.
type Method string

const (
	// Method1 models p_t(x) = p_0(x) exp(g(x,t)) (Eq. exp_family) and classifies by
	// g(x,t2) - g(x,t1) (Algorithm 2, line 8).
	Method1 Method = "method1"
	// Method2 models p_t(x) = p(x) exp(g(x,t)) (Eq. deviations) and classifies by
	// g(x,t2). The paper used it in all its experiments.
	Method2 Method = "method2"
	// Standard is the standard propensity score of Section 2: recent samples against
	// older ones, with no time in g.
	Standard Method = "standard"
)

// Network is the shape of g.
type Network string

const (
	// MLP has two hidden layers with ReLU.
	MLP Network = "mlp"
	// FC3 has three fully connected layers with ReLU and batch normalisation (the
	// paper's g for CLEAR).
	FC3 Network = "fc3"
	// Conv5 has five convolutions and one linear layer (the paper's g for CIFAR-10);
	// samples are images of [height, width, channels].
	Conv5 Network = "conv5"
)

// TimeEncoding is how t enters g. It always joins before the first nonlinearity:
// added later, g would be a(x) + c(t), and omega the same for all samples.
type TimeEncoding string

const (
	// TimeScalar is t scaled to [-1, 1] over the fitted times. It learns slowly.
	TimeScalar TimeEncoding = "scalar"
	// TimeFourier is sin and cos of Frequencies multiples of the fitted time span.
	TimeFourier TimeEncoding = "fourier"
	// TimeEmbedding is a learned vector for each time, mapped linearly to the first layer.
	TimeEmbedding TimeEncoding = "embedding"
	// TimeOneHot is a learned vector for each time, added to the first layer's sum.
	TimeOneHot TimeEncoding = "onehot"
)

// Join is how loud x is beside label and time where they meet, in the sums of the
// first layer. Adam moves every weight by about its rate, so in one update a sum moves
// by the rate times the sum of the inputs' sizes: 1 for a label, but about .8 dims for
// a standardised x. In 2048 dimensions g then learns single samples by heart, or its
// sums run away, before it hears the label.
type Join string

const (
	// JoinFirst takes x as it is, with the initial weights of He et al. It is right for
	// few dimensions and for images.
	JoinFirst Join = "first"
	// JoinEven divides x by its number of dimensions and starts its weights at N(0, 1),
	// as those of label and time: every input moves the sums alike. It equals a rate for
	// the weights of x that is smaller by the number of dimensions, as the maximal update
	// parametrisation has it for Adam (Yang et al. 2022, Tensor Programs V). It is for
	// vectors of a hundred dimensions or more; a drift of x within its class is learned
	// more slowly.
	JoinEven Join = "even"
)

// ClipPolicy limits the weights.
type ClipPolicy string

const (
	// ClipOne is min(omega, 1): the literal reading of "omega clip 1".
	ClipOne ClipPolicy = "min1"
	// ClipExponent lets the exponent reach 1, so omega <= e: the reading of the
	// closest public code of the same authors.
	ClipExponent ClipPolicy = "exp1"
	// ClipNone applies no limit (but e^60, so that sums in float32 stay finite).
	ClipNone ClipPolicy = "none"
)

var exponentLimit = map[ClipPolicy]float64{ClipOne: 0, ClipExponent: 1, ClipNone: 60}

// Limit is the largest log omega under the clip.
func (c ClipPolicy) Limit() float64 { return exponentLimit[c] }

// Omega turns log omega into a weight under the clip.
func (c ClipPolicy) Omega(logOmega float64) float64 { return math.Exp(min(logOmega, c.Limit())) }

// Config holds every setting of an estimator.
type Config struct {
	Method       Method       // Method2 unless set
	Network      Network      // MLP unless set
	Hidden       int          // width of the hidden layers; channels of the first convolution
	Time         TimeEncoding // how t enters
	Frequencies  int          // of the Fourier encoding
	Join         Join         // how loud x is beside label and time; "" is JoinFirst
	Classes      int          // number of labels that g sees; 0 if it sees none
	Window       int          // Standard: how many of the last times count as current
	LearningRate float64      // of Adam
	Updates      int          // minibatches
	Epochs       int          // if positive, passes over the samples, in place of Updates
	Batch        int          // samples a minibatch
	Clip         ClipPolicy   // limit of the weights
}

// DefaultConfig is a g that learns: Method 2 on an MLP of 64 units, one-hot time,
// Adam at 3e-3 for 1000 minibatches of 512. (The paper's table says rate 1e-4 and
// "number of updates 200", which read as minibatches teaches g nothing.)
func DefaultConfig() Config {
	return Config{Method: Method2, Network: MLP, Hidden: 64, Time: TimeOneHot, Frequencies: 8, Join: JoinFirst, Window: 1,
		LearningRate: 3e-3, Updates: 1000, Batch: 512, Clip: ClipOne}
}

// updates is the number of minibatches for n samples: Algorithm 2 calls M the number
// of epochs, the paper's table calls it the number of updates.
func (c Config) updates(n int) int {
	if c.Epochs > 0 {
		return (c.Epochs*n + c.Batch - 1) / c.Batch
	}
	return c.Updates
}

func oneOf[T ~string](what string, value T, valid ...T) error {
	if slices.Contains(valid, value) {
		return nil
	}
	names := make([]string, len(valid))
	for i, v := range valid {
		names[i] = string(v)
	}
	return fmt.Errorf("propensity: %s %q is not one of %s", what, value, strings.Join(names, ", "))
}

// Validate says which setting is impossible.
func (c Config) Validate() error {
	for _, err := range []error{
		oneOf("method", c.Method, Method1, Method2, Standard),
		oneOf("network", c.Network, MLP, FC3, Conv5),
		oneOf("time encoding", c.Time, TimeScalar, TimeFourier, TimeEmbedding, TimeOneHot),
		oneOf("join", cmp.Or(c.Join, JoinFirst), JoinFirst, JoinEven),
		oneOf("clip", c.Clip, ClipOne, ClipExponent, ClipNone),
	} {
		if err != nil {
			return err
		}
	}
	if c.Network == Conv5 && c.Join == JoinEven {
		return fmt.Errorf("propensity: join even is for vectors; use join first with network conv5")
	}
	for _, s := range []struct {
		name       string
		value, min int
	}{{"hidden", c.Hidden, 1}, {"updates", c.Updates, 0}, {"epochs", c.Epochs, 0}, {"batch", c.Batch, 1}, {"classes", c.Classes, 0},
		{"frequencies", c.Frequencies, map[bool]int{true: 1}[c.Time == TimeFourier]}, {"window", c.Window, map[bool]int{true: 1}[c.Method == Standard]}} {
		if s.value < s.min {
			return fmt.Errorf("propensity: %s is %d; it must be at least %d", s.name, s.value, s.min)
		}
	}
	if !(c.LearningRate > 0) || math.IsInf(c.LearningRate, 0) {
		return fmt.Errorf("propensity: the learning rate is %v; it must be a positive number", c.LearningRate)
	}
	return nil
}
