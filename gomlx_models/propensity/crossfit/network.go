package crossfit

import (
	"math"
	"slices"

	"tvps/gomlx_models/net"
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
	x, first, second    matrix    // [n, Dim], [2n, Hidden], [2n, Hidden]
	dX, dFirst, dSecond matrix    // dX: of what x adds to the first layer
	ofState, dState     matrix    // what a time adds to the first layer, [states, Hidden]
	back                []float32 // the second layer, transposed
	g                   []float32 // [2n]
}

// forward computes g of pairs. table: [rows, Dim]; states: the codes of the times that pairs name.
func (p *pass) forward(v net.Values, table []float32, states matrix, pairs []pair) {
	n, h := len(pairs), p.Hidden
	p.x.resize(n, p.Dim)
	p.first.resize(2*n, h)
	p.second.resize(2*n, h)
	p.ofState.resize(states.rows, h)
	p.g = slices.Grow(p.g[:0], 2*n)[:2*n]
	clear(p.ofState.data)
	addProduct(p.ofState, states, newMatrix(p.Codes, h, v[ofTime]))
	for i, q := range pairs {
		copy(p.x.row(i), table[int(q.row)*p.Dim:])
		own := p.first.row(i)
		copy(own, v[ofBias1])
		if p.Classes > 0 {
			for j, u := range v[ofLabel][int(q.label)*h:][:len(own)] {
				own[j] += u
			}
		}
	}
	addProduct(p.first, p.x, newMatrix(p.Dim, h, v[ofX]))
	for i, q := range pairs {
		own := p.first.row(i)
		other, a, b := p.first.row(n + i)[:len(own)], p.ofState.row(int(q.own))[:len(own)], p.ofState.row(int(q.other))[:len(own)]
		for j, u := range own {
			own[j], other[j] = max(0, u+a[j]), max(0, u+b[j])
		}
	}
	for i := range 2 * n {
		copy(p.second.row(i), v[ofBias2])
	}
	addProduct(p.second, p.first, newMatrix(h, h, v[ofLayer2]))
	for i := range p.g {
		sum, second := float32(0), p.second.row(i)
		for j, last := range v[ofLast][:len(second)] {
			second[j] = max(0, second[j])
			sum += second[j] * last
		}
		p.g[i] = sum
	}
}

// where is v for a positive u, and 0 for 0. A branch would be mispredicted every other time.
func where(u, v float32) float32 {
	return math.Float32frombits(math.Float32bits(v) & uint32(-int32(math.Float32bits(u))>>31))
}

// backward adds the gradient of the mean loss to grad, after forward.
func (p *pass) backward(v net.Values, states matrix, pairs []pair, grad net.Values) {
	n, h := len(pairs), p.Hidden
	p.dX.resize(n, h)
	p.dFirst.resize(2*n, h)
	p.dSecond.resize(2*n, h)
	p.dState.resize(states.rows, h)
	for i := range n {
		slope := float32(1/(1+math.Exp(float64(p.g[i]-p.g[n+i])))) / float32(n) // of softplus(other - own)
		p.backLast(i, -slope, v, grad)
		p.backLast(n+i, slope, v, grad)
	}
	addProduct(newMatrix(h, h, grad[ofLayer2]), p.first.transposed(), p.dSecond)
	p.back = slices.Grow(p.back[:0], h*h)[:h*h]
	for i, u := range v[ofLayer2] {
		p.back[i%h*h+i/h] = u
	}
	clear(p.dFirst.data)
	addProduct(p.dFirst, p.dSecond, newMatrix(h, h, p.back))
	clear(p.dState.data)
	for i, q := range pairs {
		both := p.dX.row(i)
		own, other := p.dFirst.row(i)[:len(both)], p.dFirst.row(n + i)[:len(both)]
		a, b := p.first.row(i)[:len(both)], p.first.row(n + i)[:len(both)]
		dA, dB := p.dState.row(int(q.own))[:len(both)], p.dState.row(int(q.other))[:len(both)]
		bias := grad[ofBias1][:len(both)]
		for j := range both {
			d, e := where(a[j], own[j]), where(b[j], other[j])
			dA[j] += d
			dB[j] += e
			both[j] = d + e
			bias[j] += both[j]
		}
		if p.Classes > 0 {
			label := grad[ofLabel][int(q.label)*h:][:len(both)]
			for j, d := range both {
				label[j] += d
			}
		}
	}
	addProduct(newMatrix(p.Dim, h, grad[ofX]), p.x.transposed(), p.dX)
	addProduct(newMatrix(p.Codes, h, grad[ofTime]), states.transposed(), p.dState)
}

// backLast is the part of backward for the last layer of row i, of which g has the given slope.
func (p *pass) backLast(i int, slope float32, v, grad net.Values) {
	second := p.second.row(i)
	d, last := p.dSecond.row(i)[:len(second)], v[ofLast][:len(second)]
	dLast, bias := grad[ofLast][:len(second)], grad[ofBias2][:len(second)]
	for j, u := range second {
		d[j] = where(u, slope*last[j])
		dLast[j] += slope * u
		bias[j] += d[j]
	}
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
