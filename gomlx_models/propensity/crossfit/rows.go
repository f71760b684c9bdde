package crossfit

import (
	"cmp"
	"math"
	"slices"

	"github.com/gomlx/gomlx/support/xslices"
)

// sortedRows are the rows of a table in their canonical order, which does not depend on the order
// in which they are given, with the fold of each.
type sortedRows struct {
	at    []int     // position -> row of the table
	hash  []uint64  // by position
	times []float64 // that differ, ascending
	fold  []uint8   // by position
	x     []float32 // what networks see of x, by row of the table
}

// sortRows sorts rows by time, order and contents. The contents enter as a hash: sorted by
// value, a chunk of equal times would hold similar rows. Without Order the hash has also which of its equals a row is,
// so that equal rows lie among the others: side by side they would be held out together, and seem to depend on each
// other. columns: their canonical order.
func sortRows(d Table, columns []int) *sortedRows {
	n := len(d.Time)
	r := &sortedRows{at: xslices.Iota(0, n), hash: make([]uint64, n)}
	hash := make([]uint64, n)
	for i := range hash {
		hash[i] = rowHash(d, columns, i)
	}
	key := slices.Clone(hash)
	if d.Order == nil {
		equals := map[uint64]uint64{} // so far
		for i, h := range hash {
			if d.Group != nil {
				h = mix(h, uint64(d.Group[i]))
			}
			if key[i] = h; equals[h] > 0 {
				key[i] = mix(h, equals[h])
			}
			equals[h]++
		}
	}
	slices.SortFunc(r.at, func(a, b int) int {
		byOrder := 0
		if d.Order != nil {
			byOrder = cmp.Compare(d.Order[a], d.Order[b])
		}
		return cmp.Or(cmp.Compare(d.Time[a], d.Time[b]), byOrder, cmp.Compare(key[a], key[b]))
	})
	for i, row := range r.at {
		r.hash[i] = hash[row]
		if i == 0 || d.Time[row] != d.Time[r.at[i-1]] {
			r.times = append(r.times, d.Time[row])
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

// deal cuts the rows into contiguous chunks and deals them to folds in turn. With few times, or many rows of each,
// every time is cut into one chunk for each fold. Otherwise all rows are cut into chunksPerFold chunks for each fold.
func (r *sortedRows) deal(d Table, folds int) {
	n := len(r.at)
	few := len(r.times) < chunksPerFold*folds || n >= rowsPerTime*len(r.times)
	r.fold = make([]uint8, n)
	for from, first := 0, 0; from < n; first += folds + 1 { // another fold gets the first chunk of the next time
		to, chunks := n, chunksPerFold*folds
		if few {
			to, chunks = from+1, folds
			for to < n && d.Time[r.at[to]] == d.Time[r.at[from]] {
				to++
			}
		}
		for i, c := range evenly(to-from, chunks) {
			r.fold[from+i] = uint8((first + int(c)) % folds)
		}
		from = to
	}
	for i := 1; i < n && d.Order != nil; i++ { // rows that are equal, also in their order, stay together
		if r.hash[i] == r.hash[i-1] {
			r.fold[i] = r.fold[i-1]
		}
	}
}

// evenly cuts n positions into contiguous parts of about the same size, and returns the part of each.
func evenly(n, parts int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(((i+1)*parts - 1) / n)
	}
	return out
}
