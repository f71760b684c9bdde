package tables

import (
	"math"
	"testing"

	"tvps/ci/demand"
	"tvps/data/random"
)

// TestTimescales: where the rule from x to y turned round for one half of the rows and stayed for the other, the
// weights of the first half decay faster with age than those of the second.
func TestTimescales(t *testing.T) {
	const n, blocks = 4000, 20
	k := &task{step: blocks, train: make([]int, n)}
	k.data.Dim, k.data.Classes = 2, 2
	rng := random.New(1, "timescales test")
	for i := range n {
		block, x, side, y := i*blocks/n, rng.NormFloat64(), float64(2*(i%2)-1), int32(0)
		slope := 4.
		if side > 0 && block < blocks/2 {
			slope = -4
		}
		if rng.Float64() < 1/(1+math.Exp(-slope*x)) {
			y = 1
		}
		k.block, k.data.X, k.data.Label = append(k.block, block), append(k.data.X, float32(x), float32(side)), append(k.data.Label, y)
	}
	c := &computation{BacktestJob: &BacktestJob{}, backend: xla(t)}
	lists, err := timescales(t.Context(), c, Rule{}, k, nil)
	demand.NoError(t, err)
	defer c.scorer.close()
	var sum, rows [2][2]float64 // turned, new
	for i, w := range lists[0] {
		turned, now := i%2, k.block[i]*2/blocks
		sum[turned][now] += w
		rows[turned][now]++
	}
	fading := func(half int) float64 { return sum[half][0] / rows[half][0] / (sum[half][1] / rows[half][1]) }
	t.Logf("weight of an old row over that of a new one: %.2f where the rule turned, %.2f where it stayed", fading(1), fading(0))
	if fading(1) > .6*fading(0) {
		t.Errorf("old rows count %.2f times as much as new ones where the rule turned, %.2f times where it stayed", fading(1),
			fading(0))
	}
	if again, err := timescales(t.Context(), c, Rule{}, k, nil); err != nil || again[0][7] != lists[0][7] {
		t.Errorf("the second time row 7 has weight %v, not %v (error %v)", again[0][7], lists[0][7], err)
	}
}

// TestTrusted: the newest blocks with enough rows, but no more than half of the past; never a part of a block.
func TestTrusted(t *testing.T) {
	for _, c := range []struct{ blocks, rows, newest int }{{10, 150, 300}, {10, 300, 300}, {10, 10, 50}, {3, 40, 80}, {1, 500, 500}} {
		k := &task{step: c.blocks}
		for i := range c.blocks * c.rows {
			k.block = append(k.block, (c.blocks-1)-i%c.blocks)
		}
		older, newest := k.trusted()
		if len(newest) != c.newest || len(older)+len(newest) != len(k.block) {
			t.Errorf("%+v: %d rows are the newest, %d older", c, len(newest), len(older))
		}
		last := c.blocks
		for _, i := range newest {
			last = min(last, k.block[i])
		}
		for _, i := range older {
			if k.block[i] >= last {
				t.Fatalf("%+v: an older row of block %d, the newest begin at %d", c, k.block[i], last)
			}
		}
	}
}
