package drift

import (
	"math"

	"tvps/gomlx_models/propensity"
)

// Map says how much each block is worth at each other one:
//
//	Worth[T][t] = mean over rows i of block t of min(omega(x_i, T, t), 1).
//
// Its expectation is the integral of min(p_T, p_t), that is 1 minus the total variation distance of the two blocks: 1 if
// they have one distribution, 0 if no value occurs in both. With omega of y given x it is the mean over x of that of the
// two distributions of y. Each row is weighted by the networks that did not see it.
type Map struct {
	Kind  propensity.Kind `json:"kind"`
	Worth [][]float64     `json:"worth"`
}

// maps makes Map, and with a label Rule.
func (m *measurement) maps(progress func(share float64)) error {
	var rows, of []int
	for b := range m.Blocks {
		for _, row := range thin(between(m.of, b, b+1), mapRows) {
			rows, of = append(rows, row), append(of, b)
		}
	}
	d := pick(m.d, rows)
	kinds := []propensity.Kind{m.kind()}
	m.Map = &Map{Kind: m.kind()}
	if m.kind() == propensity.Joint {
		kinds = append(kinds, propensity.Covariate)
		m.Rule = &Map{Kind: propensity.Conditional}
	}
	for at, block := range m.Blocks {
		progress(float64(at) / float64(len(m.Blocks)))
		var logs [2][]float64
		for i, kind := range kinds {
			w, err := m.g.WeightsOf(m.ctx, d, block.Value, propensity.WeightOptions{Kind: kind})
			if err != nil {
				return err
			}
			logs[i] = w.LogOmega
		}
		m.Map.add(logs[0], of, len(m.Blocks))
		if m.Rule != nil {
			for i := range logs[0] {
				logs[0][i] -= logs[1][i]
			}
			m.Rule.add(logs[0], of, len(m.Blocks))
		}
	}
	return nil
}

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

// turn is the block that differs most from the one before it.
func (m *Map) turn() int {
	at, least := 1, math.Inf(1)
	for b := 1; b < len(m.Worth); b++ {
		if w := m.Worth[b][b-1] + m.Worth[b-1][b]; w < least {
			at, least = b, w
		}
	}
	return at
}
