package crossfit

import (
	"math"
	"testing"

	"tvps/data/random"
)

// TestProduct: sums of products with and without vector instructions, of even and odd numbers of rows, and transposed.
func TestProduct(t *testing.T) {
	rng := random.New(1, "product")
	numbers := func(rows, columns int) matrix {
		m := newMatrix(rows, columns, make([]float32, rows*columns))
		for i := range m.data {
			m.data[i] = float32(rng.NormFloat64())
		}
		return m
	}
	for _, columns := range []int{5, vectorWidth} {
		for _, a := range []matrix{numbers(1, 1), numbers(7, 3), numbers(8, 33), numbers(33, 9).transposed(), numbers(0, 4)} {
			b, c := numbers(a.columns, columns), numbers(a.rows, columns)
			got := newMatrix(a.rows, columns, append([]float32{}, c.data...))
			addProduct(got, a, b)
			for i := range a.rows {
				for j := range columns {
					want := float64(c.row(i)[j])
					for k := range a.columns {
						want += float64(a.data[i*a.down+k*a.along]) * float64(b.row(k)[j])
					}
					if math.Abs(float64(got.row(i)[j])-want) > 1e-4 {
						t.Fatalf("[%d %d] [%d %d]: value %d, %d is %v, want %v", a.rows, a.columns, b.rows, columns, i, j,
							got.row(i)[j], want)
					}
				}
			}
		}
	}
}
