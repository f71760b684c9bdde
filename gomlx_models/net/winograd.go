package net

import . "github.com/gomlx/gomlx/core/graph"

// WinogradConv is Conv with a 3x3 kernel and stride 1 by Winograd's F(2x2, 3x3) (Lavin and Gray 2016, Section 4.1): 16
// products of matrices for four outputs, where Conv has 36. Its results differ from those of Conv in the last digits.
// The places of a map come first, so that no product needs a transposition: x is [side, side, batch, in] with an even
// side, the result [side, side, batch, out]. The transforms are dense products over all places of a map, which costs
// little for small maps, as 4x4.
func WinogradConv(s *Scope, x *Node, out int) *Node {
	g, side, batch, in := x.Graph(), x.Shape().Dim(0), x.Shape().Dim(2), x.Shape().Dim(3)
	places, tiles := side*side, side*side/4
	w := s.Weight("kernel", He(9*out), 3, 3, in, out)
	kernels := Reshape(Dot(Const(g, kronecker(winogradG)), Reshape(w, 9, in*out)).Product(), 16, in, out)
	inputs := Reshape(Dot(Const(g, winogradInput(side)), Reshape(x, places, batch*in)).Product(), 16, tiles*batch, in)
	products := Reshape(product(inputs, kernels, 1), 16*tiles, batch*out)
	return Reshape(Dot(Const(g, winogradOutput(side)), products).Product(), side, side, batch, out)
}

// The matrices B^T, G and A^T of F(2, 3): y = A^T ((G w) * (B^T x)) is the correlation of four inputs x with three
// weights w at two places.
var (
	winogradB = [][]float32{{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}}
	winogradG = [][]float32{{1, 0, 0}, {.5, .5, .5}, {.5, -.5, .5}, {0, 0, 1}}
	winogradA = [][]float32{{1, 1, 1, 0}, {0, 1, -1, -1}}
)

// winogradInput is [16*tiles, side*side]: B^T on the four inputs of each tile of two outputs, in both directions. Rows
// are ordered by the product of the 16 that they belong to, then by tile.
func winogradInput(side int) [][]float32 {
	line := zeros(2*side, side) // rows: product of 4, tile
	for u := range 4 {
		for tile := range side / 2 {
			for k := range 4 {
				if place := 2*tile + k - 1; place >= 0 && place < side { // one place of padding
					line[u*side/2+tile][place] = winogradB[u][k]
				}
			}
		}
	}
	return byProduct(kronecker(line), side)
}

// winogradOutput is [side*side, 16*tiles]: A^T on the products of each tile, in both directions.
func winogradOutput(side int) [][]float32 {
	line := zeros(2*side, side) // transposed, as that of winogradInput
	for u := range 4 {
		for place := range side {
			line[u*side/2+place/2][place] = winogradA[place%2][u]
		}
	}
	rows := byProduct(kronecker(line), side)
	out := zeros(side*side, len(rows))
	for i, row := range rows {
		for j, value := range row {
			out[j][i] = value
		}
	}
	return out
}

// byProduct sorts rows from [product, tile, product, tile] to [product, product, tile, tile].
func byProduct(rows [][]float32, side int) [][]float32 {
	var out [][]float32
	tiles := side / 2
	for p := range 16 {
		for t := range tiles * tiles {
			out = append(out, rows[(p/4*tiles+t/tiles)*2*side+p%4*tiles+t%tiles])
		}
	}
	return out
}

// kronecker is the Kronecker product of a matrix with itself: the matrix on both axes of a map.
func kronecker(m [][]float32) [][]float32 {
	out := zeros(len(m)*len(m), len(m[0])*len(m[0]))
	for i := range out {
		for j := range out[i] {
			out[i][j] = m[i/len(m)][j/len(m[0])] * m[i%len(m)][j%len(m[0])]
		}
	}
	return out
}

func zeros(rows, columns int) [][]float32 {
	out := make([][]float32, rows)
	for i := range out {
		out[i] = make([]float32, columns)
	}
	return out
}
