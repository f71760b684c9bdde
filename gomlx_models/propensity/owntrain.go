package propensity

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"tvps/gomlx_models/net"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/tensors"
)

// lane is what one g is trained on and tested with: rows of the table, each with its time.
type lane struct {
	row  []int32
	u    []float32
	held []pair
}

// pair is a row with its own time and another one.
type pair struct {
	row        int32
	own, other float32
}

// newLane splits rows, given in order of time with their folds: those of fold k are held out, and
// paired with other times until there are pairs of them, at most once each if they are more.
func newLane(row []int32, u []float32, fold []uint8, k, pairs int, rng *rand.Rand) (*lane, error) {
	l := &lane{}
	var held []int
	for i := range row {
		if int(fold[i]) == k {
			held = append(held, i)
		} else {
			l.row, l.u = append(l.row, row[i]), append(l.u, u[i])
		}
	}
	if len(held) == 0 || len(l.row) == 0 {
		return nil, errors.New("propensity: there are too few different samples; use fewer folds")
	}
	for i := range pairs {
		at := held[i%len(held)]
		if len(held) > pairs {
			at = held[i*len(held)/pairs]
		}
		l.held = append(l.held, pair{row[at], u[at], u[rng.IntN(len(u))]})
	}
	return l, nil
}

// draws returns the training pairs of a lane. Rows come in a new permutation for every pass.
func (l *lane) draws(rng *rand.Rand) func() pair {
	order := make([]int32, len(l.row))
	for i := range order {
		order[i] = int32(i)
	}
	at := 0
	return func() pair {
		j := at + rng.IntN(len(order)-at)
		order[at], order[j] = order[j], order[at]
		i := order[at]
		at = (at + 1) % len(order)
		return pair{l.row[i], l.u[i], l.u[rng.IntN(len(l.u))]}
	}
}

// ownTable is a table with y standardised; for training also on the device.
type ownTable struct {
	d       OwnData
	label   []int32
	target  []float32
	fixed   []*tensors.Tensor // mean and scale of x
	tensors []*tensors.Tensor // fixed; x [capacity, dim]; label, target [capacity]
}

// newOwnTable prepares rows for g; for Covariate without their outcome.
func newOwnTable(d OwnData, s ownShape, kind Kind) *ownTable {
	n := len(d.Time)
	t := &ownTable{d: d, label: d.Label, target: make([]float32, n)}
	if t.label == nil || kind == Covariate {
		t.label = make([]int32, n)
	}
	if kind == Joint {
		for i, y := range d.Target {
			t.target[i] = float32((y - s.TargetMean) / s.TargetScale)
		}
	}
	t.fixed = []*tensors.Tensor{tensors.FromFlatDataAndDimensions(s.Mean, s.Dim),
		tensors.FromFlatDataAndDimensions(s.Scale, s.Dim)}
	return t
}

// load copies the table to the device. It has room for more rows, so that tables of similar sizes
// use the same program. x: that of a table of the same rows that is loaded, or nil.
func (t *ownTable) load(x *tensors.Tensor) error {
	capacity := 1024
	for capacity < len(t.label) && capacity < 1<<16 {
		capacity *= 2
	}
	capacity = (len(t.label) + capacity - 1) / capacity * capacity
	if x == nil {
		x = tensors.FromShape(shapes.Make(dtypes.Float32, capacity, t.d.Dim))
		if err := tensors.MutableFlatData(x, func(flat []float32) { copy(flat, t.d.X) }); err != nil {
			return fmt.Errorf("propensity: %w", err)
		}
	}
	label, target := make([]int32, capacity), make([]float32, capacity)
	copy(label, t.label)
	copy(target, t.target)
	t.tensors = append(slices.Clone(t.fixed), x, tensors.FromFlatDataAndDimensions(label, capacity),
		tensors.FromFlatDataAndDimensions(target, capacity))
	return nil
}

// free frees the table on the device, except x.
func (t *ownTable) free() {
	net.Free(t.fixed...)
	if t.tensors != nil {
		net.Free(t.tensors[3:]...)
	}
}

// curve is the held-out loss of one training at each check, with the networks at its lowest.
type curve struct {
	losses  [][]float64 // [checks + 1][lanes]; the first is before training
	updates []int       // by check
	best    int         // check with the lowest mean loss over the lanes
	values  net.Values  // there
	final   net.Values  // the networks after the last update
}

// schedule holds the numbers of one training.
type schedule struct {
	rate, decay                       float64
	updates, stride, patience, stopAt int // stopAt: updates after which to stop
}

