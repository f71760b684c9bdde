package crossfit

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"tvps/data/random"
	"tvps/gomlx_models/net"
)

// heldPairsPerFold bounds the held-out pairs of a fold: few rows are used several times, with
// different other times.
func heldPairsPerFold(n, folds int) int { return min(max(n/folds, 2048), 8192) }

// fitModel chooses the candidate, trains the ensemble and the null of one kind. samples: by position. old, if not
// nil, is continued with its candidate.
func (o *Fitted) fitModel(ctx context.Context, table *deviceTable, rows *sortedRows, samples []sample, seed int64,
	old *model) (*model, *Diagnostics, error) {
	lanes := make([]*lane, o.cfg.Folds)
	for k := range lanes {
		var err error
		lanes[k], err = newLane(samples, rows.fold, k, heldPairsPerFold(len(samples), o.cfg.Folds),
			random.New(seed, "held", k))
		if err != nil {
			return nil, nil, err
		}
	}
	found := &Diagnostics{Candidates: make([]float64, len(o.cfg.Candidates))}
	t := &trainer{o: o, table: table, lanes: lanes, seed: seed}
	m := &model{scale: 1}
	curves := make([]*curve, len(o.cfg.Candidates))
	for i, c := range o.cfg.Candidates {
		if found.Candidates[i] = math.Ln2; old != nil && i != old.chosen {
			continue
		}
		var err error
		if curves[i], err = t.run(ctx, c, 0, old, c.Updates); err != nil {
			return nil, nil, err
		}
		found.Candidates[i] = mean(curves[i].losses[curves[i].best])
		if b := curves[m.chosen]; b == nil || found.Candidates[i] < found.Candidates[m.chosen] {
			m.chosen = i
		}
	}
	best := curves[m.chosen]
	found.Chosen, found.Updates = o.cfg.Candidates[m.chosen], best.updates[best.best]
	var err error
	if m.net, err = o.foldNet(found.Chosen); err != nil {
		return nil, nil, err
	}
	m.values = append(m.values, best.values)
	for s := 1; s < o.cfg.Ensemble; s++ {
		c, err := t.run(ctx, found.Chosen, s, old, found.Updates)
		if err != nil {
			return nil, nil, err
		}
		m.values = append(m.values, c.final)
	}
	if err := m.rescale(ctx, table, lanes, found); err != nil {
		return nil, nil, err
	}
	if o.cfg.Permutations > 0 && old == nil {
		if found.Null, err = o.null(ctx, table, rows, samples, seed); err != nil {
			return nil, nil, err
		}
	}
	return m, found, nil
}

// trainer trains candidates and seeds on the same lanes.
type trainer struct {
	o     *Fitted
	table *deviceTable
	lanes []*lane
	seed  int64
}

// key names the programs of a candidate.
func (o *Fitted) key(c Candidate, lanes, batch, stride int) netKey {
	return netKey{method: o.cfg.Method, time: o.cfg.Time, dim: o.shape.Dim, classes: o.shape.Classes,
		target: o.shape.Target, hidden: c.Hidden, frequencies: c.Frequencies, lanes: lanes, batch: batch, stride: stride}
}

// foldNet returns the programs that train a candidate, with a lane for each fold.
func (o *Fitted) foldNet(c Candidate) (*network, error) {
	return o.fitter.net(o.key(c, o.cfg.Folds, o.cfg.Batch, o.cfg.Stride))
}

// run trains one g for each fold. With a stopAt below Updates, of a seed after the first, there
// is no early stopping: the networks after stopAt updates are taken.
func (t *trainer) run(ctx context.Context, c Candidate, member int, old *model, stopAt int) (*curve, error) {
	cfg := t.o.cfg
	w, err := t.o.foldNet(c)
	if err != nil {
		return nil, err
	}
	seeds, rngs := make([]int64, cfg.Folds), make([]*rand.Rand, cfg.Folds)
	for k := range seeds {
		seeds[k] = random.Seed(t.seed, "start", member, k)
		rngs[k] = random.New(t.seed, "draws", member, k)
	}
	start := net.InitSeeds(w.params, seeds, "propensity")
	if old != nil {
		start = old.values[member]
	}
	plan := schedule{rate: c.LearningRate, decay: c.Decay, updates: c.Updates, stride: cfg.Stride,
		patience: cfg.Patience, stopAt: stopAt}
	if old != nil {
		plan.rate /= 3 // it starts near its optimum
	}
	if member > 0 {
		plan.patience = 0
	}
	return w.train(ctx, t.table, t.lanes, start, plan, rngs)
}

// rescale finds the factor of g with the lowest held-out loss of the ensemble's mean, between 0
// and 2; the loss is convex in it.
func (m *model) rescale(ctx context.Context, table *deviceTable, lanes []*lane, found *Diagnostics) error {
	method := m.net.method
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
	if found.Updates == 0 && len(m.values) > 0 && loss(1) == loss(0) { // g is 0
		m.scale = 1
	}
	found.Scale = m.scale
	return nil
}
