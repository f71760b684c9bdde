package crossfit

import (
	"context"
	"fmt"
	"math/rand/v2"

	"tvps/gomlx_models/net"
	"tvps/gomlx_models/propensity"

	"github.com/gomlx/gomlx/core/tensors"
)

// sample is a row of the table with its time and what the network sees of its outcome.
type sample struct {
	row, label int32
	u, target  float32
}

// pair is a sample with another time.
type pair struct {
	sample
	other float32
}

// lane is what one network is trained on and tested with.
type lane struct {
	train []sample
	held  []pair
	start int64      // seed of the initial values
	draws *rand.Rand // of the training pairs
}

// newLane splits samples, given in order of time with their folds: those of fold k are held out, and paired with other
// times until there are pairs of them, at most once each if they are more.
func newLane(samples []sample, fold []uint8, k, pairs int, rng *rand.Rand) (*lane, error) {
	l := &lane{}
	var held []int
	for i, s := range samples {
		if int(fold[i]) == k {
			held = append(held, i)
		} else {
			l.train = append(l.train, s)
		}
	}
	if len(held) == 0 || len(l.train) == 0 {
		return nil, fmt.Errorf("crossfit: %w: a fold has no samples of its own; use fewer folds", ErrFewRows)
	}
	for i := range pairs {
		at := held[i%len(held)]
		if len(held) > pairs {
			at = held[i*len(held)/pairs]
		}
		l.held = append(l.held, pair{samples[at], samples[rng.IntN(len(samples))].u})
	}
	return l, nil
}

// pairs draws the training pairs of a lane. Rows come in a new permutation for every pass.
func (l *lane) pairs() func() pair {
	order, rng, at := make([]int32, len(l.train)), l.draws, 0
	for i := range order {
		order[i] = int32(i)
	}
	return func() pair {
		j := at + rng.IntN(len(order)-at)
		order[at], order[j] = order[j], order[at]
		i := order[at]
		at = (at + 1) % len(order)
		return pair{l.train[i], l.train[rng.IntN(len(l.train))].u}
	}
}

// deviceTable copies rows of dim numbers to the device, [capacity, dim]. It has room for more rows, so that tables of
// similar sizes use the same program.
func deviceTable(x []float32, dim int) []*tensors.Tensor {
	n, capacity := len(x)/dim, 1024
	for capacity < n && capacity < 1<<16 {
		capacity *= 2
	}
	capacity = (n + capacity - 1) / capacity * capacity
	all := make([]float32, capacity*dim)
	copy(all, x)
	return []*tensors.Tensor{tensors.FromFlatDataAndDimensions(all, capacity, dim)}
}

// curve is the held-out loss of one training at each look, with the networks at its lowest.
type curve struct {
	losses  [][]float64 // [looks + 1][lanes]; the first is before training
	updates []int       // by look
	best    int         // look with the lowest mean loss over the lanes
	values  net.Values  // there
	final   net.Values  // the networks after the last update
}

// work is what a Fit or a Drift has to do, in updates.
type work struct {
	show          func(share float64) // may be nil
	planned, done int
}

// training returns a function that tells of the updates of a training which has at most so many.
func (w *work) training(most int) func(done int) {
	w.done += most
	return func(done int) {
		if w.show != nil {
			w.show(min(1, float64(w.done-most+done)/float64(w.planned)))
		}
	}
}

// train trains all lanes for stopAt of the candidate's updates. With patience it looks at the held-out loss after every
// stride updates, and stops when the mean over the lanes did not fall for so many looks. tell: of work.training.
func (w *network) train(ctx context.Context, table []*tensors.Tensor, lanes []*lane, c Candidate, patience,
	stopAt int, tell func(done int)) (*curve, error) {
	next, starts := make([]func() pair, len(lanes)), make([]int64, len(lanes))
	for k, l := range lanes {
		next[k], starts[k] = l.pairs(), l.start
	}
	out, start := &curve{}, net.InitSeeds(w.params, starts, "propensity")
	look := func(done int, _ float64, values func() (net.Values, error)) (stop bool, err error) {
		tell(done)
		if patience == 0 || done%w.stride != 0 && done != stopAt {
			return false, nil
		}
		now, err := values()
		if err != nil {
			return false, err
		}
		losses, err := w.heldOut(ctx, table, lanes, now)
		if err != nil {
			return false, err
		}
		out.losses, out.updates = append(out.losses, losses), append(out.updates, done)
		at := len(out.losses) - 1
		if at == 0 || mean(losses) < mean(out.losses[out.best]) {
			out.best, out.values = at, now
		}
		return at-out.best >= patience, nil
	}
	if _, err := look(0, 0, func() (net.Values, error) { return start, nil }); err != nil {
		return nil, err
	}
	feed := func(first, count int) []*tensors.Tensor { return w.feed(next, c, first, count) }
	var err error
	out.final, _, err = w.trainer.FitUntil(ctx, start, table, 1, stopAt, feed, look)
	return out, err
}

