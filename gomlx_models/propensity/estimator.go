package propensity

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

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

// Pool holds the inputs x of all samples that an Estimator will see, on the device:
// samples refer to it by row, so that a stream's history is never copied.
type Pool struct {
	X           *tensors.Tensor // [rows, dims...] float32
	Mean, Scale []float32       // x enters g as (x - Mean) / Scale; [product of dims]
}

// NewPool copies n = len(x)/size rows of the given dims to a pool and standardises
// each coordinate over the first fitRows rows (all if fitRows is 0). Coordinates that
// do not vary are only centred. Errors: no whole number of samples, a fitRows that is
// negative, and NaN or infinite values, which are named by sample and coordinate.
func NewPool(x []float32, fitRows int, dims ...int) (*Pool, error) {
	size := 1
	for _, d := range dims {
		size *= d
	}
	if len(x) == 0 || size <= 0 || len(x)%size != 0 {
		return nil, fmt.Errorf("propensity: %d values are not a whole, positive number of samples of %v values", len(x), dims)
	}
	for i, v := range x {
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, fmt.Errorf("propensity: sample %d, coordinate %d is %v; remove it or replace it", i/size, i%size, v)
		}
	}
	rows := len(x) / size
	if fitRows < 0 {
		return nil, fmt.Errorf("propensity: the scale is to be taken from the first %d samples; give a positive number, or 0 for all", fitRows)
	}
	if fitRows == 0 || fitRows > rows {
		fitRows = rows
	}
	p := &Pool{X: tensors.FromFlatDataAndDimensions(x, append([]int{rows}, dims...)...)}
	p.Mean, p.Scale = standardise(x[:fitRows*size], size)
	return p, nil
}

func standardise(x []float32, size int) (mean, scale []float32) {
	sum, squares := make([]float64, size), make([]float64, size)
	for i, v := range x {
		sum[i%size] += float64(v)
	}
	n := float64(len(x) / size)
	for j := range sum {
		sum[j] /= n
	}
	for i, v := range x {
		d := float64(v) - sum[i%size]
		squares[i%size] += d * d
	}
	mean, scale = make([]float32, size), make([]float32, size)
	for j := range sum {
		mean[j], scale[j] = float32(sum[j]), float32(math.Sqrt(squares[j]/n))
		if scale[j] < 1e-6 {
			scale[j] = 1
		}
	}
	return mean, scale
}

// Samples lists samples by their row in the pool, with label and time. Time is an
// index: sample i was drawn at the Time[i]-th of the estimator's times.
type Samples struct {
	Row   []int32
	Label []int32 // nil if g sees no label
	Time  []int32
}

// Estimator fits g. It is compiled once, for a pool and a number of times, and then
// serves every T: call Fit with the samples up to T, of which there may be fewer times
// than it was made for. It may be used by several goroutines.
type Estimator struct {
	cfg     Config
	pool    *Pool
	times   int
	params  []net.Param
	trainer *loop.Trainer
	eval    *Exec
	mean    *tensors.Tensor
	scale   *tensors.Tensor
}

// NewEstimator prepares g for samples of the pool at up to times different times.
// Errors: an impossible setting, fewer than two times, samples that are no images for
// Conv5, and a shape that GoMLX refuses. Close it when it is no longer needed.
func NewEstimator(backend compute.Backend, pool *Pool, times int, cfg Config) (*Estimator, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if times < 2 {
		return nil, fmt.Errorf("propensity: %d time; drift needs samples from at least two different times", times)
	}
	dims := pool.X.Shape().Dimensions[1:]
	if cfg.Network == Conv5 && len(dims) != 3 {
		return nil, fmt.Errorf("propensity: network conv5 needs images of [height, width, channels], not samples of shape %v", dims)
	}
	if n := pool.X.Size() / pool.X.Shape().Dim(0); len(pool.Mean) != n || len(pool.Scale) != n {
		return nil, fmt.Errorf("propensity: the pool has %d means and %d scales for samples of %d values; make it with NewPool", len(pool.Mean), len(pool.Scale), n)
	}
	e := &Estimator{cfg: cfg, pool: pool, times: times}
	e.mean = tensors.FromFlatDataAndDimensions(pool.Mean, dims...)
	e.scale = tensors.FromFlatDataAndDimensions(pool.Scale, dims...)
	// one more place than times: an unseen T can be put there when g is evaluated.
	table := shapes.Make(dtypes.Float32, times+1, len(encode(cfg, []float64{0}, 0, 1)[0]))
	batch := shapes.Make(dtypes.Int32, cfg.Batch)
	inputs := []shapes.Shape{pool.X.Shape(), e.mean.Shape(), e.scale.Shape(), table, batch, batch, batch}
	var err error
	e.params, err = net.Declare(backend, inputs, func(s *net.Scope, in []*Node) { e.score(s, in[:4], in[4], in[5], in[6]) })
	if err != nil {
		return nil, fmt.Errorf("propensity: %w", err)
	}
	if e.trainer, err = loop.New(backend, e.problem(), min(chunk, max(1, cfg.updates(pool.X.Shape().Dim(0))))); err != nil {
		return nil, err
	}
	e.eval, err = NewExec(backend, func(in []*Node) []*Node {
		s := net.Bind(in[0].Graph(), e.params, in[7:], false)
		return []*Node{e.score(s, in[:4], in[4], in[5], in[6])}
	})
	return e, err
}

// problem is what the loop minimises.
func (e *Estimator) problem() loop.Problem {
	return loop.Problem{Name: "propensity " + string(e.cfg.Method), Params: e.params, Loss: e.loss, Data: 4, Feeds: 5}
}

