package backtest

import (
	"tvps/replicate/runs"

	"github.com/gomlx/gomlx/support/xslices"
)

// metric is the name of a row: a measure of a weighting, or of a prediction without a model.
func metric(measure, of string) string { return measure + ": " + of }

// Past is what the test blocks before one have given.
type Past struct {
	Measure string               // that compares
	Blocks  []map[string]float64 // value of each metric, by test block
	Rows    []float64            // of each test block
	known   []int                // test blocks whose losses are known before each; nil: all before it
}

// add appends a test block.
func (p *Past) add(of []runs.Row, rows int) {
	values := map[string]float64{}
	for _, r := range of {
		values[r.Metric] = r.Value
	}
	p.Blocks, p.Rows = append(p.Blocks, values), append(p.Rows, float64(rows))
}

// before has the test blocks that are known before block n, or all after the last.
func (p *Past) before(n int) *Past {
	if n < len(p.known) {
		n = p.known[n]
	}
	return &Past{p.Measure, p.Blocks[:n], p.Rows[:n], nil}
}

// Sums has a metric of each test block, summed over its rows.
func (p *Past) Sums(metric string) []float64 {
	out := make([]float64, len(p.Blocks))
	for i, values := range p.Blocks {
		out[i] = values[metric] * p.Rows[i]
	}
	return out
}

// Losses are those of a weighting on each test block, summed over its rows.
func (p *Past) Losses(w Weighting) []float64 { return p.Sums(metric(p.Measure, w.String())) }

// lowest is the weighting with the lowest loss over all blocks, of several the one that was it before. Before the first
// block it is the last of the list.
func lowest(list []Weighting, p *Past) Weighting {
	losses, sums := xslices.Map(list, p.Losses), make([]float64, len(list))
	best := len(sums) - 1
	for block := range p.Blocks {
		for i := range sums {
			sums[i] += losses[i][block]
		}
		for i, s := range sums {
			if s < sums[best] {
				best = i
			}
		}
	}
	return list[best]
}
