package tables

import (
	"fmt"
	"slices"

	"tvps/data/table"
	"tvps/gomlx_models/propensity/crossfit"
)

// Block is a time, or several neighbouring times of a table that has more than mostBlocks.
type Block struct {
	Name  string  `json:"name"` // its first time
	Value float64 `json:"time"` // mean of its times, as table.Times has them
	Rows  int     `json:"rows"`
}

// Bounds of the work, whatever the size of the table.
const (
	mostBlocks = 60    // of time
	leastRows  = 30    // of a block, on average
	mostRows   = 60000 // that are tested for drift
)

// blocksOf groups the first n times of a table: at most mostBlocks, of leastRows on average. All have per times. The
// first one may have fewer, so that the present is complete.
func blocksOf(t *table.Times, n int) (list []Block, per int) {
	rows := 0
	for _, count := range t.Counts[:n] {
		rows += count
	}
	most := min(n, max(2, min(mostBlocks, rows/leastRows)))
	per = (n + most - 1) / most
	for to := n; to > 0; to -= per {
		from := max(0, to-per)
		block := Block{Name: t.Names[from]}
		for at := from; at < to; at++ {
			block.Value += t.Values[at] / float64(to-from)
			block.Rows += t.Counts[at]
		}
		list = append(list, block)
	}
	slices.Reverse(list)
	return list, per
}

// Sample holds the rows that answer whether the table drifts: in order of time, with the times of their blocks.
type Sample struct {
	Blocks  []Block
	Of      []int          // block of each row, ascending
	Data    crossfit.Table // Time is that of the block, Order the place
	Encoder *table.Encoder
	notes   []string // what was merged and left out
	hidden  []string // what hides drift of y given x
}

// sampleOf chooses rows of the first n times. all: these rows, in order of time.
func (s *Stream) sampleOf(all []int, n int) (*Sample, error) {
	list, per := blocksOf(s.Times, n)
	out := &Sample{Blocks: list}
	limit := mostRows / len(list)
	var rows []int
	left := all
	for i, block := range list {
		kept := Thin(left[:block.Rows], limit)
		left = left[block.Rows:]
		rows = append(rows, kept...)
		out.Of = append(out.Of, slices.Repeat([]int{i}, len(kept))...)
	}
	if per > 1 {
		out.notes = append(out.notes, fmt.Sprintf("the tests for drift merge %d times to %d blocks of %d", n, len(list), per))
	}
	if len(rows) < len(all) {
		out.notes = append(out.notes, fmt.Sprintf("drift was tested on %d of %d rows: every n-th in time order, at most %d "+
			"of a block", len(rows), len(all), limit))
	}
	var err error
	if out.Data, out.Encoder, err = s.Data(rows); err != nil {
		return nil, err
	}
	for i, block := range out.Of {
		out.Data.Time[i], out.Data.Order[i] = list[block].Value, float64(i)
	}
	return out, nil
}
