package drift

import (
	"slices"

	"tvps/data/table"
	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/own"
)

// blocks groups the times of a table: at most mostBlocks, of leastRows on average. All have per times, but the first
// one may have fewer, so that the present is complete.
type blocks struct {
	list []Block
	per  int
	from []int // the first time of each block, then the number of times
	of   []int // block of each row that is used, ascending
}

func blocksOf(t *table.Times) *blocks {
	n, rows := len(t.Values), 0
	for _, count := range t.Counts {
		rows += count
	}
	most := min(n, max(2, min(mostBlocks, rows/leastRows)))
	b := &blocks{per: (n + most - 1) / most}
	count := (n + b.per - 1) / b.per
	for i := range count {
		b.from = append(b.from, max(0, n-(count-i)*b.per))
	}
	b.from = append(b.from, n)
	for i, from := range b.from[:count] {
		block := Block{Name: t.Names[from]}
		for at := from; at < b.from[i+1]; at++ {
			block.Value += t.Values[at] / float64(b.from[i+1]-from)
			block.Rows += t.Counts[at]
		}
		b.list = append(b.list, block)
	}
	return b
}

// rows lists the rows to use, in order of time, and tells whether some were left out.
func (b *blocks) rows(s *own.Stream) (rows []int, thinned bool) {
	limit := mostRows / len(b.list)
	all := s.Rows(0, len(s.Times.Values))
	s.Sort(all)
	for i, block := range b.list {
		kept := thin(all[:block.Rows], limit)
		all = all[block.Rows:]
		thinned = thinned || len(kept) < block.Rows
		rows = append(rows, kept...)
		b.of = append(b.of, slices.Repeat([]int{i}, len(kept))...)
	}
	return rows, thinned
}

// retime gives the rows the times of their blocks.
func (b *blocks) retime(d *crossfit.Table) {
	for i, block := range b.of {
		d.Time[i], d.Order[i] = b.list[block].Value, float64(i)
	}
}

// thin keeps n of the values, or all if they are fewer, at regular distances.
func thin[T any](list []T, n int) []T {
	if len(list) <= n {
		return list
	}
	out := make([]T, n)
	for i := range out {
		out[i] = list[i*len(list)/n]
	}
	return out
}

// pick returns rows of a table in the given order; Order is left out if it is nil.
func pick(d crossfit.Table, rows []int) crossfit.Table {
	out := crossfit.Table{Dim: d.Dim, Classes: d.Classes}
	for _, i := range rows {
		out.X = append(out.X, d.X[i*d.Dim:(i+1)*d.Dim]...)
		out.Time = append(out.Time, d.Time[i])
		if d.Label != nil {
			out.Label = append(out.Label, d.Label[i])
		}
		if d.Target != nil {
			out.Target = append(out.Target, d.Target[i])
		}
		if d.Order != nil {
			out.Order = append(out.Order, d.Order[i])
		}
	}
	return out
}
