package crossfit

import (
	"context"
	"math"
	"slices"

	"tvps/data/random"
	"tvps/gomlx_models/net"
)

// model is a fitted g of one kind: Ensemble networks for each fold.
type model struct {
	network
	view   View
	values [][]net.Values // [ensemble][folds]
	scale  float64        // factor of g
}

// heldPairsPerFold bounds the held-out pairs of a fold: few rows are used several times, with different other times.
func heldPairsPerFold(n, folds int) int { return min(max(n/folds, 2048), 8192) }

// fitModel chooses the view and the training, and trains the ensemble of one kind. d: by position.
func (o *Fitted) fitModel(ctx context.Context, d *data, rows *sortedRows, kind Kind, seed int64) (*model, *Diagnostics,
	error) {
	lanes := make([]*lane, o.Config.Folds)
	for k := range lanes {
		var err error
		lanes[k], err = newLane(rows.fold, k, heldPairsPerFold(len(rows.at), o.Config.Folds), random.New(seed, "held", k))
		if err != nil {
			return nil, nil, err
		}
	}
	train := func(v View, c Candidate, member, patience, stopAt int) (*trained, error) {
		for k, l := range lanes {
			l.start, l.draws = random.Seed(seed, "start", member, k), random.New(seed, "draws", member, k)
		}
		return o.train(ctx, d, o.network(v, c, kind), v, lanes, c, patience, stopAt)
	}
	found := &Diagnostics{}
	best := &trained{loss: math.Inf(1)}
	try := func(v View, c Candidate) error {
		tried, err := train(v, c, 0, o.Config.Patience, c.Updates)
		if err != nil {
			return err
		}
		found.Candidates = append(found.Candidates, Tried{v.Name, c, tried.loss})
		if tried.loss < best.loss {
			best, found.View, found.Chosen = tried, v, c
		}
		return nil
	}
	if err := o.choose(kind, rows, found, try); err != nil {
		return nil, nil, err
	}
	found.Updates = best.updates
	m := &model{network: o.network(found.View, found.Chosen, kind), view: found.View, scale: 1,
		values: [][]net.Values{best.values}}
	for s := 1; s < o.Config.Ensemble; s++ {
		c, err := train(found.View, found.Chosen, s, 0, found.Updates)
		if err != nil {
			return nil, nil, err
		}
		m.values = append(m.values, c.values)
	}
	m.rescale(o, d, lanes, found)
	return m, found, nil
}

// choose tries views with the first training of the grid: those of one part, then a trend with the best phase. With
// the best view it tries the other trainings.
func (o *Fitted) choose(kind Kind, rows *sortedRows, found *Diagnostics, try func(v View, c Candidate) error) error {
	grid := o.Config.Candidates
	list := views(rows.times, len(rows.at), o.cycles)
	var phase, trend *Tried
	for i := range list {
		if err := try(list[i], grid[0]); err != nil {
			return err
		}
	}
	for i := range list {
		t := &found.Candidates[i]
		if list[i].Cycle != nil && (phase == nil || t.Loss < phase.Loss) {
			phase = t
		}
		if list[i].Waves > 0 && (trend == nil || t.Loss < trend.Loss) {
			trend = t
		}
	}
	if phase != nil && phase.Loss < math.Ln2 {
		of := func(t *Tried) View {
			return list[slices.IndexFunc(list, func(v View) bool { return v.Name == t.View })]
		}
		if err := try(of(trend).with(of(phase), len(rows.times)), grid[0]); err != nil {
			return err
		}
	}
	for _, c := range grid[1:] {
		if err := try(found.View, c); err != nil {
			return err
		}
	}
	return nil
}

// network is the shape of a candidate's networks.
func (o *Fitted) network(v View, c Candidate, kind Kind) network {
	w := network{Dim: o.Shape.Dim, Codes: v.width(), Hidden: c.Hidden}
	if kind == Joint {
		w.Classes = o.Shape.Classes
		if o.Shape.Target != nil {
			w.Dim++
		}
	}
	return w
}

// rescale finds the factor of g with the lowest held-out loss of the ensemble's mean, between 0 and 2; the loss is
// convex in it.
func (m *model) rescale(o *Fitted, d *data, lanes []*lane, found *Diagnostics) {
	codes, state := o.states(m.view, d.times...)
	var own, other []float64
	for k, l := range lanes {
		held := make([]pair, len(l.held))
		for i, at := range l.held {
			held[i] = d.pair(at, state[at], state[l.other[i]])
		}
		a, b := m.average(k, d.table, codes, held)
		own, other = append(own, a...), append(other, b...)
	}
	slope := func(scale float64) (sum float64) { // of the loss
		for i := range own {
			d := other[i] - own[i]
			sum += d / (1 + math.Exp(-scale*d))
		}
		return sum
	}
	lo, hi := 0., 2.
	for range 24 {
		if at := (lo + hi) / 2; slope(at) < 0 {
			lo = at
		} else {
			hi = at
		}
	}
	m.scale = (lo + hi) / 2
	found.HeldOut = meanLoss(own, other, m.scale)
	if found.Updates == 0 && meanLoss(own, other, 1) == meanLoss(own, other, 0) { // g is 0
		m.scale = 1
	}
	found.Scale = m.scale
}

// average is g of pairs at both times by the ensemble of a fold.
func (m *model) average(fold int, table []float32, codes matrix, pairs []pair) (own, other []float64) {
	own, other = make([]float64, len(pairs)), make([]float64, len(pairs))
	for _, member := range m.values {
		a, b := m.evaluate(member[fold], table, codes, pairs)
		for i := range own {
			own[i] += float64(a[i]) / float64(len(m.values))
			other[i] += float64(b[i]) / float64(len(m.values))
		}
	}
	return own, other
}
