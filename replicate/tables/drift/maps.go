package drift

import (
	"slices"

	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/tables"

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
	In    string      `json:"in"` // tables.InX, tables.InBoth or tables.InRule
	Worth [][]float64 `json:"worth"`
}

// mapRows bounds the rows of a block in a map.
const mapRows = 100

// maps makes the maps: of x; with a label also of x and y, and of y given x.
func (m *measurement) maps(progress func(share float64)) ([]Map, error) {
	var rows, of []int
	for b := range m.Blocks {
		for _, row := range tables.Thin(between(m.Of, b, b+1), mapRows) {
			rows, of = append(rows, row), append(of, b)
		}
	}
	d := m.Data.Rows(rows)
	kinds := []crossfit.Kind{crossfit.Covariate, crossfit.Joint}
	out := []Map{{In: tables.InX}, {In: tables.InBoth}, {In: tables.InRule}}
	if !m.Data.HasY() {
		kinds, out = kinds[:1], out[:1]
	}
	for at, block := range m.Blocks {
		progress(float64(at) / float64(len(m.Blocks)))
		var logs [][]float64
		for _, kind := range kinds {
			w, err := m.g.WeightsOf(m.ctx, d, block.Last, crossfit.WeightOptions{Kind: kind})
			if err != nil {
				return nil, err
			}
			logs = append(logs, w.LogOmega)
		}
		if len(logs) == 2 { // that of y given x
			logs = append(logs, floats.SubTo(make([]float64, len(d.Time)), logs[1], logs[0]))
		}
		for i := range out {
			out[i].add(logs[i], of, len(m.Blocks))
		}
	}
	return out, nil
}

// add appends the row of a T. logs: log omega of rows, of: their blocks.
func (m *Map) add(logs []float64, of []int, blocks int) {
	worth, count := tables.Likeness(logs, of, blocks)
	floats.Div(worth, count)
	m.Worth = append(m.Worth, worth)
}

// turn is the block that differs most from the one before it; 0 if none differs. It is sharp if they differ at least
// twice as much as neighbours typically do.
func (m *Map) turn() (block int, sharp bool) {
	change := make([]float64, len(m.Worth)-1)
	for b := range change {
		change[b] = 1 - (m.Worth[b+1][b]+m.Worth[b][b+1])/2
	}
	at := floats.MaxIdx(change)
	most := change[at]
	if most <= 0 {
		return 0, false
	}
	slices.Sort(change)
	return at + 1, most >= 2*change[len(change)/2]
}
