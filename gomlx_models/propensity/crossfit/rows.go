package crossfit

import (
	"cmp"
	"math"
	"slices"
)

// sortedRows are the rows of a table in their canonical order, which does not depend on the order
// in which they are given, with fold and chunk of each.
type sortedRows struct {
	at    []int    // position -> row of the table
	hash  []uint64 // by position
	times int      // number of different times
	chunk []int32  // by position, from 0
	fold  []uint8  // by position
}

// sortRows sorts rows by time, order and contents. The contents enter as a hash: sorted by
// value, a chunk of equal times would hold similar rows. columns: their canonical order.
func sortRows(d Table, columns []int) *sortedRows {
	n := len(d.Time)
	r := &sortedRows{at: make([]int, n)}
	hash := make([]uint64, n)
	for i := range r.at {
		r.at[i], hash[i] = i, rowHash(d, columns, i)
	}
	slices.SortFunc(r.at, func(a, b int) int {
		if c := cmp.Compare(d.Time[a], d.Time[b]); c != 0 {
			return c
		}
		if d.Order != nil {
			if c := cmp.Compare(d.Order[a], d.Order[b]); c != 0 {
				return c
			}
		}
		return cmp.Compare(hash[a], hash[b])
	})
	r.hash = make([]uint64, n)
	for i, row := range r.at {
		r.hash[i] = hash[row]
		if i == 0 || d.Time[row] != d.Time[r.at[i-1]] {
			r.times++
		}
	}
	return r
}

// rowHash is a 64-bit hash of all that a row has. It is the same on every machine.
func rowHash(d Table, columns []int, i int) uint64 {
	h := mix(0x9e3779b97f4a7c15, math.Float64bits(d.Time[i]+0)) // + 0: -0 and 0 are equal
	x := d.X[i*d.Dim : (i+1)*d.Dim]
	for _, j := range columns {
		h = mix(h, uint64(math.Float32bits(x[j]+0)))
	}
	if d.Label != nil {
		h = mix(h, uint64(d.Label[i]))
	}
	if d.Target != nil {
		h = mix(h, math.Float64bits(d.Target[i]+0))
	}
	if d.Order != nil {
		h = mix(h, math.Float64bits(d.Order[i]+0))
	}
	return h
}

// mix adds a word to a hash (the finaliser of SplitMix64).
func mix(h, word uint64) uint64 {
	h ^= word + 0x9e3779b97f4a7c15 + h<<6 + h>>2
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// chunksPerFold is the number of contiguous chunks of a fold: so many that the stretches that a
// fold's g does not see are short, and so few that neighbouring rows stay together.
const chunksPerFold = 10

// deal cuts the rows into contiguous chunks and deals them to folds in turn. With few times
// every time is cut into one chunk for each fold. Otherwise all rows are cut into chunksPerFold
// chunks for each fold.
func (r *sortedRows) deal(d Table, folds int) {
	n, few := len(r.at), r.times < chunksPerFold*folds
	var cuts []int
	if few {
		cuts = r.cutTimes(d, folds)
	} else {
		cuts = cutEvenly(n, chunksPerFold*folds)
	}
	r.chunk, r.fold = chunksOf(cuts, n), make([]uint8, n)
	for i, chunk := range r.chunk {
		c := int(chunk)
		if few {
			c += c / folds // another fold gets the first chunk of the next time
		}
		r.fold[i] = uint8(c % folds)
	}
	for i := 1; i < n; i++ { // equal rows stay together
		if r.hash[i] == r.hash[i-1] {
			r.chunk[i], r.fold[i] = r.chunk[i-1], r.fold[i-1]
		}
	}
}

// cutTimes cuts each time into parts. It returns the first position of each part.
func (r *sortedRows) cutTimes(d Table, parts int) []int {
	var cuts []int
	for from := 0; from < len(r.at); {
		to := from + 1
		for to < len(r.at) && d.Time[r.at[to]] == d.Time[r.at[from]] {
			to++
		}
		for k := range parts {
			cuts = append(cuts, from+(to-from)*k/parts)
		}
		from = to
	}
	return cuts
}

// cutEvenly cuts n positions into parts.
func cutEvenly(n, parts int) []int {
	cuts := make([]int, parts)
	for k := range cuts {
		cuts[k] = n * k / parts
	}
	return cuts
}

// chunksOf returns the chunk of each of n positions. cuts: the first position of each chunk, from 0; a chunk that
// starts where the next one does is empty.
func chunksOf(cuts []int, n int) []int32 {
	out := make([]int32, n)
	for c, from := range cuts {
		to := n
		if c+1 < len(cuts) {
			to = cuts[c+1]
		}
		for i := from; i < to; i++ {
			out[i] = int32(c)
		}
	}
	return out
}

// folds maps each row's hash to its fold.
func (r *sortedRows) folds() map[uint64]uint8 {
	out := make(map[uint64]uint8, len(r.hash))
	for i, h := range r.hash {
		out[h] = r.fold[i]
	}
	return out
}

// shapeOfRows computes mean and scale of the columns, each list in the order given. The scale is the standard
// deviation; of a column of two values, such as one level of a category, half their distance: a rare level would
// otherwise be a large number.
func shapeOfRows(d Table, columns, at []int) shape {
	s := shape{Dim: d.Dim, Classes: d.Classes, Target: d.Target != nil, Columns: columns, TargetScale: 1}
	mean, square := make([]float64, d.Dim), make([]float64, d.Dim)
	n := float64(len(at))
	low, high := slices.Clone(d.X[:d.Dim]), slices.Clone(d.X[:d.Dim])
	for _, row := range at {
		for j, v := range d.X[row*d.Dim : (row+1)*d.Dim] {
			mean[j] += float64(v)
			low[j], high[j] = min(low[j], v), max(high[j], v)
		}
	}
	two := slices.Repeat([]bool{true}, d.Dim) // columns of two values
	for j := range mean {
		mean[j] /= n
	}
	for _, row := range at {
		for j, v := range d.X[row*d.Dim : (row+1)*d.Dim] {
			e := float64(v) - mean[j]
			square[j] += e * e
			two[j] = two[j] && (v == low[j] || v == high[j])
		}
	}
	for _, j := range columns {
		sd := math.Sqrt(square[j] / n)
		if two[j] {
			sd = float64(high[j]-low[j]) / 2
		}
		if !(sd > 1e-6*math.Abs(mean[j])) || sd < math.SmallestNonzeroFloat32*1e7 { // constant up to rounding
			sd = 1
		}
		s.Mean, s.Scale = append(s.Mean, float32(mean[j])), append(s.Scale, float32(sd))
	}
	if d.Target != nil {
		sum := 0.0
		for _, row := range at {
			s.TargetMean += d.Target[row] / n
		}
		for _, row := range at {
			e := d.Target[row] - s.TargetMean
			sum += e * e / n
		}
		if sd := math.Sqrt(sum); sd > 1e-12*math.Abs(s.TargetMean) && !math.IsInf(sd, 0) {
			s.TargetScale = sd
		}
	}
	return s
}
