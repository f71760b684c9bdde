package propensity

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"tvps/data/random"
	"tvps/gomlx_models/loop"
	"tvps/gomlx_models/net"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

const chunk = 250 // updates in one call to the device

// Samples lists samples by their row in the pool, with label and time. Time is an index:
// sample i was drawn at the Time[i]-th of the fitted times.
type Samples struct {
	Row   []int32
	Label []int32 // nil if g sees no label
	Time  []int32
}

// Estimator fits g. It is compiled once, for a pool and a largest number of times, and then
// serves every T: call Fit with the samples up to T, which may have fewer times. It is safe
// for concurrent use.
type Estimator struct {
	cfg     Config
	backend compute.Backend
	pool    *Pool
	times   int // the largest number
	params  []net.Param
	trainer *loop.Trainer
	eval    *Exec
}

// NewEstimator prepares g for samples of the pool at up to times different times. How g sees columns is decided by
// NewPool, not by cfg.Columns.
// Errors: an impossible setting, fewer than two times, no pool, samples that are not images for
// a network of images, and a shape that GoMLX refuses. Close it when it is no longer needed.
func NewEstimator(backend compute.Backend, pool *Pool, times int, cfg Config) (*Estimator, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if times < 2 {
		return nil, fmt.Errorf("propensity: %d time; drift needs samples from at least two different times", times)
	}
	if err := pool.check(); err != nil {
		return nil, err
	}
	dims := pool.X.Shape().Dimensions[1:]
	if cfg.Network.spec().images && len(dims) != 3 {
		return nil, fmt.Errorf("propensity: network %s needs images of [height, width, channels], not samples of shape %v",
			cfg.Network, dims)
	}
	e := &Estimator{cfg: cfg, backend: backend, pool: pool, times: times}
	// One more row than times: an unseen T takes it when g is evaluated.
	table := shapeOf(times+1, len(encode(cfg, []float64{0}, 0, 1)[0]))
	batch := shapes.Make(dtypes.Int32, cfg.Batch)
	x, sample := pool.X.Shape(), shapeOf(dims...)
	inputs := []shapes.Shape{x, sample, sample, table, batch, batch, batch}
	var err error
	e.params, err = net.Declare(backend, inputs, func(s *net.Scope, in []*Node) { e.score(s, in) })
	if err != nil {
		return nil, fmt.Errorf("propensity: %w", err)
	}
	e.trainer = loop.New(backend, e.problem(), min(chunk, max(1, cfg.updates(x.Dim(0)))))
	e.eval = MustNewExec(backend, func(in []*Node) []*Node {
		return []*Node{e.score(net.Bind(in[0].Graph(), e.params, in[7:], false), in[:7])}
	}).SetMaxCache(-1) // a program for each number of rows that Score.Loss is given
	return e, nil
}

// problem is what the loop minimises.
func (e *Estimator) problem() loop.Problem {
	problem := loop.Problem{Name: "propensity " + string(e.cfg.Method), Params: e.params, Loss: e.loss, Data: 4, Feeds: 5}
	if e.cfg.Schedule == ScheduleCosine {
		problem.RateFactors, problem.Feeds = true, 6
	}
	return problem
}

// On returns the estimator for another pool of the same shape, such as another seed's
// stream, or the same samples with another mean and scale. It shares the compiled programs:
// close only the first one.
func (e *Estimator) On(pool *Pool) (*Estimator, error) {
	if err := pool.check(); err != nil {
		return nil, err
	}
	if have, want := pool.X.Shape(), e.pool.X.Shape(); !have.Equal(want) {
		return nil, fmt.Errorf("propensity: a pool of shape %s for an estimator of shape %s", have, want)
	}
	other := *e
	other.pool = pool
	return &other, nil
}

// Close frees the compiled programs.
func (e *Estimator) Close() {
	e.trainer.Close()
	e.eval.Finalize()
}

// data are the arrays that stay the same during a training on the samples x; the caller frees all but x.
func (e *Estimator) data(x, table *tensors.Tensor) []*tensors.Tensor {
	mean, scale := e.pool.tensors()
	return []*tensors.Tensor{x, mean, scale, table}
}

// score evaluates g for rows of the pool. in: data; row, label, time: [batch] int32.
func (e *Estimator) score(s *net.Scope, in []*Node) *Node {
	return e.cfg.G(s, e.input(in, in[4], in[5]), fittedTimes(in[6], in[3]))
}

// input gathers rows of the pool and standardises them.
func (e *Estimator) input(data []*Node, row, label *Node) Input {
	x := Gather(data[0], ExpandAxes(row, -1))
	mean, scale := ExpandLeftToRank(data[1], x.Rank()), ExpandLeftToRank(data[2], x.Rank())
	return Input{X: Div(Sub(x, mean), scale), Label: label}
}

// loss is Algorithm 2, line 8, for a minibatch of triplets: row, label, t2, t1 and z.
func (e *Estimator) loss(s *net.Scope, data, feeds []*Node) *Node {
	in, table := e.input(data, feeds[0], feeds[1]), data[3]
	return e.cfg.Loss(s, in, fittedTimes(feeds[2], table), fittedTimes(feeds[3], table), feeds[4])
}

// Fit runs Algorithm 2 on the samples. times holds the value of each time index, in
// increasing order; every one of them must occur in samples.Time. seed determines the initial
// weights, the order of the samples and the draws of Algorithm 1.
func (e *Estimator) Fit(ctx context.Context, samples Samples, times []float64, seed int64) (*Score, error) {
	return e.FitFrom(ctx, nil, samples, times, seed)
}

