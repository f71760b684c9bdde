package crossfit

import (
	"math"

	"tvps/gomlx_models/net"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// network is the shape of g: two hidden layers of rectified linear units, of which the first sees the numbers of a row,
// its label and the code of the time. It is so small that plain Go trains it before XLA has compiled a program for it.
type network struct {
	Dim, Classes, Codes, Hidden int
}

// The arrays of a network, in the order of params.
const (
	ofX = iota
	ofLabel
	ofTime
	ofBias1
	ofLayer2
	ofBias2
	ofLast
)

// params declares the arrays. The last layer starts with zeros: before training g is 0, and every weight 1.
func (w network) params() []net.Param {
	array := func(name string, decay bool, init net.Initial, dims ...int) net.Param {
		return net.Param{Name: name, Dims: dims, Trainable: true, Decay: decay, Init: init}
	}
	h, zero := w.Hidden, net.Constant(0)
	return []net.Param{array("x", true, net.He(w.Dim+1), w.Dim, h), array("label", true, net.Initial{Std: 1}, w.Classes, h),
		array("time", true, net.Lecun(w.Codes), w.Codes, h), array("bias1", false, zero, h),
		array("layer2", true, net.He(h), h, h), array("bias2", false, zero, h), array("last", true, zero, h)}
}

// pair is a row of a table with its label, and two times as states: its own and another one.
type pair struct {
	row, label, own, other int32
}

// pass computes g of pairs, and its gradient. The first half of the rows of a layer is for the own times.
type pass struct {
	network
	x, first, second    blas32.General // [n, Dim], [2n, Hidden], [2n, Hidden]
	dX, dFirst, dSecond blas32.General // dX: of what x adds to the first layer
	ofState, dState     blas32.General // what a time adds to the first layer, [states, Hidden]
	g                   []float32      // [2n]
}

func matrix(rows, columns int, data []float32) blas32.General {
	return blas32.General{Rows: rows, Cols: columns, Stride: max(1, columns), Data: data[:rows*columns]}
}

func row(m blas32.General, i int) []float32 { return m.Data[i*m.Cols : (i+1)*m.Cols] }

// rows are those from..to-1 of a matrix.
func rows(m blas32.General, from, to int) blas32.General {
	return matrix(to-from, m.Cols, m.Data[from*m.Cols:to*m.Cols])
}

// product adds a b to c, or a' b, or a b', by parts that are so small that BLAS starts no goroutines for them: networks
// train side by side.
func product(transA, transB blas.Transpose, a, b, c blas32.General) {
	const most = 128
	for from := 0; from < a.Rows; from += most {
		to := min(from+most, a.Rows)
		if transA == blas.Trans {
			blas32.Gemm(transA, transB, 1, rows(a, from, to), rows(b, from, to), 1, c)
		} else {
			blas32.Gemm(transA, transB, 1, rows(a, from, to), b, 1, rows(c, from, to))
		}
	}
}

// resize makes room for n pairs and so many states.
func (p *pass) resize(n, states int) {
	room := func(m *blas32.General, rows, columns int) {
		if cap(m.Data) < rows*columns {
			m.Data = make([]float32, rows*columns)
		}
		*m = matrix(rows, columns, m.Data[:cap(m.Data)])
	}
	room(&p.x, n, p.Dim)
	room(&p.dX, n, p.Hidden)
	for _, m := range []*blas32.General{&p.first, &p.second, &p.dFirst, &p.dSecond} {
		room(m, 2*n, p.Hidden)
	}
	room(&p.ofState, states, p.Hidden)
	room(&p.dState, states, p.Hidden)
	p.g = append(p.g[:0], make([]float32, 2*n)...)
}

// forward computes g of pairs. table: [rows, Dim]; states: the codes of the times that pairs name.
func (p *pass) forward(v net.Values, table []float32, states blas32.General, pairs []pair) {
	n, h := len(pairs), p.Hidden
	p.resize(n, states.Rows)
	clear(p.ofState.Data)
	product(blas.NoTrans, blas.NoTrans, states, matrix(p.Codes, h, v[ofTime]), p.ofState)
	for i, q := range pairs {
		copy(row(p.x, i), table[int(q.row)*p.Dim:])
		own := row(p.first, i)
		copy(own, v[ofBias1])
		if p.Classes > 0 {
			for j, u := range v[ofLabel][int(q.label)*h : (int(q.label)+1)*h] {
				own[j] += u
			}
		}
	}
	product(blas.NoTrans, blas.NoTrans, p.x, matrix(p.Dim, h, v[ofX]), rows(p.first, 0, n))
	for i, q := range pairs {
		own, other := row(p.first, i), row(p.first, n+i)
		a, b := row(p.ofState, int(q.own)), row(p.ofState, int(q.other))
		for j, u := range own {
			own[j], other[j] = max(0, u+a[j]), max(0, u+b[j])
		}
	}
	for i := range 2 * n {
		copy(row(p.second, i), v[ofBias2])
	}
	product(blas.NoTrans, blas.NoTrans, p.first, matrix(h, h, v[ofLayer2]), p.second)
	for i := range p.g {
		sum := float32(0)
		second := row(p.second, i)
		for j, last := range v[ofLast] {
			second[j] = max(0, second[j])
			sum += second[j] * last
		}
		p.g[i] = sum
	}
}

// backward adds the gradient of the mean loss to grad, after forward.
func (p *pass) backward(v net.Values, states blas32.General, pairs []pair, grad net.Values) {
	n, h := len(pairs), p.Hidden
	last, dLast := v[ofLast], grad[ofLast]
	for i := range 2 * n {
		slope := float32(1/(1+math.Exp(float64(p.g[i%n]-p.g[n+i%n])))) / float32(n) // of softplus(other - own)
		if i < n {
			slope = -slope
		}
		d := row(p.dSecond, i)
		for j, u := range row(p.second, i) {
			d[j] = 0
			if u > 0 {
				d[j] = slope * last[j]
				dLast[j] += slope * u
				grad[ofBias2][j] += d[j]
			}
		}
	}
	product(blas.Trans, blas.NoTrans, p.first, p.dSecond, matrix(h, h, grad[ofLayer2]))
	clear(p.dFirst.Data)
	product(blas.NoTrans, blas.Trans, p.dSecond, matrix(h, h, v[ofLayer2]), p.dFirst)
	clear(p.dState.Data)
	for i, q := range pairs {
		own, other, both := row(p.dFirst, i), row(p.dFirst, n+i), row(p.dX, i)
		a, b := row(p.first, i), row(p.first, n+i)
		dA, dB := row(p.dState, int(q.own)), row(p.dState, int(q.other))
		for j := range both {
			both[j] = 0
			if a[j] > 0 {
				both[j], dA[j] = own[j], dA[j]+own[j]
			}
			if b[j] > 0 {
				both[j], dB[j] = both[j]+other[j], dB[j]+other[j]
			}
			grad[ofBias1][j] += both[j]
		}
		if p.Classes > 0 {
			label := grad[ofLabel][int(q.label)*h : (int(q.label)+1)*h]
			for j, d := range both {
				label[j] += d
			}
		}
	}
	product(blas.Trans, blas.NoTrans, p.x, p.dX, matrix(p.Dim, h, grad[ofX]))
	product(blas.Trans, blas.NoTrans, states, p.dState, matrix(p.Codes, h, grad[ofTime]))
}

// adam is the state of Adam (Kingma and Ba 2015) with decoupled weight decay.
type adam struct {
	params  []net.Param
	m, v    net.Values
	updates int
}

// step updates values; decay is the share that it takes of weights.
func (a *adam) step(values, grad net.Values, rate, decay float64) {
	const beta1, beta2 = .9, .999
	a.updates++
	correct1 := 1 - math.Pow(beta1, float64(a.updates))
	correct2 := 1 - math.Pow(beta2, float64(a.updates))
	first, second, keep := float32(rate/correct1), float32(1/correct2), float32(1)
	for i, param := range a.params {
		if keep = 1; param.Decay {
			keep = float32(1 - decay)
		}
		m, v, to := a.m[i], a.v[i], values[i]
		for j, g := range grad[i] {
			m[j] = beta1*m[j] + (1-beta1)*g
			v[j] = beta2*v[j] + (1-beta2)*g*g
			to[j] = keep*to[j] - first*m[j]/(float32(math.Sqrt(float64(second*v[j])))+1e-8)
		}
	}
}
