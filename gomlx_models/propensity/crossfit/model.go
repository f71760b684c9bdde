package crossfit

import (
	"context"
	"math"
	"slices"

	"tvps/data/random"
	"tvps/gomlx_models/net"

	"github.com/gomlx/gomlx/core/tensors"
)

// model is a fitted g of one kind: Ensemble networks for each fold.
type model struct {
	net    *network
	values []net.Values // [ensemble], each with a leading axis of folds
	scale  float64      // factor of g
}

// heldPairsPerFold bounds the held-out pairs of a fold: few rows are used several times, with
// different other times.
func heldPairsPerFold(n, folds int) int { return min(max(n/folds, 2048), 8192) }

// fitModel chooses the candidate, and trains the ensemble of one kind. samples: by position.
func (o *Fitted) fitModel(ctx context.Context, table []*tensors.Tensor, rows *sortedRows, samples []sample,
	seed int64) (*model, *Diagnostics, error) {
	lanes := make([]*lane, o.Config.Folds)
	for k := range lanes {
		var err error
		lanes[k], err = newLane(samples, rows.fold, k, heldPairsPerFold(len(samples), o.Config.Folds),
			random.New(seed, "held", k))
		if err != nil {
			return nil, nil, err
		}
	}
	train := func(c Candidate, member, patience, stopAt int) (*curve, error) {
		w, err := o.foldNet(c)
		if err != nil {
			return nil, err
		}
		for k, l := range lanes {
			l.start, l.draws = random.Seed(seed, "start", member, k), random.New(seed, "draws", member, k)
		}
		return w.train(ctx, table, lanes, c, patience, stopAt, o.work.training(stopAt))
	}
	found := &Diagnostics{Candidates: make([]float64, len(o.Config.Candidates))}
	m, best, chosen := &model{scale: 1}, (*curve)(nil), 0
	for i, c := range o.Config.Candidates {
		tried, err := train(c, 0, o.Config.Patience, c.Updates)
		if err != nil {
			return nil, nil, err
		}
		found.Candidates[i] = mean(tried.losses[tried.best])
		if best == nil || found.Candidates[i] < found.Candidates[chosen] {
			chosen, best = i, tried
		}
	}
	found.Chosen, found.Updates = o.Config.Candidates[chosen], best.updates[best.best]
	var err error
	if m.net, err = o.foldNet(found.Chosen); err != nil {
		return nil, nil, err
	}
	m.values = append(m.values, best.values)
	for s := 1; s < o.Config.Ensemble; s++ {
		c, err := train(found.Chosen, s, 0, found.Updates)
		if err != nil {
			return nil, nil, err
		}
		m.values = append(m.values, c.final)
	}
	if err := m.rescale(ctx, table, lanes, found); err != nil {
		return nil, nil, err
	}
	return m, found, o.turnBack(m)
}

// turnBack makes a model of a rotated table that of its columns.
func (o *Fitted) turnBack(m *model) (err error) {
	if o.turn == nil {
		return nil
	}
	at := slices.IndexFunc(m.net.params, func(p net.Param) bool { return p.Name == "layer1/weights" })
	for _, values := range m.values {
		values[at] = o.turn.back(values[at], m.net.lanes, m.net.g.Hidden)
	}
	key := m.net.netKey
	key.dim = o.Shape.Dim
	m.net, err = o.fitter.net(key)
	return err
}

// width is the number of values of x that networks see in training.
func (o *Fitted) width() int {
	if o.turn != nil {
		return o.turn.rank()
	}
	return o.Shape.Dim
}

// table moves x to the device as networks see it in training.
func (o *Fitted) table(rows *sortedRows) []*tensors.Tensor {
	x := rows.x
	rows.x = nil
	return deviceTable(x, o.width())
}

// key names the programs of a candidate.
func (o *Fitted) key(c Candidate, lanes, batch, stride int) netKey {
	g := o.Config.g(c)
	g.Classes = o.Shape.Classes
	return netKey{g: g, dim: o.width(), target: o.Shape.Target != nil, lanes: lanes, batch: batch, stride: stride}
}

// foldNet returns the programs that train a candidate, with a lane for each fold.
func (o *Fitted) foldNet(c Candidate) (*network, error) {
	return o.fitter.net(o.key(c, o.Config.Folds, o.Config.Batch, o.Config.Stride))
}

// rescale finds the factor of g with the lowest held-out loss of the ensemble's mean, between 0
// and 2; the loss is convex in it.
func (m *model) rescale(ctx context.Context, table []*tensors.Tensor, lanes []*lane, found *Diagnostics) error {
	method := m.net.g.Method
	var own, other []float64
	for s, values := range m.values {
		answer, err := m.net.evaluate(ctx, table, heldPairs(lanes), values)
		if err != nil {
			return err
		}
		a, b := slices.Concat(answer[0]...), slices.Concat(answer[1]...)
		if s == 0 {
			own, other = make([]float64, len(a)), make([]float64, len(a))
		}
		for i := range own {
			own[i] += float64(a[i]) / float64(len(m.values))
			other[i] += float64(b[i]) / float64(len(m.values))
		}
	}
	loss := func(scale float64) float64 {
		sum := 0.0
		for i := range own {
			sum += method.Loss(own[i], other[i], scale)
		}
		return sum / float64(len(own))
	}
	lo, hi := 0., 2.
	for range 40 {
		a, b := lo+(hi-lo)/3, hi-(hi-lo)/3
		if loss(a) <= loss(b) {
			hi = b
		} else {
			lo = a
		}
	}
	m.scale = (lo + hi) / 2
	found.HeldOut = loss(m.scale)
	squares := 0.0
	for i := range own {
		e := method.Loss(own[i], other[i], m.scale) - found.HeldOut
		squares += e * e
	}
	rows := map[int32]bool{}
	for _, l := range lanes {
		for _, p := range l.held {
			rows[p.row] = true
		}
	}
	found.HeldOutError = math.Sqrt(squares / float64(len(own)) / float64(len(rows)))
	if found.Updates == 0 && loss(1) == loss(0) { // g is 0
		m.scale = 1
	}
	found.Scale = m.scale
	return nil
}
