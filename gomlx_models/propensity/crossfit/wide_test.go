package crossfit

import (
	"math"
	"slices"
	"testing"

	"tvps/ci/demand"
	"tvps/data/random"

	"gonum.org/v1/gonum/floats"
)

// manyColumns are 90 rows of 1,200 columns at 30 times: the first columns are given, the others copies of them in other
// units, and one is constant.
func manyColumns(seed int64) (few, wide Table) {
	rng := random.New(seed, "many columns")
	few, wide = Table{Dim: 2}, Table{Dim: 1201}
	for i := range 90 {
		u := float64(i/3) / 29
		a, b := 6*u+rng.NormFloat64(), rng.NormFloat64()
		few.X, few.Time = append(few.X, float32(a), float32(b)), append(few.Time, u)
		wide.Time = append(wide.Time, u)
		for k := range 600 {
			unit := float32(1 + k%7)
			wide.X = append(wide.X, unit*float32(a)+unit, -unit*float32(b))
		}
		wide.X = append(wide.X, 7)
	}
	return few, wide
}

// TestTurned: the rotated rows keep the lengths and angles of the standardised ones, but for the scale of the initial
// values, in as few dimensions as they span; and a layer that is turned back gives what it gave.
func TestTurned(t *testing.T) {
	few, d := manyColumns(1)
	_, scores := shapeOf(d)
	at := Positions(90)
	turn, table := turned(scores, d.Dim, at)
	if turn == nil || turn.rank() != 2 {
		t.Fatalf("%v: two columns and their copies span 2 dimensions", turn)
	}
	standard := func(row int) []float64 {
		out := make([]float64, d.Dim)
		for k, v := range scores[row*d.Dim : (row+1)*d.Dim] {
			out[k] = float64(v)
		}
		return out
	}
	const hidden, more = 3, 1
	rng := random.New(1, "layer")
	layer := make([]float32, (2+more)*hidden)
	for i := range layer {
		layer[i] = float32(rng.NormFloat64())
	}
	back := turn.back(slices.Clone(layer), hidden)
	if len(back) != (d.Dim+more)*hidden {
		t.Fatalf("%d weights", len(back))
	}
	for i := range 5 {
		z, x := table[2*i:2*i+2], standard(i)
		for j := range 5 {
			o := table[2*j : 2*j+2]
			got, want := float64(z[0]*o[0]+z[1]*o[1]), floats.Dot(x, standard(j))*2/float64(d.Dim)
			if math.Abs(got-want) > 1e-4 {
				t.Errorf("rows %d, %d: product %v, want %v", i, j, got, want)
			}
		}
		for h := range hidden {
			want, got := float64(z[0]*layer[h]+z[1]*layer[hidden+h]), 0.
			for k, v := range x {
				got += v * float64(back[k*hidden+h])
			}
			if math.Abs(got-want) > 1e-3 {
				t.Errorf("row %d, unit %d: %v, want %v", i, h, got, want)
			}
			if back[d.Dim*hidden+h] != layer[2*hidden+h] {
				t.Errorf("the weight of the input after x changed")
			}
		}
	}
	_, scores = shapeOf(few)
	if turn, table := turned(scores, few.Dim, at); turn != nil || !slices.Equal(table, scores) {
		t.Error("a table of few columns is rotated")
	}
}

// TestManyColumns: a table of copies has nearly the weights of the columns that they are copies of, also by a saved g;
// the networks have all its columns. Drift is found.
func TestManyColumns(t *testing.T) {
	demand.Slow(t)
	few, wide := manyColumns(2)
	cfg := DefaultConfig()
	cfg.Kinds, cfg.Candidates = []Kind{Covariate}, cfg.Candidates[:1]
	a := weigh(t, fitOwn(t, few, cfg, 0), 1, WeightOptions{Kind: Covariate})
	o := fitOwn(t, wide, cfg, 0)
	b := weigh(t, o, 1, WeightOptions{Kind: Covariate})
	if correlation, _ := agreement(b.LogOmega, a.LogOmega); !(correlation > .8) {
		t.Errorf("log omega of copies has a correlation of %.3f with that of the columns", correlation)
	}
	if width := o.models[Covariate].Dim; width != wide.Dim {
		t.Errorf("the networks have %d columns", width)
	}
	found, err := FindDrift(t.Context(), wide, cfg, 0)
	if err != nil || found.Columns.P > .05 || found.Score.P > .05 {
		t.Errorf("drift: %+v, %v", found, err)
	}
}

// TestProgress: the share of the work grows from 0 to at most 1, and is more than a half when a Fit without early stop,
// or a Drift, ends.
func TestProgress(t *testing.T) {
	var shares []float64
	progress := func(share float64) { shares = append(shares, share) }
	d, cfg := ruleDrift(1, 300), tiny()
	cfg.Patience, cfg.Progress = 1000, progress
	for name, run := range map[string]func() error{
		"fit":   func() error { _, err := Fit(t.Context(), d, cfg, 0); return err },
		"drift": func() error { _, err := FindDrift(t.Context(), d, cfg, 0); return err },
	} {
		shares = nil
		demand.NoError(t, run())
		if n := len(shares); n < 5 || shares[0] != 0 || !slices.IsSorted(shares) || shares[n-1] < .5 || shares[n-1] > 1 {
			t.Errorf("%s: shares %v", name, shares)
		}
	}
}