// Close frees the compiled programs.
func (e *Estimator) Close() {
	e.trainer.Close()
	e.eval.Finalize()
}

func shapeOf(dims ...int) shapes.Shape { return shapes.Make(dtypes.Float32, dims...) }

// score gathers rows of the pool, standardises them and applies g.
// data: pool, mean, scale, time table; row, label, time: [batch] int32.
func (e *Estimator) score(s *net.Scope, data []*Node, row, label, time *Node) *Node {
	x := Gather(data[0], ExpandAxes(row, -1))
	x = Div(Sub(x, ExpandLeftToRank(data[1], x.Rank())), ExpandLeftToRank(data[2], x.Rank()))
	return g(s, e.cfg, x, label, time, data[3])
}

// loss is the logistic loss of Algorithm 2, line 8: the mean of log(1 + exp(-z f))
// with f = g(x,t2) - g(x,t1) (Method 1) or f = g(x,t2) (Method 2, Eq. method_2_app).
func (e *Estimator) loss(s *net.Scope, data, feeds []*Node) *Node {
	row, label, t2, t1, z := feeds[0], feeds[1], feeds[2], feeds[3], feeds[4]
	if e.cfg.Method != Method1 {
		return ReduceAllMean(Softplus(Neg(Mul(z, e.score(s, data, row, label, t2)))))
	}
	// Both times in one pass, so that a batch normalisation sees them together.
	twice := func(x *Node) *Node { return Concatenate([]*Node{x, x}, 0) }
	both := e.score(s, data, twice(row), twice(label), Concatenate([]*Node{t2, t1}, 0))
	n := row.Shape().Dim(0)
	f := Sub(Slice(both, AxisRange(0, n)), Slice(both, AxisRange(n, 2*n)))
	return ReduceAllMean(Softplus(Neg(Mul(z, f))))
}

// Fit runs Algorithm 2 on the samples. times holds the value of each time index, in
// increasing order; every one of them must occur in samples.Time. seed decides the
// initial weights, the order and the draws of Algorithm 1.
func (e *Estimator) Fit(ctx context.Context, samples Samples, times []float64, seed int64) (*Score, error) {
	return e.FitFrom(ctx, nil, samples, times, seed)
}

// FitFrom is Fit from the parameters of an earlier fit in place of random ones (nil: as
// Fit), with a new optimiser. What an encoding learns for a time of its own, as one-hot
// does, is still random for the times that the earlier fit had not seen. The earlier
// estimator may differ in all but the shapes of g.
func (e *Estimator) FitFrom(ctx context.Context, from *Score, samples Samples, times []float64, seed int64) (*Score, error) {
	if err := e.check(samples, times); err != nil {
		return nil, err
	}
	start := net.Init(e.params, seed, "propensity")
	if from != nil {
		if a, b := fmt.Sprint(e.params), fmt.Sprint(from.e.params); a != b {
			return nil, fmt.Errorf("propensity: g cannot start from a fit of another shape; use the same network, time encoding, classes and number of times")
		}
		start = from.values
	}
	next, err := e.draws(samples, len(times), random.New(seed, "propensity", "triplets"))
	if err != nil {
		return nil, err
	}
	s := newScore(e, samples, times)
	table := s.table(s.last)
	defer table.FinalizeAll()
	s.values, s.Losses, err = e.trainer.Fit(ctx, start, e.data(table), e.cfg.LearningRate, e.cfg.updates(len(samples.Row)),
		feed(samples, e.trainer.Chunk(), e.cfg.Batch, next))
	if err != nil {
		return nil, err
	}
	return s, nil
}

// draws returns the source of training rows that the method asks for.
func (e *Estimator) draws(samples Samples, times int, rng *rand.Rand) (func() Triplet, error) {
	if e.cfg.Method != Standard {
		return (&source{rng: rng, s: samples, times: times}).next, nil
	}
	current, old, err := e.window(samples, times)
	return (&standardSource{rng: rng, current: current, old: old}).next, err
}

func (e *Estimator) check(s Samples, times []float64) error {
	switch {
	case len(s.Row) == 0:
		return fmt.Errorf("propensity: there are no samples")
	case len(times) < 2:
		return fmt.Errorf("propensity: all samples are from one time; drift needs at least two")
	case len(times) > e.times:
		return fmt.Errorf("propensity: %d times, but the estimator was made for %d", len(times), e.times)
	}
	for i, t := range times {
		if math.IsNaN(t) || math.IsInf(t, 0) || (i > 0 && t <= times[i-1]) {
			return fmt.Errorf("propensity: times[%d] is %v in %v; times must be finite and increase", i, t, times)
		}
	}
	if err := e.checkSamples(s, len(times)); err != nil {
		return err
	}
	for t, n := range count(s.Time, len(times)) {
		if n == 0 {
			return fmt.Errorf("propensity: no sample has time index %d (time %v); leave that time out", t, times[t])
		}
	}
	return nil
}

// checkSamples compares lengths and ranges, for fitting and for evaluation.
func (e *Estimator) checkSamples(s Samples, times int) error {
	n, rows := len(s.Row), int32(e.pool.X.Shape().Dim(0))
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
		return nil, nil, fmt.Errorf("propensity: the window of %d current times leaves no older samples (there are %d times)", e.cfg.Window, times)
	}
	return current, old, nil
}

func (e *Estimator) data(table *tensors.Tensor) []*tensors.Tensor {
	return []*tensors.Tensor{e.pool.X, e.mean, e.scale, table}
}
