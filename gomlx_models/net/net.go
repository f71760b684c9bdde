// Package net defines neural networks as functions of their parameters.
//
// GoMLX's own model.Store keeps parameters as variables outside the graph. A training loop
// inside one XLA While needs them as values instead: they are the state that the loop carries.
// So a network here is a Go function of a Scope, which returns parameters by name. The first
// pass (Declare) collects their names, shapes and initial distributions. Each later pass (Bind)
// binds them to nodes of a graph. Training step, loop and inference use the same function.
//
// Functions that build a graph panic if shapes do not fit, as GoMLX's do. Declare and Run
// return such a panic as an error.
package net

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"tvps/data/random"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/support/exceptions"
	"github.com/gomlx/gomlx/support/xslices"
)

// Param describes one float32 array of a network.
type Param struct {
	Name      string  // with the path of its Scope, such as layer1/weights
	Dims      []int   // shape; nil for a scalar
	Trainable bool    // false for state such as batch-norm averages
	Decay     bool    // true where weight decay applies: weights, not biases or norms
	Init      Initial // distribution of the initial values
}

// Size is the number of values in the array.
func (p Param) Size() int {
	n := 1
	for _, d := range p.Dims {
		n *= d
	}
	return n
}

// Initial is the distribution of a parameter's initial values.
type Initial struct {
	Std   float64 // standard deviation of a normal distribution; 0 for a constant
	Value float64 // mean, or the constant
}

// He is the initial distribution of Kaiming He et al. (2015) for layers followed by
// a ReLU: normal with mean 0 and variance 2 / fanIn.
func He(fanIn int) Initial { return Initial{Std: math.Sqrt(2 / float64(fanIn))} }

// Lecun is normal with mean 0 and variance 1 / fanIn, for layers that no ReLU follows.
func Lecun(fanIn int) Initial { return Initial{Std: math.Sqrt(1 / float64(fanIn))} }

// Constant sets every initial value to v.
func Constant(v float64) Initial { return Initial{Value: v} }

// pass is one execution of a network function.
type pass struct {
	graph     *Graph
	declaring bool              // true: params are collected; false: values are bound
	params    []Param           // in order of first use, while declaring
	values    map[string]*Node  // by name
	updates   map[string]*Node  // new values of state arrays, by name
	dense     map[*Node][]dense // of Dense, by their weights
	training  bool
}

// dense is an application of a fully connected layer: y = x W + b, with leading axes of Copies.
type dense struct {
	x, y    *Node
	leading int
}

// newPass starts one with no parameters.
func newPass(g *Graph) *pass {
	return &pass{graph: g, values: map[string]*Node{}, updates: map[string]*Node{}, dense: map[*Node][]dense{}}
}

// Scope returns the parameters of a network, or of a part of it, during one pass.
type Scope struct {
	p      *pass
	prefix string // of parameter names
	copies []int  // leading axes of every parameter
}

// In returns the scope of a part of the network: its parameters are named name/... .
func (s *Scope) In(name string) *Scope { return &Scope{s.p, s.prefix + name + "/", s.copies} }

// Copies returns the scope of n independent networks of the same shape, batched on a leading
// axis, such as batched seeds or the two Q functions of a critic. Every parameter gets a
// leading axis [n]. Dense, Embedding, Rows and BatchNorm take inputs with the same leading
// axis and apply network i to input i; Conv does not support it. Copies of copies have
// several leading axes, the outermost first. InitSeeds draws initial values for batched seeds.
func (s *Scope) Copies(n int) *Scope {
	return &Scope{s.p, s.prefix, append(slices.Clone(s.copies), n)}
}

// Graph returns the graph of this pass.
func (s *Scope) Graph() *Graph { return s.p.graph }

// Weight returns the trainable array of that name, with weight decay. Its shape is dims, with
// the axes of Copies in front. It panics if the pass has no such array or one of another
// shape. So do Bias and State.
func (s *Scope) Weight(name string, init Initial, dims ...int) *Node {
	return s.param(Param{Name: name, Dims: dims, Trainable: true, Decay: true, Init: init})
}

// Bias returns the trainable array of that name, without weight decay.
func (s *Scope) Bias(name string, init Initial, dims ...int) *Node {
	return s.param(Param{Name: name, Dims: dims, Trainable: true, Init: init})
}

// State returns the array of that name, which is not trained; Update changes it.
func (s *Scope) State(name string, init Initial, dims ...int) *Node {
	return s.param(Param{Name: name, Dims: dims, Init: init})
}

// Update sets the value of a State array after this pass; see Updated. No gradient flows
// through it.
func (s *Scope) Update(name string, value *Node) {
	s.p.updates[s.prefix+name] = StopGradient(value)
}

func (s *Scope) param(q Param) *Node {
	q.Name = s.prefix + q.Name
	q.Dims = slices.Concat(s.copies, q.Dims)
	node := s.p.values[q.Name]
	if node == nil {
		if !s.p.declaring {
			exceptions.Panicf("parameter %q is not among those passed to Bind; declare it first", q.Name)
		}
		node = Parameter(s.p.graph, q.Name, shapes.Make(dtypes.Float32, q.Dims...))
		s.p.params = append(s.p.params, q)
		s.p.values[q.Name] = node
	}
	if !slices.Equal(node.Shape().Dimensions, q.Dims) {
		exceptions.Panicf("parameter %q is used with shapes %v and %v", q.Name, node.Shape().Dimensions, q.Dims)
	}
	return node
}