// train trains all lanes from start, and looks at the held-out loss after every stride updates.
// It stops when the mean loss did not fall for patience checks.
func (w *ownNet) train(ctx context.Context, table *ownTable, lanes []*lane, start net.Values, plan schedule,
	rngs []*rand.Rand) (*curve, error) {
	next := make([]func() pair, len(lanes))
	for i, l := range lanes {
		next[i] = l.draws(rngs[i])
	}
	c := &curve{}
	state := start.Clone()
	for _, p := range w.state[len(w.params):] {
		state = append(state, make([]float32, p.Size()))
	}
	data := table.tensors
	look := func(done int) error {
		values := state[:len(w.params)]
		losses, err := w.heldOut(ctx, table, lanes, values)
		if err != nil {
			return err
		}
		c.losses, c.updates = append(c.losses, losses), append(c.updates, done)
		if at := len(c.losses) - 1; at == 0 || mean(losses) < mean(c.losses[c.best]) {
			c.best, c.values = at, net.Values(values).Clone()
		}
		return nil
	}
	if err := look(0); err != nil {
		return nil, err
	}
	for done := 0; done < plan.stopAt && len(c.losses)-1-c.best < plan.patience; {
		count := min(plan.stride, plan.stopAt-done)
		from := done
		var err error
		state, _, err = w.trainer.Fit(ctx, state, data, plan.rate, count, func(first, count int) []*tensors.Tensor {
			return w.feed(next, plan, from+first, count)
		})
		if err != nil {
			return nil, err
		}
		done += count
		if err := look(done); err != nil {
			return nil, err
		}
	}
	c.final = state[:len(w.params)]
	return c, nil
}

// feed packs count updates, first being the number of updates before.
func (w *ownNet) feed(next []func() pair, plan schedule, first, count int) []*tensors.Tensor {
	chunk := w.trainer.Chunk()
	n := chunk * w.lanes * w.batch
	row, own, other := make([]int32, n), make([]float32, n), make([]float32, n)
	step, rate, decay := make([]int32, chunk), make([]float32, chunk), make([]float32, chunk)
	for i := range count {
		for k := range w.lanes {
			for b := range w.batch {
				p, at := next[k](), (i*w.lanes+k)*w.batch+b
				row[at], own[at], other[at] = p.row, p.own, p.other
			}
		}
		cosine := plan.rate * (1 + math.Cos(math.Pi*float64(first+i)/float64(plan.updates))) / 2
		step[i], rate[i], decay[i] = int32(first+i), float32(cosine), float32(cosine*plan.decay)
	}
	return []*tensors.Tensor{tensors.FromFlatDataAndDimensions(row, chunk, w.lanes, w.batch),
		tensors.FromFlatDataAndDimensions(own, chunk, w.lanes, w.batch),
		tensors.FromFlatDataAndDimensions(other, chunk, w.lanes, w.batch),
		tensors.FromFlatDataAndDimensions(step, chunk), tensors.FromFlatDataAndDimensions(rate, chunk),
		tensors.FromFlatDataAndDimensions(decay, chunk)}
}

// heldOut is the mean loss of each lane on the rows that it holds out.
func (w *ownNet) heldOut(ctx context.Context, table *ownTable, lanes []*lane, values net.Values) ([]float64, error) {
	own, other, err := w.evaluate(ctx, table, heldPairs(lanes), values)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(lanes))
	for k := range lanes {
		for i := range own[k] {
			out[k] += hostLoss(w.cfg.Method, float64(own[k][i]), float64(other[k][i]), 1) / float64(len(own[k]))
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

// evaluate returns g of each lane's pairs at both of their times.
func (w *ownNet) evaluate(ctx context.Context, table *ownTable, pairs [][]pair, values net.Values) (own,
	other [][]float32, err error) {
	own, other = make([][]float32, w.lanes), make([][]float32, w.lanes)
	longest := 0
	for _, p := range pairs {
		longest = max(longest, len(p))
	}
	params := values.Tensors(w.params)
	defer func() { net.Free(params...) }()
	dim := w.dim
	rows := min(evalRows, max(64, 1<<22/(w.lanes*dim)))
	for from := 0; from < longest; from += rows {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		n := w.lanes * rows
		x, label, target := make([]float32, n*dim), make([]int32, n), make([]float32, n)
		at, to := make([]float32, n), make([]float32, n)
		for k, list := range pairs {
			for i := from; i < min(from+rows, len(list)); i++ {
				p, j := list[i], k*rows+i-from
				r := int(p.row)
				copy(x[j*dim:(j+1)*dim], table.d.X[r*dim:(r+1)*dim])
				label[j], target[j], at[j], to[j] = table.label[r], table.target[r], p.own, p.other
			}
		}
		columns := []*tensors.Tensor{tensors.FromFlatDataAndDimensions(x, w.lanes, rows, dim),
			tensors.FromFlatDataAndDimensions(label, w.lanes, rows), tensors.FromFlatDataAndDimensions(target, w.lanes, rows),
			tensors.FromFlatDataAndDimensions(at, w.lanes, rows), tensors.FromFlatDataAndDimensions(to, w.lanes, rows)}
		out, err := net.Run(w.eval, table.fixed, columns, params)
		net.Free(columns...)
		if err != nil {
			return nil, nil, fmt.Errorf("propensity: %w", err)
		}
		g, err := net.FromTensors(out)
		net.Free(out...)
		if err != nil {
			return nil, nil, fmt.Errorf("propensity: %w", err)
		}
		for k, list := range pairs {
			if n := min(from+rows, len(list)) - from; n > 0 {
				own[k] = append(own[k], g[0][k*rows:k*rows+n]...)
				other[k] = append(other[k], g[1][k*rows:k*rows+n]...)
			}
		}
	}
	return own, other, nil
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}
