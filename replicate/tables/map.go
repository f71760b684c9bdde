package tables

import (
	"math"
	"slices"

	"tvps/gomlx_models/propensity/crossfit"

	"gonum.org/v1/gonum/floats"
)

// Map says how much each block is worth at each other one:
//
//	Worth[T][t] = mean over rows i of block t of min(omega(x_i, T, t), 1).
//
// Its expectation is the integral of min(p_T, p_t), that is 1 minus the total variation distance of the two blocks:
// 1 if they have one distribution, 0 if no value occurs in both. With omega of y given x it is the mean over x of
// that of the two distributions of y. Each row is weighted by the networks that did not see it.
type Map struct {
	In    string      `json:"in"` // InX, InBoth or InRule
	Worth [][]float64 `json:"worth"`
}

// maps makes the maps.
func (m *measurement) maps(progress func(share float64)) error {
	var rows, of []int
	for b := range m.Blocks {
		for _, row := range thin(between(m.of, b, b+1), mapRows) {
			rows, of = append(rows, row), append(of, b)
		}
	}
	d := m.data.Rows(rows)
	kinds := []crossfit.Kind{crossfit.Covariate, crossfit.Joint, crossfit.Conditional}
	m.Maps = []Map{{In: InX}, {In: InBoth}, {In: InRule}}
	if !m.hasY() {
		m.Maps = m.Maps[:1]
	}
	for at, block := range m.Blocks {
		progress(float64(at) / float64(len(m.Blocks)))
		for i := range m.Maps {
			w, err := m.g.WeightsOf(m.ctx, d, block.Value, crossfit.WeightOptions{Kind: kinds[i]})
			if err != nil {
				return err
			}
			m.Maps[i].add(w.LogOmega, of, len(m.Blocks))
		}
	}
	return nil
}

// mapOf is the map of a subject.
func (r *Drift) mapOf(in string) *Map {
	return &r.Maps[slices.IndexFunc(r.Maps, func(m Map) bool { return m.In == in })]
}

// whole is the map of all that a row has: x, and y if there is a label.
func (r *Drift) whole() *Map { return &r.Maps[min(1, len(r.Maps)-1)] }

// add appends the row of a T. logs: log omega of rows, of: their blocks.
func (m *Map) add(logs []float64, of []int, blocks int) {
	worth, count := make([]float64, blocks), make([]float64, blocks)
	for i, v := range logs {
		worth[of[i]] += min(1, math.Exp(v))
		count[of[i]]++
	}
	for b := range worth {
		worth[b] /= count[b]
	}
	m.Worth = append(m.Worth, worth)
}

// turn is the block that differs most from the one before it. It is sharp if they differ at least twice as much as
// neighbours typically do.
func (m *Map) turn() (block int, sharp bool) {
	change := make([]float64, len(m.Worth)-1)
	for b := range change {
		change[b] = 1 - (m.Worth[b+1][b]+m.Worth[b][b+1])/2
	}
	at := floats.MaxIdx(change)
	most := change[at]
	slices.Sort(change)
	return at + 1, most >= 2*change[len(change)/2]
}