// feed packs count updates, first being the number of updates before.
func (w *network) feed(next []func() pair, c Candidate, first, count int) []*tensors.Tensor {
	chunk := w.trainer.Chunk()
	columns := newPairColumns(chunk * w.lanes * w.batch)
	rate, decay := make([]float32, chunk), make([]float32, chunk)
	for i := range count {
		for k := range w.lanes {
			for b := range w.batch {
				columns.set((i*w.lanes+k)*w.batch+b, next[k]())
			}
		}
		cosine := c.LearningRate * propensity.ScheduleCosine.Factor(first+i, c.Updates)
		rate[i], decay[i] = float32(cosine), float32(cosine*c.Decay)
	}
	return append(columns.tensors(chunk, w.lanes, w.batch), tensors.FromFlatDataAndDimensions(decay, chunk),
		tensors.FromFlatDataAndDimensions(rate, chunk))
}

// pairColumns are the columns of a list of pairs.
type pairColumns struct {
	row, label         []int32
	target, own, other []float32
}

func newPairColumns(n int) *pairColumns {
	return &pairColumns{make([]int32, n), make([]int32, n), make([]float32, n), make([]float32, n), make([]float32, n)}
}

func (c *pairColumns) set(i int, p pair) {
	c.row[i], c.label[i], c.target[i], c.own[i], c.other[i] = p.row, p.label, p.target, p.u, p.other
}

func (c *pairColumns) tensors(dims ...int) []*tensors.Tensor {
	return []*tensors.Tensor{tensors.FromFlatDataAndDimensions(c.row, dims...),
		tensors.FromFlatDataAndDimensions(c.label, dims...), tensors.FromFlatDataAndDimensions(c.target, dims...),
		tensors.FromFlatDataAndDimensions(c.own, dims...), tensors.FromFlatDataAndDimensions(c.other, dims...)}
}

// heldOut is the mean loss of each lane on the rows that it holds out.
func (w *network) heldOut(ctx context.Context, table []*tensors.Tensor, lanes []*lane,
	values net.Values) ([]float64, error) {
	answer, err := w.evaluate(ctx, table, heldPairs(lanes), values)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(lanes))
	for k, losses := range answer[len(answer)-1] {
		for _, l := range losses {
			out[k] += float64(l) / float64(len(losses))
		}
	}
	return out, nil
}

func heldPairs(lanes []*lane) [][]pair {
	out := make([][]pair, len(lanes))
	for k, l := range lanes {
		out[k] = l.held
	}
	return out
}

// evaluate returns what forward gives for each lane's pairs: first by output (the last is the loss), then by lane, then
// the values of all pairs.
func (w *network) evaluate(ctx context.Context, table []*tensors.Tensor, pairs [][]pair, values net.Values) ([][][]float32,
	error) {
	longest := 0
	for _, p := range pairs {
		longest = max(longest, len(p))
	}
	params := values.Tensors(w.params)
	defer net.Free(params...)
	rows := min(evalRows, max(64, 1<<22/(w.lanes*w.dim)))
	var out [][][]float32
	for from := 0; from < longest; from += rows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		columns := newPairColumns(w.lanes * rows)
		for k, list := range pairs {
			for i := from; i < min(from+rows, len(list)); i++ {
				columns.set(k*rows+i-from, list[i])
			}
		}
		feeds := columns.tensors(w.lanes, rows)
		flat, err := net.RunValues(w.eval, table, feeds, params)
		net.Free(feeds...)
		if err != nil {
			return nil, fmt.Errorf("crossfit: %w", err)
		}
		if out == nil {
			out = make([][][]float32, len(flat))
			for j := range out {
				out[j] = make([][]float32, w.lanes)
			}
		}
		for j, array := range flat {
			width := len(array) / (w.lanes * rows)
			for k, list := range pairs {
				if n := min(from+rows, len(list)) - from; n > 0 {
					out[j][k] = append(out[j][k], array[k*rows*width:(k*rows+n)*width]...)
				}
			}
		}
	}
	return out, nil
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}
