package propensity

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"tvps/data/random"
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
		return nil, fmt.Errorf("propensity: %w: a fold has no samples of its own; use fewer folds", ErrFewRows)
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

// heldPairsPerFold bounds the held-out pairs of a fold: few rows are used several times, with
// different other times.
func heldPairsPerFold(n, folds int) int { return min(max(n/folds, 2048), 8192) }

// fitModel chooses the candidate, trains the ensemble and the null of one kind. u: scaled time by
// position. old, if not nil, is continued with its candidate.
func (o *Own) fitModel(ctx context.Context, table *ownTable, rows *ownRows, u []float32, seed int64,
	old *ownModel) (*ownModel, *Diagnostics, error) {
	row := make([]int32, len(rows.at))
	for i, r := range rows.at {
		row[i] = int32(r)
	}
	lanes := make([]*lane, o.cfg.Folds)
	for k := range lanes {
		var err error
		lanes[k], err = newLane(row, u, rows.fold, k, heldPairsPerFold(len(row), o.cfg.Folds), random.New(seed, "held", k))
		if err != nil {
			return nil, nil, err
		}
	}
	found := &Diagnostics{Candidates: make([]float64, len(o.cfg.Candidates))}
	t := &ownTraining{o: o, table: table, lanes: lanes, seed: seed}
	m := &ownModel{scale: 1}
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
		if found.Null, err = o.null(ctx, table, row, u, rows, seed); err != nil {
			return nil, nil, err
		}
	}
	return m, found, nil
}

// ownTraining trains candidates and seeds on the same lanes.
type ownTraining struct {
	o     *Own
	table *ownTable
	lanes []*lane
	seed  int64
}

// key names the programs of a candidate.
func (o *Own) key(c Candidate, lanes, batch, stride int) netKey {
	return netKey{o.cfg.Method, o.cfg.Time, o.shape.Dim, o.shape.Classes, o.shape.Target, c.Hidden, c.Frequencies, lanes,
		batch, stride}
}

// foldNet returns the programs that train a candidate, with a lane for each fold.
func (o *Own) foldNet(c Candidate) (*ownNet, error) {
	return o.fitter.net(o.key(c, o.cfg.Folds, o.cfg.Batch, o.cfg.Stride))
}

// run trains one g for each fold. With a stopAt below Updates, of a seed after the first, there
// is no early stopping: the networks after stopAt updates are taken.
func (t *ownTraining) run(ctx context.Context, c Candidate, member int, old *ownModel, stopAt int) (*curve, error) {
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
		plan.patience = c.Updates + 1
	}
	return w.train(ctx, t.table, t.lanes, start, plan, rngs)
}

// rescale finds the factor of g with the lowest held-out loss of the ensemble's mean, between 0
// and 2; the loss is convex in it.
func (m *ownModel) rescale(ctx context.Context, table *ownTable, lanes []*lane, found *Diagnostics) error {
	method := m.net.cfg.Method
	var own, other []float64
	for s, values := range m.values {
		a, b, err := m.net.evaluate(ctx, table, heldPairs(lanes), values)
		if err != nil {
			return err
		}
		a, b = [][]float32{slices.Concat(a...)}, [][]float32{slices.Concat(b...)}
		if s == 0 {
			own, other = make([]float64, len(a[0])), make([]float64, len(a[0]))
		}
		for i := range own {
			own[i] += float64(a[0][i]) / float64(len(m.values))
			other[i] += float64(b[0][i]) / float64(len(m.values))
		}
	}
	loss := func(scale float64) float64 {
		sum := 0.0
		for i := range own {
			sum += hostLoss(method, own[i], other[i], scale)
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
		e := hostLoss(method, own[i], other[i], m.scale) - found.HeldOut
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

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}
