package propensity

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Method is what g models and how it is trained (Section 2.2 of the paper).
type Method string

const (
	// Method1 models p_t(x) = p_0(x) exp(g(x,t)) (Eq. 8). Its classifier's logit is
	// g(x,t2) - g(x,t1) (Algorithm 2, line 8).
	Method1 Method = "method1"
	// Method2 models p_t(x) = p(x) exp(g(x,t)), deviations from the marginal p(x) (Eq. 10).
	// Its logit is g(x,t2) (appendix). The paper used it in all its experiments.
	Method2 Method = "method2"
	// Standard is the standard propensity score of Section 2: recent samples against older
	// ones, with no time in g.
	Standard Method = "standard"
)

// Join sets the relative scale of x, label and time in the first layer's pre-activations.
// Adam moves every weight by about its learning rate, so one update moves a pre-activation
// by the rate times the sum of the inputs' absolute values: 1 for a label, about .8 dims
// for a standardised x. In 2048 dimensions g then memorises single samples, or its
// pre-activations diverge, before it learns from the label.
type Join string

const (
	// JoinFirst leaves x as it is, with the initial weights of He et al. It is for few
	// dimensions and for images.
	JoinFirst Join = "first"
	// JoinEven divides x by its number of dimensions and draws its initial weights from
	// N(0, 1), as those of label and time. One update then moves the pre-activations by
	// about as much through x as through the label. That equals a learning rate for x that
	// is smaller by the number of dimensions, as in the maximal update parametrisation for
	// Adam (Yang et al. 2022, Tensor Programs V). It is for vectors of a hundred dimensions
	// or more. g learns a drift of x within its class more slowly.
	JoinEven Join = "even"
)

// Columns is how g sees the columns of x that a Pool is made of.
type Columns string

const (
	// ColumnsScores gives g the normal scores of the pool's columns, so that a few very large values do not hide the
	// others (Scores). It is for vectors.
	ColumnsScores Columns = "scores"
	// ColumnsScaled subtracts the mean, and divides by the standard deviation. It is for images, and for columns whose
	// unit means the same everywhere, such as features of deep networks.
	ColumnsScaled Columns = "scaled"
)

// Schedule is how Adam's learning rate changes during a fit.
type Schedule string

const (
	ScheduleConstant Schedule = "constant"
	// ScheduleCosine multiplies the rate of update i of n, from 0, by (1 + cos(pi i/n)) / 2.
	ScheduleCosine Schedule = "cosine"
)

// Factor multiplies the learning rate of update i (from 0) of n.
func (s Schedule) Factor(i, n int) float64 {
	if s != ScheduleCosine {
		return 1
	}
	return (1 + math.Cos(math.Pi*float64(i)/float64(n))) / 2
}

// Config holds every setting of g and its training. DefaultConfig is a start that works.
type Config struct {
	Method       Method       // what g models
	Network      Network      // g's architecture
	Hidden       int          // units of each hidden layer; Conv5: channels of the first convolution
	Layers       int          // Deep: fully connected layers, including the output layer
	Time         TimeEncoding // how t enters g
	Frequencies  int          // number of sine and cosine pairs, for encodings that have them
	Columns      Columns      // how Fit shows x to g; "" means ColumnsScaled
	Join         Join         // relative scale of x, label and time; "" means JoinFirst
	Classes      int          // number of labels that g sees; 0: g sees no label
	Window       int          // Standard: number of last times that count as current
	LearningRate float64      // of Adam
	Schedule     Schedule     // of the learning rate; "" means ScheduleConstant
	Updates      int          // minibatches
	Epochs       int          // if positive: passes over the samples, instead of Updates
	Batch        int          // samples per minibatch
	Clip         ClipPolicy   // limit of omega
}

// DefaultConfig is a g that learns: Method 2 on an MLP of 64 units, one-hot time, normal scores of x,
// Adam at 3e-3 for 1000 minibatches of 512. (The paper's table says rate 1e-4 and
// "number of updates 200"; read as minibatches, g learns almost nothing from that.)
func DefaultConfig() Config {
	return Config{Method: Method2, Network: MLP, Hidden: 64, Layers: 4, Time: TimeOneHot, Frequencies: 8,
		Columns: ColumnsScores, Join: JoinFirst, Window: 1, LearningRate: 3e-3, Updates: 1000, Batch: 512, Clip: ClipOne}
}

