package drift

import (
	"math"
	"slices"

	"tvps/gomlx_models/loop"
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
//
// Where g sees a phase that several times of a block differ in, omega is that of two blocks: of the means of p over
// their times.
type Map struct {
	In    string      `json:"in"` // tables.InX, tables.InBoth or tables.InRule
	Worth [][]float64 `json:"worth"`
}

// mapRows bounds the rows of a block in a map. Where g sees a phase it has fewer, at several times.
const mapRows, phaseRows, phaseTimes = 100, 40, 7

// maps makes the maps: of x; with a label also of x and y, and of y given x.
func (m *measurement) maps() ([]Map, error) {
	kinds := []crossfit.Kind{crossfit.Covariate, crossfit.Joint}
	out := []Map{{In: tables.InX}, {In: tables.InBoth}, {In: tables.InRule}}
	if !m.Data.HasY() {
		kinds, out = kinds[:1], out[:1]
	}
	most := mapRows
	if slices.ContainsFunc(kinds, m.phase) {
		most = phaseRows
	}
	var rows, of []int
	for b := range m.Blocks {
		for _, row := range tables.Thin(between(m.Of, b, b+1), most) {
			rows, of = append(rows, row), append(of, b)
		}
	}
	d := m.Data.Rows(rows)
	logs := make([][][]float64, len(kinds)) // [kind][block]: log omega of all rows
	for at := range m.Blocks {
		for k, kind := range kinds {
			var sum []float64
			times := m.mapTimes(at, kind)
			for i, T := range times {
				w, err := m.g.WeightsOf(m.ctx, d, T, crossfit.WeightOptions{Kind: kind})
				if err != nil {
					return nil, err
				}
				if i == 0 {
					sum = w.LogOmega
					continue
				}
				for row, v := range w.LogOmega {
					sum[row] = max(sum[row], v) + math.Log1p(math.Exp(-math.Abs(sum[row]-v)))
				}
			}
			floats.AddConst(-math.Log(float64(len(times))), sum)
			logs[k] = append(logs[k], sum)
		}
	}
	for at := range m.Blocks {
		var ofBlock [][]float64
		for k, kind := range kinds {
			v := slices.Clone(logs[k][at])
			if m.phase(kind) {
				for row, own := range of {
					v[row] -= logs[k][own][row]
				}
			}
			ofBlock = append(ofBlock, v)
		}
		if len(kinds) == 2 { // that of y given x
			ofBlock = append(ofBlock, floats.SubTo(make([]float64, len(of)), ofBlock[1], ofBlock[0]))
		}
		for i := range out {
			out[i].add(ofBlock[i], of, len(m.Blocks))
		}
	}
	return out, nil
}

// mapTimes are the times at which a block is looked at: the last one, or several where g sees a phase.
func (m *measurement) mapTimes(block int, kind crossfit.Kind) []float64 {
	if !m.phase(kind) {
		return []float64{m.Blocks[block].Last}
	}
	rows := between(m.Of, block, block+1)
	times := loop.Pick(m.Data.Time, rows)
	slices.Sort(times)
	return tables.Thin(slices.Compact(times), phaseTimes)
}

// phase tells whether the g of a kind sees a phase.
func (m *measurement) phase(kind crossfit.Kind) bool {
	g := m.g.Covariate
	if kind == crossfit.Joint {
		g = m.g.Joint
	}
	return g.View.Cycle != nil
}

// add appends the row of a T. logs: log omega of rows, of: their blocks.
func (m *Map) add(logs []float64, of []int, blocks int) {
	worth, count := tables.Likeness(logs, of, blocks)
	floats.Div(worth, count)
	m.Worth = append(m.Worth, worth)
}

// turn is the block that differs most from the one before it; 0 if none differs. It is sharp if they differ at least
// twice as much as neighbours typically do, or are all. blocks: a first one of few rows, such as a week's last day, is
// left out.
func (m *Map) turn(blocks []tables.Block) (block int, sharp bool) {
	change := make([]float64, len(m.Worth)-1)
	for b := range change {
		change[b] = 1 - (m.Worth[b+1][b]+m.Worth[b][b+1])/2
	}
	if 2*blocks[0].Rows < blocks[1].Rows && len(blocks) > 2 {
		change[0] = 0
	}
	at := floats.MaxIdx(change)
	most := change[at]
	if most <= 0 {
		return 0, false
	}
	slices.Sort(change)
	return at + 1, len(change) == 1 || most >= 2*change[(len(change)-1)/2]
}
