package rules

import (
	"math"
	"testing"

	"tvps/ci/demand"
	"tvps/data/random"
	"tvps/gomlx_models/backend"
	"tvps/replicate/tables/backtest"
)

// TestTimescales: where the rule from x to y turned round for one half of the rows and stayed for the other, the
// weights of the first half decay faster with age than those of the second.
func TestTimescales(t *testing.T) {
	const n, blocks = 4000, 20
	k := &backtest.Task{Step: blocks, Backend: backend.ForTest(t, "").Backend}
	k.Data.Dim, k.Data.Classes = 2, 2
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
		k.Block, k.Data.X, k.Data.Label = append(k.Block, block), append(k.Data.X, float32(x), float32(side)), append(k.Data.Label, y)
	}
	lists, err := timescales(t.Context(), k)
	demand.NoError(t, err)
	var sum, rows [2][2]float64 // turned, new
	for i, w := range lists[0] {
		turned, now := i%2, k.Block[i]*2/blocks
		sum[turned][now] += w
		rows[turned][now]++
	}
	fading := func(half int) float64 { return sum[half][0] / rows[half][0] / (sum[half][1] / rows[half][1]) }
	t.Logf("weight of an old row over that of a new one: %.2f where the rule turned, %.2f where it stayed", fading(1), fading(0))
	if fading(1) > .6*fading(0) {
		t.Errorf("old rows count %.2f times as much as new ones where the rule turned, %.2f times where it stayed", fading(1),
			fading(0))
	}
	if again, err := timescales(t.Context(), k); err != nil || again[0][7] != lists[0][7] {
		t.Errorf("the second time row 7 has weight %v, not %v (error %v)", again[0][7], lists[0][7], err)
	}
}

// TestTrusted: the newest blocks with enough rows, but no more than half of the past; never a part of a block.
func TestTrusted(t *testing.T) {
	for _, c := range []struct{ blocks, rows, newest int }{{10, 150, 300}, {10, 300, 300}, {10, 10, 50}, {3, 40, 80}, {1, 500, 500}} {
		k := &backtest.Task{Step: c.blocks}
		for i := range c.blocks * c.rows {
			k.Block = append(k.Block, (c.blocks-1)-i%c.blocks)
		}
		older, newest := trusted(k)
		if len(newest) != c.newest || len(older)+len(newest) != len(k.Block) {
			t.Errorf("%+v: %d rows are the newest, %d older", c, len(newest), len(older))
		}
		last := c.blocks
		for _, i := range newest {
			last = min(last, k.Block[i])
		}
		for _, i := range older {
			if k.Block[i] >= last {
				t.Fatalf("%+v: an older row of block %d, the newest begin at %d", c, k.Block[i], last)
			}
		}
	}
}