// FitFrom is Fit that starts from the parameters of an earlier fit (nil: random ones, as Fit),
// with a new optimiser. A learned encoding's vectors are still random for times that the
// earlier fit had not seen. The earlier estimator may differ in everything except g's parameters: their
// names, shapes and initial distributions.
func (e *Estimator) FitFrom(ctx context.Context, from *Score, samples Samples, times []float64,
	seed int64) (*Score, error) {
	if err := e.check(samples, times); err != nil {
		return nil, err
	}
	start := net.Init(e.params, seed, "propensity")
	if from != nil {
		if a, b := fmt.Sprint(e.params), fmt.Sprint(from.e.params); a != b {
			return nil, errors.New("propensity: g cannot start from a fit of another g;" +
				" use the same network, join, time encoding, classes and number of times")
		}
		start = from.values
	}
	next, err := e.draws(samples, len(times), random.New(seed, "propensity", "triplets"))
	if err != nil {
		return nil, err
	}
	s := &Score{e: e, samples: samples, times: slices.Clone(times)}
	for _, n := range count(samples.Time, len(times)) {
		s.logCount = append(s.logCount, math.Log(float64(n)))
	}
	data := e.data(e.pool.X, s.table(s.last()))
	defer net.Free(data[1:]...)
	updates, chunk := e.cfg.updates(len(samples.Row)), e.trainer.Chunk()
	s.values, s.Losses, err = e.trainer.Fit(ctx, start, data, e.cfg.LearningRate, updates,
		e.cfg.Schedule.withRates(feed(samples, chunk, e.cfg.Batch, next), chunk, updates), nil)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// draws returns the method's source of training rows.
func (e *Estimator) draws(samples Samples, times int, rng *rand.Rand) (func() Triplet, error) {
	if e.cfg.Method != Standard {
		return triplets(rng, samples.Time, times), nil
	}
	current, old, err := e.window(samples, times)
	if err != nil {
		return nil, err
	}
	return standardTriplets(rng, current, old), nil
}

// check returns an error for samples and times that g cannot be fitted to.
func (e *Estimator) check(s Samples, times []float64) error {
	switch {
	case len(s.Row) == 0:
		return errors.New("propensity: there are no samples")
	case len(times) < 2:
		return errors.New("propensity: all samples are from one time; drift needs at least two")
	case len(times) > e.times:
		return fmt.Errorf("propensity: %d times, but the estimator was made for %d at most", len(times), e.times)
	}
	for i, t := range times {
		if math.IsNaN(t) || math.IsInf(t, 0) || (i > 0 && t <= times[i-1]) {
			return fmt.Errorf("propensity: times[%d] is %v in %v; times must be finite and increase", i, t, times)
		}
	}
	if err := e.checkSamples(s, e.pool.X, len(times)); err != nil {
		return err
	}
	for t, n := range count(s.Time, len(times)) {
		if n == 0 {
			return fmt.Errorf("propensity: no sample has time index %d (time %v); leave that time out", t, times[t])
		}
	}
	return nil
}

// load copies rows to the device before a program uses them: GoMLX checks a tensor without a lock, so that one that two
// calls use for the first time at the same moment can look empty to one of them.
func (e *Estimator) load(x *tensors.Tensor) error {
	if !x.Shape().Ok() {
		return errClosed
	}
	if err := x.MaterializeOnDevice(e.backend, true, 0); err != nil {
		return fmt.Errorf("propensity: cannot load the samples: %w", err)
	}
	return nil
}

// checkSamples checks lengths and ranges, for fitting and for evaluation, and loads the rows. x: where they are.
func (e *Estimator) checkSamples(s Samples, x *tensors.Tensor, times int) error {
	if err := cmp.Or(e.pool.check(), e.load(x)); err != nil {
		return err
	}
	n, rows := len(s.Row), int32(x.Shape().Dim(0))
	switch {
	case len(s.Time) != n:
		return fmt.Errorf("propensity: %d samples but %d times", n, len(s.Time))
	case s.Label == nil && e.cfg.Classes > 0:
		return fmt.Errorf("propensity: g sees labels of %d classes, but the samples have none", e.cfg.Classes)
	case s.Label != nil && len(s.Label) != n:
		return fmt.Errorf("propensity: %d samples but %d labels", n, len(s.Label))
	}
	for i := range s.Row {
		switch {
		case s.Row[i] < 0 || s.Row[i] >= rows:
			return fmt.Errorf("propensity: sample %d is row %d of a pool of %d", i, s.Row[i], rows)
		case s.Time[i] < 0 || int(s.Time[i]) >= times:
			return fmt.Errorf("propensity: sample %d has time index %d of %d", i, s.Time[i], times)
		case e.cfg.Classes > 0 && (s.Label[i] < 0 || int(s.Label[i]) >= e.cfg.Classes):
			return fmt.Errorf("propensity: sample %d has label %d; labels go from 0 to %d", i, s.Label[i], e.cfg.Classes-1)
		}
	}
	return nil
}

// count is the number of samples of each time.
func count(time []int32, times int) []int {
	out := make([]int, times)
	for _, t := range time {
		out[t]++
	}
	return out
}

// window splits samples into those of the last Window times and the older ones.
func (e *Estimator) window(s Samples, times int) (current, old []int, err error) {
	from := int32(times - e.cfg.Window)
	for i, t := range s.Time {
		if t >= from {
			current = append(current, i)
		} else {
			old = append(old, i)
		}
	}
	if len(old) == 0 {
		return nil, nil, fmt.Errorf("propensity: a window of %d leaves no older samples: there are %d times; lower it",
			e.cfg.Window, times)
	}
	return current, old, nil
}
