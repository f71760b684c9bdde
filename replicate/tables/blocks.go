package tables

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"tvps/data/table"
	"tvps/gomlx_models/loop"
	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/runs"

	"github.com/gomlx/gomlx/support/xslices"
)

// Block is a time, or several neighbouring times of a table that has more than mostBlocks.
type Block struct {
	Name  string  `json:"name"` // its first time
	Value float64 `json:"time"` // mean of its times, as table.Times has them
	Rows  int     `json:"rows"`
	Last  float64 `json:"-"` // of its times
}

// Bounds of the work, whatever the size of the table.
const (
	mostBlocks = 60    // of time
	leastRows  = 30    // of a block, on average
	mostRows   = 60000 // that are tested for drift
)

// blocksOf groups the times of some rows of a table: at most mostBlocks, of leastRows on average. All have per times.
// The first one may have fewer, so that the present is complete.
func blocksOf(t *table.Times, rows []int) (list []Block, per int) {
	counts := make([]int, len(t.Values))
	for _, row := range rows {
		counts[t.Index[row]]++
	}
	times := slices.DeleteFunc(xslices.Iota(0, len(counts)), func(at int) bool { return counts[at] == 0 })
	n := len(times)
	most := min(n, max(2, min(mostBlocks, len(rows)/leastRows)))
	per = (n + most - 1) / most
	for to := n; to > 0; to -= per {
		from := max(0, to-per)
		block := Block{Name: t.Names[times[from]]}
		for _, at := range times[from:to] {
			block.Value += t.Values[at] / float64(to-from)
			block.Rows, block.Last = block.Rows+counts[at], t.Values[at]
		}
		list = append(list, block)
	}
	slices.Reverse(list)
	return list, per
}

// joinPresent takes the last block together with the one before if it has so few rows that nothing can be compared with
// it: tables often end within a week or month. It returns the number of its rows, 0 if it has enough.
func joinPresent(list []Block) (joined []Block, few int) {
	last := len(list) - 1
	rows := slices.Sorted(slices.Values(xslices.Map(list, func(b Block) int { return b.Rows })))
	if few = list[last].Rows; last < 2 || few >= leastRows || 2*few >= rows[len(rows)/2] {
		return list, 0
	}
	before := &list[last-1]
	before.Rows, before.Value, before.Last = before.Rows+few, (before.Value+list[last].Value)/2, list[last].Last
	return list[:last], few
}

// Sample holds the rows that answer whether the table drifts, in order of time.
type Sample struct {
	Blocks  []Block
	Of      []int          // block of each row, ascending
	Data    crossfit.Table // Order is the place
	Encoder *table.Encoder
	notes   []string // what was left out
	Merged  []string // notes on Blocks, for those who show them: the tests of Find have no blocks
	hidden  []string // what hides drift of y given x
}

// thin keeps n of the rows of a block, of all entities alike, in order of time.
func (s *Stream) thin(rows []int, n int) []int {
	if s.Group == nil || len(rows) <= n {
		return Thin(rows, n)
	}
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(s.Group[a], s.Group[b]) })
	rows = Thin(rows, n)
	s.Sort(rows)
	return rows
}

