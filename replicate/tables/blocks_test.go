package tables

import (
	"fmt"
	"slices"
	"testing"

	"tvps/data/table"
)

// TestPresent: a last block of few rows is joined with the one before, where the others have many.
func TestPresent(t *testing.T) {
	for _, c := range []struct {
		rows []int
		want []int
	}{{[]int{100, 100, 100, 3}, []int{100, 100, 103}}, {[]int{100, 100, 30}, []int{100, 100, 30}}, {[]int{9, 10, 8}, []int{9, 10, 8}},
		{[]int{100, 3}, []int{100, 3}}} {
		list := Collect(c.rows, func(n int) Block { return Block{Name: fmt.Sprint(n), Value: float64(n), Rows: n} })
		list, few := joinPresent(list)
		got := Collect(list, func(b Block) int { return b.Rows })
		if !slices.Equal(got, c.want) || (few > 0) != (len(got) < len(c.rows)) {
			t.Errorf("%v: %v, %d few", c.rows, got, few)
		}
	}
}

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
