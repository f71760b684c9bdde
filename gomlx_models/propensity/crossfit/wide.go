package crossfit

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// A table is turned if it has more columns than rows and leastTurned, below which that gains little time, and at most
// mostTurned rows: principal components take the third power of their number.
const leastTurned, mostTurned = 1000, 2000

// turn is a rotation of a table with more columns than rows onto its principal components. Its rows of normal scores
// span no more dimensions than there are rows, so a first layer, which is linear, can tell them apart by so many
// numbers: trained on these, g takes the time that they do, and not that of all columns. A layer with normal initial
// values has in the rotated space the same distribution as before, as the components are scaled by sqrt(rank /
// columns).
type turn struct {
	axes mat.Matrix // [columns, rank], with columns in canonical order
}

// turned returns the rotation of a wide table and the rotated rows [rows, rank], or nil and the scores if there are
// enough rows, or too many. scores: those of dim columns; at: the rows in canonical order.
func turned(scores []float32, dim int, at []int) (*turn, []float32) {
	n := len(at)
	if dim <= max(n, leastTurned) || n > mostTurned {
		return nil, scores
	}
	x := mat.NewDense(n, dim, nil)
	for i, row := range at {
		for k := range dim {
			x.Set(i, k, float64(scores[row*dim+k]))
		}
	}
	var gram mat.SymDense
	gram.SymOuterK(1, x)
	var eigen mat.EigenSym
	if !eigen.Factorize(&gram, true) {
		return nil, scores
	}
	value := eigen.Values(nil) // ascending
	first := slices.IndexFunc(value, func(v float64) bool { return v > 1e-10*value[n-1] })
	if first < 0 {
		return nil, scores // all columns are constant
	}
	rank := n - first
	var vectors, axes, z mat.Dense
	eigen.VectorsTo(&vectors)
	parts := mat.DenseCopyOf(vectors.Slice(0, n, first, n))
	scale := math.Sqrt(float64(rank) / float64(dim))
	axes.Mul(x.T(), parts)
	axes.Apply(func(_, j int, v float64) float64 { return v * scale / math.Sqrt(value[first+j]) }, &axes)
	z.Mul(x, &axes)
	table := make([]float32, n*rank)
	for i, row := range at {
		for j := range rank {
			table[row*rank+j] = float32(z.At(i, j))
		}
	}
	return &turn{&axes}, table
}

func (t *turn) rank() int {
	_, rank := t.axes.Dims()
	return rank
}

// back replaces the weights of a first layer [rank + more, hidden] by those for the columns of the table. The inputs
// after the components stay.
func (t *turn) back(weights []float32, hidden int) []float32 {
	columns, rank := t.axes.Dims()
	w := mat.NewDense(rank, hidden, nil)
	for i := range rank {
		for j := range hidden {
			w.Set(i, j, float64(weights[i*hidden+j]))
		}
	}
	var product mat.Dense
	product.Mul(t.axes, w)
	out := make([]float32, 0, columns*hidden)
	for i := range columns {
		for j := range hidden {
			out = append(out, float32(product.At(i, j)))
		}
	}
	return append(out, weights[rank*hidden:]...)
}
