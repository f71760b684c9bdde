package crossfit

// matrix has numbers [rows, columns]: value (i, k) is data[i*down + k*along].
type matrix struct {
	data          []float32
	rows, columns int
	down, along   int
}

// newMatrix has its rows one after another.
func newMatrix(rows, columns int, data []float32) matrix {
	return matrix{data[:rows*columns], rows, columns, columns, 1}
}

// resize gives a matrix room for so many rows and columns.
func (m *matrix) resize(rows, columns int) {
	if cap(m.data) < rows*columns {
		m.data = make([]float32, rows*columns)
	}
	*m = newMatrix(rows, columns, m.data[:cap(m.data)])
}

// transposed has rows for columns.
func (m matrix) transposed() matrix { return matrix{m.data, m.columns, m.rows, m.along, m.down} }

// row is a row of a matrix whose rows are one after another.
func (m matrix) row(i int) []float32 { return m.data[i*m.columns : (i+1)*m.columns] }

// vectorWidth is the number of columns for which addProduct has vector instructions, where the processor has them. Go's
// compiler makes none, and gonum's, which are called for each row of b, are several times as slow.
const vectorWidth = 32

// addProduct adds a b to c. The rows of b and c are one after another.
func addProduct(c, a, b matrix) {
	if a.rows*a.columns == 0 {
		return
	}
	var unused [vectorWidth]float32 // in place of the row after an odd last one
	for i := 0; i < a.rows; i++ {
		to, from := c.row(i), a.data[i*a.down:]
		if fast && c.columns == vectorWidth {
			_, _ = b.row(a.columns-1), from[(a.columns-1)*a.along] // addRows checks no bounds
			to2, from2 := unused[:], from
			if i++; i < a.rows {
				to2, from2 = c.row(i), a.data[i*a.down:]
				_ = from2[(a.columns-1)*a.along]
			}
			addRows(&to[0], &to2[0], &from[0], &from2[0], uintptr(4*a.along), &b.data[0], a.columns)
			continue
		}
		for k := range a.columns {
			value, row := from[k*a.along], b.row(k)
			for j := range to[:len(row)] {
				to[j] += value * row[j]
			}
		}
	}
}
