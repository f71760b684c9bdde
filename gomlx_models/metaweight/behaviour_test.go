package metaweight

import (
	"testing"

	"tvps/data/random"
	"tvps/gomlx_models/net"
)

// noisy draws ten classes with means 4 e_c, c = 0..9, in 20 dimensions. 40% of the training
// labels are replaced by another class. The meta set of 100 samples has correct labels.
func noisy(seed int64, train int) (all set, flipped []bool) {
	rng := random.New(seed, "metaweight test", "noisy")
	all.dim = 20
	for i := range train + 100 {
		y := int32(rng.IntN(10))
		for j := range 20 {
			x := rng.NormFloat64()
			if j == int(y) {
				x += 4
			}
			all.x = append(all.x, float32(x))
		}
		to := &all.meta
		if i < train {
			to, flipped = &all.data, append(flipped, rng.Float64() < .4)
			if flipped[i] {
				y = (y + 1 + int32(rng.IntN(9))) % 10
			}
		}
		to.Row, to.Label = append(to.Row, int32(i)), append(to.Label, y)
	}
	return all, flipped
}

// TestFlippedLabelsGetSmallWeights: with 40% wrong labels, V gives those small weights.
func TestFlippedLabelsGetSmallWeights(t *testing.T) {
	if testing.Short() {
		t.Skip("trains for several seconds")
	}
	model := newModel(t, 20, 10, 32, 32)
	tr := newTrainer(t, "", DefaultConfig(), model)
	s, flipped := noisy(0, 1000)
	theta, v, err := tr.Fit(t.Context(), s.pool(), net.Init(model.Params, 0, "metaweight test"), s.data, s.meta, 600, 0)
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
	t.Logf("mean weight %.3f of clean labels, %.3f of flipped ones", mean(clean), mean(wrong))
	if mean(wrong) > .5*mean(clean) {
		t.Errorf("mean weight %.3f of flipped labels, want at most half of the %.3f of clean ones", mean(wrong), mean(clean))
	}
}
