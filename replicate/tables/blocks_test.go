package tables

import (
	"fmt"
	"testing"

	"tvps/data/table"
)

// TestBlocks: at most 60 blocks, complete at the end, and no row is lost.
func TestBlocks(t *testing.T) {
	for _, c := range []struct{ times, each, blocks, per, first int }{
		{50, 100, 50, 1, 1}, {60, 30, 60, 1, 1}, {61, 100, 31, 2, 1}, {125, 100, 42, 3, 2}, {50, 3, 5, 10, 10},
		{2, 1, 2, 1, 1},
	} {
		times := &table.Times{}
		for i := range c.times {
			times.Values, times.Names = append(times.Values, float64(i)), append(times.Names, fmt.Sprint(i))
			times.Counts = append(times.Counts, c.each)
		}
		list, per := blocksOf(times, c.times)
		rows := 0
		for _, block := range list {
			rows += block.Rows
		}
		last := list[len(list)-1]
		if len(list) != c.blocks || per != c.per || list[0].Rows != c.first*c.each || last.Rows != c.per*c.each ||
			rows != c.times*c.each || last.Value != float64(c.times)-float64(c.per+1)/2 {
			t.Errorf("%d times: %d blocks of %d, the first of %d rows, the last %+v", c.times, len(list), per,
				list[0].Rows, last)
		}
	}
}