// updates is the number of minibatches for n samples: Algorithm 2 calls M the number
// of epochs, the paper's table calls it the number of updates.
func (c Config) updates(n int) int {
	if c.Epochs > 0 {
		return (c.Epochs*n + c.Batch - 1) / c.Batch
	}
	return c.Updates
}

// Methods lists all methods.
func Methods() []Method { return append(TimeVaryingMethods(), Standard) }

// TimeVaryingMethods lists the methods whose g depends on the time: the paper's two.
func TimeVaryingMethods() []Method { return []Method{Method1, Method2} }

// AllColumns lists all ways to see columns.
func AllColumns() []Columns { return []Columns{ColumnsScores, ColumnsScaled} }

// Joins lists all joins.
func Joins() []Join { return []Join{JoinFirst, JoinEven} }

// Schedules lists all schedules.
func Schedules() []Schedule { return []Schedule{ScheduleConstant, ScheduleCosine} }

// Names returns a list of methods, networks, encodings, columns, joins, schedules or clips as plain strings.
func Names[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = string(v)
	}
	return out
}

// Validate returns an error that names the first impossible setting. No setting but Columns, Join
// and Schedule may be empty.
func (c Config) Validate() error {
	err := c.validateScore(Methods(), Networks(), Encodings())
	if err == nil {
		err = c.validateTraining()
	}
	if err != nil {
		return fmt.Errorf("propensity: %w", err)
	}
	return nil
}

// ValidateBatched is Validate for G, Loss and LogOmega in a graph of the caller's own, with
// batched seeds and continuous times: the method must be time-varying, the network one of
// BatchedNetworks, the encoding one of ContinuousEncodings. It leaves the settings of the
// training to the caller. Its sentences start with the setting's name ("layers is 1; ..."),
// so that the caller can say whose setting it is.
func (c Config) ValidateBatched() error {
	return c.validateScore(TimeVaryingMethods(), BatchedNetworks(), ContinuousEncodings())
}

// validateScore checks what G, Loss and LogOmega read.
func (c Config) validateScore(methods []Method, networks []Network, encodings []TimeEncoding) error {
	if err := cmp.Or(
		OneOf("method", c.Method, methods),
		OneOf("network", c.Network, networks),
		OneOf("time encoding", c.Time, encodings),
		OneOf("columns", cmp.Or(c.Columns, ColumnsScaled), AllColumns()),
		OneOf("join", cmp.Or(c.Join, JoinFirst), Joins()),
		OneOf("clip", c.Clip, Clips()),
		AtLeast("hidden", c.Hidden, 1),
		AtLeast("classes", c.Classes, 0),
	); err != nil {
		return err
	}
	if c.Time.spec().frequencies != nil {
		if err := AtLeast("frequencies", c.Frequencies, 1); err != nil {
			return err
		}
	}
	n := c.Network.spec()
	if n.images && c.Join == JoinEven {
		return fmt.Errorf("join even is for vectors; use join first with network %s", n.name)
	}
	if n.images && c.Columns == ColumnsScores {
		return fmt.Errorf("columns scores is for vectors; use columns scaled with network %s", n.name)
	}
	if n.validate != nil {
		return n.validate(c)
	}
	return nil
}

// validateTraining checks what only an Estimator reads.
func (c Config) validateTraining() error {
	if err := cmp.Or(
		OneOf("schedule", cmp.Or(c.Schedule, ScheduleConstant), Schedules()),
		AtLeast("updates", c.Updates, 0),
		AtLeast("epochs", c.Epochs, 0),
		AtLeast("batch", c.Batch, 1),
	); err != nil {
		return err
	}
	if c.Method == Standard {
		if err := AtLeast("window", c.Window, 1); err != nil {
			return err
		}
	}
	if !(c.LearningRate > 0) || math.IsInf(c.LearningRate, 0) {
		return fmt.Errorf("the learning rate is %v; it must be a positive number", c.LearningRate)
	}
	return nil
}

// OneOf returns an error if value is not among the valid ones.
func OneOf[T ~string](what string, value T, valid []T) error {
	if slices.Contains(valid, value) {
		return nil
	}
	return fmt.Errorf("%s %q is not one of %s", what, value, strings.Join(Names(valid), ", "))
}

// AtLeast returns an error if value is less than least.
func AtLeast(name string, value, least int) error {
	if value < least {
		return fmt.Errorf("%s is %d; it must be at least %d", name, value, least)
	}
	return nil
}
