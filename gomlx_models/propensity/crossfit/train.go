package crossfit

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"tvps/gomlx_models/net"
	"tvps/gomlx_models/propensity"
)

// data are rows as g of one kind sees them.
type data struct {
	table []float32 // numbers, one row after another
	at    []int     // row of table, by position
	label []int32   // by position; nil without
	times []float64 // by position
}

// pair is one of a position.
func (d *data) pair(at int, own, other int32) pair {
	p := pair{row: int32(d.at[at]), own: own, other: other}
	if d.label != nil {
		p.label = d.label[at]
	}
	return p
}

// states are the codes of times, and the state of each.
func (o *Fitted) states(v View, times ...float64) (codes matrix, state []int32) {
	seen, byTime := map[string]int32{}, map[float64]int32{}
	state = make([]int32, len(times))
	for i, t := range times {
		at, ok := byTime[t]
		if !ok {
			code := v.code(t, o.unit)
			var bits []byte
			for _, c := range code {
				bits = binary.LittleEndian.AppendUint32(bits, math.Float32bits(c))
			}
			key := string(bits)
			if at, ok = seen[key]; !ok {
				at = int32(len(seen))
				seen[key] = at
				codes.data = append(codes.data, code...)
			}
			byTime[t] = at
		}
		state[i] = at
	}
	return newMatrix(len(seen), v.width(), codes.data), state
}

// lane is what one network is trained on and tested with: positions of rows.
type lane struct {
	train, held []int
	other       []int // of a pair of each of held: the position whose time it takes
	start       int64 // seed of the initial values
	draws       *rand.Rand
}

// newLane splits positions of rows by their folds: those of fold k are held out, and paired with other times until
// there are pairs of them, at most once each if they are more.
func newLane(fold []uint8, k, pairs int, rng *rand.Rand) (*lane, error) {
	l := &lane{}
	var held []int
	for i, f := range fold {
		if int(f) == k {
			held = append(held, i)
		} else {
			l.train = append(l.train, i)
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
		l.held, l.other = append(l.held, at), append(l.other, rng.IntN(len(fold)))
	}
	return l, nil
}

// draw returns a function that draws the training pairs of a lane. Rows come in a new permutation for every pass.
func (l *lane) draw(pairOf func(own, other int) pair) func() pair {
	order, rng, at := slices.Clone(l.train), l.draws, 0
	return func() pair {
		j := at + rng.IntN(len(order)-at)
		order[at], order[j] = order[j], order[at]
		i := order[at]
		at = (at + 1) % len(order)
		return pairOf(i, l.train[rng.IntN(len(l.train))])
	}
}

// trained are the networks of a training, of each lane: with patience those of the lowest held-out loss, otherwise
// the last ones.
type trained struct {
	values  []net.Values
	loss    float64 // with patience: mean held-out loss over the lanes
	updates int     // with patience: made up to that loss
}

// learner trains the network of a lane.
type learner struct {
	*pass
	*lane
	adam
	values, grad net.Values
	next         func() pair
	held         []pair
}

// update makes one step on a minibatch.
func (l *learner) update(d *data, codes matrix, batch []pair, rate, decay float64) {
	for i := range batch {
		batch[i] = l.next()
	}
	l.forward(l.values, d.table, codes, batch)
	for _, g := range l.grad {
		clear(g)
	}
	l.backward(l.values, codes, batch, l.grad)
	l.step(l.values, l.grad, rate, decay)
}

// evaluate returns g at the own and the other time of pairs.
func (w network) evaluate(v net.Values, table []float32, codes matrix, pairs []pair) (own, other []float32) {
	p := &pass{network: w}
	for part := range slices.Chunk(pairs, evalRows) {
		p.forward(v, table, codes, part)
		own, other = append(own, p.g[:len(part)]...), append(other, p.g[len(part):]...)
	}
	return own, other
}

// evalRows is the largest number of rows in one evaluation.
const evalRows = 1024

// train trains a network for each lane for stopAt of the candidate's updates. With patience it looks at the held-out
// loss after every stride updates, and stops when the mean over the lanes did not fall for so many looks.
func (o *Fitted) train(ctx context.Context, d *data, w network, v View, lanes []*lane, c Candidate, patience,
	stopAt int) (*trained, error) {
	codes, state := o.states(v, d.times...)
	pairOf := func(own, other int) pair { return d.pair(own, state[own], state[other]) }
	list := make([]*learner, len(lanes))
	zeros := func(like net.Values) net.Values {
		out := make(net.Values, len(like))
		for i := range like {
			out[i] = make([]float32, len(like[i]))
		}
		return out
	}
	for k, l := range lanes {
		e := &learner{pass: &pass{network: w}, lane: l, values: net.Init(w.params(), l.start, "propensity"), next: l.draw(pairOf)}
		e.grad = zeros(e.values)
		e.adam = adam{params: w.params(), m: zeros(e.values), v: zeros(e.values)}
		for i, own := range l.held {
			e.held = append(e.held, pairOf(own, l.other[i]))
		}
		list[k] = e
	}
	copyValues := func() (out []net.Values) {
		for _, l := range list {
			out = append(out, l.values.Clone())
		}
		return out
	}
	out := &trained{loss: math.Inf(1)}
	for done, failed := 0, 0; ; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if patience > 0 {
			losses := make([]float64, len(lanes))
			propensity.Parallel(len(lanes), func(k int) {
				own, other := w.evaluate(list[k].values, d.table, codes, list[k].held)
				losses[k] = meanLoss(own, other, 1)
			})
			if loss := mean(losses); loss < out.loss {
				out.values, out.loss, out.updates, failed = copyValues(), loss, done, 0
			} else if failed++; failed >= patience {
				return out, nil
			}
		}
		if done >= stopAt {
			break
		}
		count := min(o.Config.Stride, stopAt-done)
		propensity.Parallel(len(lanes), func(k int) {
			batch := make([]pair, o.Config.Batch)
			for i := range count {
				rate := c.LearningRate * propensity.ScheduleCosine.Factor(done+i, c.Updates)
				list[k].update(d, codes, batch, rate, rate*c.Decay)
			}
		})
		done += count
	}
	if patience == 0 {
		out.values = copyValues()
	}
	return out, nil
}

// meanLoss is the mean loss of pairs, for g multiplied by scale.
func meanLoss[T float32 | float64](own, other []T, scale float64) float64 {
	sum := 0.
	for i := range own {
		sum += propensity.Method1.Loss(float64(own[i]), float64(other[i]), scale)
	}
	return sum / float64(len(own))
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}
