package metaweight

import (
	"slices"
	"testing"

	"tvps/data/random"
	"tvps/gomlx_models/loop"
	"tvps/gomlx_models/net"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// noisy draws ten classes with means 4 e_c, c = 0..9, in 20 dimensions. 40% of the training
// labels are replaced by another class. The meta set of 100 samples and the test set of 1000
// have correct labels.
func noisy(seed int64, train int) (all set, test Samples, flipped []bool) {
	rng := random.New(seed, "metaweight test", "noisy")
	all.dim = 20
	for i := range train + 1100 {
		y := int32(rng.IntN(10))
		for j := range 20 {
			x := rng.NormFloat64()
			if j == int(y) {
				x += 4
			}
			all.x = append(all.x, float32(x))
		}
		to := &test
		switch {
		case i < train:
			to, flipped = &all.data, append(flipped, rng.Float64() < .4)
			if flipped[i] {
				y = (y + 1 + int32(rng.IntN(9))) % 10
			}
		case i < train+100:
			to = &all.meta
		}
		to.Row, to.Label = append(to.Row, int32(i)), append(to.Label, y)
	}
	return all, test, flipped
}

// newPlain returns a trainer of the classifier by the same SGD, without weights.
func newPlain(t *testing.T, cfg Config, model Model) *loop.Trainer {
	t.Helper()
	n, trained := len(model.Params), loop.Trainable(model.Params)
	step := func(state, data, feeds []*Node, step, rate *Node) (*Node, []*Node) {
		scope := net.Bind(step.Graph(), model.Params, state[:n], true)
		loss := ReduceAllMean(model.Losses(scope, data[0], feeds[0], feeds[1]))
		w := loop.Pick(state, trained)
		next, velocity := loop.SGD(w, loop.AddDecay(w, Gradient(loss, w...), cfg.Decay), state[n:], rate, cfg.Momentum)
		return loss, slices.Concat(loop.Replace(scope.Updated(model.Params, state[:n]), trained, next), velocity)
	}
	plain, err := loop.New(open(t, ""), loop.Problem{Name: "plain", Params: model.Params, Step: step,
		Slots: loop.Pick(model.Params, trained), Data: 1, Feeds: 2}, updatesPerCall)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(plain.Close)
	return plain
}

// fitPlain trains the classifier on the same minibatches as Fit, without weights.
func fitPlain(t *testing.T, plain *loop.Trainer, cfg Config, s set, start net.Values, updates int,
	seed int64) net.Values {
	t.Helper()
	b := &batches{samples: s.data, size: cfg.Batch, rng: random.New(seed, "metaweight", "training")}
	feed := func(_, count int) []*tensors.Tensor {
		row, label := b.next(plain.Chunk(), count)
		return []*tensors.Tensor{row, label}
	}
	theta, _, err := plain.Fit(t.Context(), start, []*tensors.Tensor{s.pool()}, cfg.Rate, updates, feed)
	if err != nil {
		t.Fatal(err)
	}
	return theta
}

// accuracy is the share of samples whose label has the smallest loss of all classes.
func accuracy(model Model, s set, theta net.Values, test Samples) float64 {
	o := &objective{s: s, theta: layers(model, theta)}
	right := 0.0
	for i, row := range test.Row {
		best := int32(0)
		for c := range int32(model.Classes) {
			if o.loss(o.theta, row, c) < o.loss(o.theta, row, best) {
				best = c
			}
		}
		if best == test.Label[i] {
			right++
		}
	}
	return right / float64(test.Len())
}

// TestFlippedLabelsGetSmallWeights: with 40% wrong labels, V gives those small weights, and the
// classifier is more accurate than without weights.
func TestFlippedLabelsGetSmallWeights(t *testing.T) {
	if testing.Short() {
		t.Skip("trains for several seconds")
	}
	const updates = 600
	cfg, model := DefaultConfig(), newModel(t, 20, 10, 32, 32)
	tr, plain := newTrainer(t, "", cfg, model), newPlain(t, cfg, model)
	for seed := range int64(3) {
		s, test, flipped := noisy(seed, 1000)
		start := net.Init(model.Params, seed, "metaweight test")
		theta, v, err := tr.Fit(t.Context(), s.pool(), start, s.data, s.meta, updates, seed)
		if err != nil {
			t.Fatal(err)
		}
		weights, err := tr.Weights(t.Context(), s.pool(), theta, v, s.data)
		if err != nil {
			t.Fatal(err)
		}
		var clean, wrong []float64
		for i, w := range weights {
			if flipped[i] {
				wrong = append(wrong, w)
			} else {
				clean = append(clean, w)
			}
		}
		with := accuracy(model, s, theta, test)
		without := accuracy(model, s, fitPlain(t, plain, cfg, s, start, updates, seed), test)
		t.Logf("seed %d: mean weight %.3f of clean labels, %.3f of flipped ones; accuracy %.3f, without weights %.3f",
			seed, mean(clean), mean(wrong), with, without)
		if mean(wrong) > .5*mean(clean) {
			t.Errorf("seed %d: mean weight %.3f of flipped labels, want at most half of the %.3f of clean ones",
				seed, mean(wrong), mean(clean))
		}
		if with < without+.15 {
			t.Errorf("seed %d: accuracy %.3f, want .15 above the %.3f without weights", seed, with, without)
		}
	}
}