// Declare calls the network function fn once, without compiling anything, and returns the
// parameters that it uses, in order of first use. fn receives one placeholder for each input
// shape. If fn panics with an error, such as GoMLX's for shapes that do not fit, Declare
// returns the error. It also does if there is no backend.
func Declare(backend compute.Backend, inputs []shapes.Shape,
	fn func(s *Scope, in []*Node)) (params []Param, err error) {
	if backend == nil {
		return nil, errors.New("there is no backend")
	}
	err = exceptions.TryCatch[error](func() {
		g := NewGraph(backend, "declare")
		defer g.Finalize()
		p := newPass(g)
		p.declaring = true
		nodes := make([]*Node, len(inputs))
		for i, shape := range inputs {
			nodes[i] = Parameter(g, fmt.Sprintf("#input%d", i), shape)
		}
		fn(&Scope{p: p}, nodes)
		params = p.params
	})
	return params, err
}

// Bind starts a pass in which the parameters have the given values, in the order of params.
// training selects the statistics of BatchNorm. After the network function has run, Updated
// returns the new values.
func Bind(g *Graph, params []Param, values []*Node, training bool) *Scope {
	p := newPass(g)
	p.training = training
	for i, q := range params {
		p.values[q.Name] = values[i]
	}
	return &Scope{p: p}
}

// Updated returns the parameters' values after the pass, in the order of params: arrays set by
// Update have their new value, all others the one in values, which Bind was given.
func (s *Scope) Updated(params []Param, values []*Node) []*Node {
	out := slices.Clone(values)
	for i, q := range params {
		if u, ok := s.p.updates[q.Name]; ok {
			out[i] = u
		}
	}
	return out
}

// Gradient returns the gradients of a scalar loss with respect to arrays of this pass, which Bind was given.
// It is GoMLX's, except that the weights of a layer that was applied once get theirs as x^T dy, in
// their own order of axes. GoMLX computes (dy^T x)^T, and XLA's CPU code then reads the product
// across its rows in the optimiser's step: an update of Soft Actor-Critic takes 5% longer.
func (s *Scope) Gradient(loss *Node, values ...*Node) []*Node {
	wrt, layers := slices.Clone(values), make([]dense, len(values))
	for i, w := range values {
		if applied := s.p.dense[w]; len(applied) == 1 {
			layers[i] = applied[0]
			wrt[i] = layers[i].y
		}
	}
	gradients := Gradient(loss, wrt...)
	for i, layer := range layers {
		if layer.y != nil {
			rows, axes := []int{layer.leading}, xslices.Iota(0, layer.leading)
			gradients[i] = DotGeneral(layer.x, rows, axes, gradients[i], rows, axes)
		}
	}
	return gradients
}

// Values holds the arrays of a network on the host, in the order of its Params.
type Values [][]float32

// Init draws initial values. Each array has its own stream of random numbers, which depends on
// the seed, the purpose and the array's name only.
func Init(params []Param, seed int64, purpose ...any) Values {
	out := make(Values, len(params))
	for i, q := range params {
		out[i] = make([]float32, q.Size())
		rng := random.New(seed, append(slices.Clone(purpose), q.Name)...)
		for j := range out[i] {
			v := q.Init.Value
			if q.Init.Std > 0 {
				v += q.Init.Std * rng.NormFloat64()
			}
			out[i][j] = float32(v)
		}
	}
	return out
}

// InitSeeds draws initial values for batched seeds: parameters with a leading axis
// [len(seeds)], see Copies. The values at index i are those that Init draws for seeds[i].
func InitSeeds(params []Param, seeds []int64, purpose ...any) Values {
	one := slices.Clone(params)
	for i, q := range one {
		one[i].Dims = q.Dims[1:]
	}
	out := make(Values, len(params))
	for _, seed := range seeds {
		for i, v := range Init(one, seed, purpose...) {
			out[i] = append(out[i], v...)
		}
	}
	return out
}

// Clone returns a deep copy of the values.
func (v Values) Clone() Values {
	out := make(Values, len(v))
	for i := range v {
		out[i] = slices.Clone(v[i])
	}
	return out
}

// Tensors copies the values into GoMLX tensors with the parameters' shapes.
func (v Values) Tensors(params []Param) []*tensors.Tensor {
	out := make([]*tensors.Tensor, len(v))
	for i, q := range params {
		out[i] = tensors.FromFlatDataAndDimensions(v[i], q.Dims...)
	}
	return out
}

// FromTensors copies values from GoMLX tensors of float32. Other types are an error.
func FromTensors(ts []*tensors.Tensor) (Values, error) {
	out := make(Values, len(ts))
	for i, t := range ts {
		flat, err := tensors.CopyFlatData[float32](t)
		if err != nil {
			return nil, err
		}
		out[i] = flat
	}
	return out, nil
}
