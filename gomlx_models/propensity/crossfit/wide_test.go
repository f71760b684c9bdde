package crossfit

import (
	"testing"

	"tvps/ci/demand"
	"tvps/data/random"
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

// TestManyColumns: a table of copies has nearly the weights of the columns that they are copies of. Drift is found.
func TestManyColumns(t *testing.T) {
	demand.Slow(t)
	few, wide := manyColumns(2)
	cfg := DefaultConfig()
	cfg.Kinds, cfg.Candidates = []Kind{Covariate}, cfg.Candidates[:1]
	a := weigh(t, fitOwn(t, few, cfg, 0), 1, WeightOptions{Kind: Covariate})
	b := weigh(t, fitOwn(t, wide, cfg, 0), 1, WeightOptions{Kind: Covariate})
	if correlation, _ := agreement(b.LogOmega, a.LogOmega); !(correlation > .8) {
		t.Errorf("log omega of copies has a correlation of %.3f with that of the columns", correlation)
	}
	found, err := FindDrift(t.Context(), wide, cfg, 0)
	if err != nil || found.Columns.P > .05 || found.Score.P > .05 {
		t.Errorf("drift: %+v, %v", found, err)
	}
}

// TestFewMove: of 2,000 columns of 200 rows 20 move, and g sees it.
func TestFewMove(t *testing.T) {
	demand.Slow(t)
	rng := random.New(1, "few move")
	d, exact := Table{Dim: 2000}, make([]float64, 200)
	for i := range exact {
		u := float64(i/10) / 19
		for j := range d.Dim {
			v := rng.NormFloat64()
			if j%100 == 0 {
				v += 3 * u
				exact[i] += logNormal(v-3) - logNormal(v-3*u)
			}
			d.X = append(d.X, float32(v))
		}
		d.Time = append(d.Time, u)
	}
	cfg := DefaultConfig()
	cfg.Kinds, cfg.Candidates, cfg.Ensemble = []Kind{Covariate}, cfg.Candidates[:1], 1
	w := weigh(t, fitOwn(t, d, cfg, 0), 1, WeightOptions{Kind: Covariate})
	if correlation, _ := agreement(w.LogOmega, exact); !(correlation > .35) {
		t.Errorf("log omega has a correlation of %.3f with the exact log ratio", correlation)
	}
}
