package tables

import "math"

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