// sampleOf chooses rows of all, which are in order of time.
func (s *Stream) sampleOf(all []int) (*Sample, error) {
	list, per := blocksOf(s.Times, all)
	list, few := joinPresent(list)
	out := &Sample{Blocks: list}
	limit := mostRows / len(list)
	var rows []int
	left := all
	for i, block := range list {
		kept := s.thin(left[:block.Rows], limit)
		left = left[block.Rows:]
		rows = append(rows, kept...)
		out.Of = append(out.Of, slices.Repeat([]int{i}, len(kept))...)
	}
	if per > 1 {
		const note = "the map and the tests over time merge %d times to a block, %d blocks in all"
		out.Merged = append(out.Merged, fmt.Sprintf(note, per, len(list)))
	}
	if len(rows) < len(all) {
		out.notes = append(out.notes, fmt.Sprintf("drift was tested on %d of %d rows, spread over the time, at most %d "+
			"of a block", len(rows), len(all), limit))
	}
	if few > 0 {
		out.Merged = append(out.Merged, fmt.Sprintf("%s, the last block, has %s, too few to compare: the present is this block and "+
			"the one before, %s", ShortName(s.Times.Names[s.Times.Index[all[len(all)-1]]]), runs.Plural(few, "row"),
			ShortName(list[len(list)-1].Name)))
	}
	if label := s.Label; label != nil && label.Classes() > crossfit.MostApart {
		out.notes = append(out.notes, fmt.Sprintf("%s has %d classes: the tests of y given x, and of y over time, take all "+
			"but the %d most frequent as one", label.Column, label.Classes(), crossfit.MostApart))
	}
	var err error
	if out.Data, out.Encoder, err = s.Data(rows); err != nil {
		return nil, err
	}
	exact := out.Data
	if repeated(exact)*100 > len(rows) && s.Source.Time != "" && s.Source.Bin != (table.Bin{}) {
		times, err := s.Table.Times(s.Source.Time, table.Bin{})
		if err != nil {
			return nil, err
		}
		exact.Time = loop.Pick(times.Of(), rows)
	}
	if again := repeated(exact); again*100 > len(rows) {
		out.notes = append(out.notes, fmt.Sprintf("%d of %d rows repeat another of the same time in all columns, and the tests take "+
			"them for rows of their own, which find drift where there is none: drop them if the table was appended twice", again, len(rows)))
	}
	for i := range out.Of {
		out.Data.Order[i] = float64(i)
	}
	return out, nil
}

// repeated is the number of rows that repeat an earlier one of the same time. It is 0 if no column has another value in
// nearly all other rows (in most, if a quarter repeat): then rows are alike by chance, as those are in which such a
// column has a frequent value, say none.
func repeated(d crossfit.Table) (again int) {
	value := func(i, j int) float64 {
		if j < d.Dim {
			return float64(d.X[i*d.Dim+j])
		}
		return d.Y(i)
	}
	columns, first := make([]map[float64]int, d.Dim+1), map[string]int{} // rows of each value; the first row of each kind
	of := make([]int, len(d.Time))
	for j := range columns {
		columns[j] = map[float64]int{}
	}
	for i, at := range d.Time {
		key := binary.LittleEndian.AppendUint64(nil, math.Float64bits(at))
		if d.Group != nil {
			key = binary.LittleEndian.AppendUint32(key, uint32(d.Group[i]))
		}
		for j := range columns {
			columns[j][value(i, j)]++
			key = binary.LittleEndian.AppendUint64(key, math.Float64bits(value(i, j)))
		}
		if _, ok := first[string(key)]; !ok {
			first[string(key)] = i
		}
		of[i] = first[string(key)]
	}
	most := .9 * float64(len(first))
	if 4*len(first) < 3*len(d.Time) {
		most = .5 * float64(len(first))
	}
	for i := range d.Time {
		tells := func(j int, values map[float64]int) bool {
			return float64(len(values)) > most && values[value(i, j)] <= max(9, len(d.Time)/50)
		}
		for j, values := range columns {
			if of[i] < i && tells(j, values) {
				again++
				break
			}
		}
	}
	return again
}

// Unlike is the mean of min(omega, 1) below which rows have less than half of their distribution in common with others.
const Unlike = .5

// Likeness is the sum of min(omega, 1) over the rows of each block, and their number. logs: log omega of rows, of:
// their blocks.
func Likeness(logs []float64, of []int, blocks int) (sum, count []float64) {
	sum, count = make([]float64, blocks), make([]float64, blocks)
	for i, v := range logs {
		sum[of[i]] += min(1, math.Exp(v))
		count[of[i]]++
	}
	return sum, count
}
