package propensity

import (
	"fmt"
	"math"
	"slices"

	"tvps/gomlx_models/loop"
	"tvps/gomlx_models/net"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
)

// ownModel is a fitted g of one kind: Ensemble networks for each fold.
type ownModel struct {
	net    *ownNet
	values []net.Values // [ensemble], each with a leading axis of folds
	scale  float64      // factor of g
	chosen int          // index in Candidates
}

// netKey names the compiled programs of some networks. Those of g serve Joint and Covariate: without outcome, label and
// target of every row are 0.
type netKey struct {
	method               Method
	time                 TimeEncoding
	dim, classes         int
	target               bool
	outputs              int // 0: g; otherwise an outcomeModel with so many outputs
	hidden, frequencies  int
	lanes, batch, stride int
}

// ownNet holds the compiled programs of several networks of one shape, the lanes, that train at the same time on rows
// of their own: one for each fold, or for each fold of each permutation.
type ownNet struct {
	netKey
	cfg     Config      // of G
	params  []net.Param // of the networks, with a leading axis of lanes
	state   []net.Param // params, then their first and second moments
	trainer *loop.Trainer
	eval    *Exec
}

// evalRows is the largest number of rows of each lane in one evaluation.
const evalRows = 2048

// newOwnNet prepares the programs.
func newOwnNet(backend compute.Backend, key netKey) (*ownNet, error) {
	w := &ownNet{netKey: key}
	w.cfg = Config{Method: key.method, Network: MLP, Hidden: key.hidden, Time: key.time, Frequencies: key.frequencies,
		Classes: key.classes, Join: JoinFirst}
	lanes, batch := key.lanes, key.batch
	float := func(dims ...int) shapes.Shape { return shapes.Make(dtypes.Float32, dims...) }
	whole := shapes.Make(dtypes.Int32, lanes, batch)
	inputs := []shapes.Shape{float(key.dim), float(key.dim), float(batch, key.dim), whole, whole, float(lanes, batch),
		float(lanes, batch), float(lanes, batch)}
	var err error
	w.params, err = net.Declare(backend, inputs, func(s *net.Scope, in []*Node) { w.forward(s.Copies(lanes), in) })
	if err != nil {
		return nil, fmt.Errorf("propensity: %w", err)
	}
	w.state = slices.Clone(w.params)
	for _, moment := range []string{"first", "second"} {
		for _, p := range w.params {
			w.state = append(w.state, net.Param{Name: moment + "/" + p.Name, Dims: p.Dims})
		}
	}
	problem := loop.Problem{Name: "propensity", Params: w.state, Step: w.step, Data: 3, Feeds: 8}
	if w.trainer, err = loop.New(backend, problem, key.stride); err != nil {
		return nil, err
	}
	w.eval, err = NewExec(backend, func(in []*Node) []*Node {
		s := net.Bind(in[0].Graph(), w.params, in[8:], false)
		out, loss := w.forward(s.Copies(lanes), in[:8])
		return append(out, loss)
	})
	if err != nil {
		w.trainer.Close()
		return nil, fmt.Errorf("propensity: %w", err)
	}
	return w, nil
}

func (w *ownNet) close() {
	w.trainer.Close()
	w.eval.Finalize()
}

// forward returns the outputs for rows of each lane, and the loss of each row, [lanes, rows]. in: mean and scale of
// x; the table x [capacity, dim]; row, label, target and the two times, [lanes, rows] each.
func (w *ownNet) forward(s *net.Scope, in []*Node) (out []*Node, loss *Node) {
	x := Gather(in[2], ExpandAxes(in[3], -1))
	x = Div(Sub(x, ExpandLeftToRank(in[0], 3)), ExpandLeftToRank(in[1], 3))
	if w.outputs > 0 {
		return w.outcome(s, x, in[4], in[5])
	}
	own, other := w.both(s, x, in[4:])
	return []*Node{own, other}, logisticLoss(w.cfg.Method, own, other)
}

// both is g at two times, [lanes, rows] each. x: [lanes, rows, dim]; in: label, target and the two times, [lanes,
// rows].
func (w *ownNet) both(s *net.Scope, x *Node, in []*Node) (own, other *Node) {
	if w.target {
		x = Concatenate([]*Node{x, ExpandAxes(in[1], -1)}, -1)
	}
	last := Ones(x.Graph(), shapeOf(w.lanes, 1))
	times := Continuous(in[2], last).concatenate(Continuous(in[3], last))
	// The time itself is one more input: at both ends of the times cos(pi u) is flat.
	trend := ExpandAxes(AddScalar(MulScalar(times.values(), 2), -1), -1)
	h := Add(w.firstLayer(s.In("layer1"), x, trend), condition(s, w.cfg, Input{Label: in[0]}.twice(1), times, w.hidden))
	g := fromFirst(s, w.cfg, h, func(_ *net.Scope, h *Node) *Node { return net.Relu(h) })
	n := g.Shape().Dim(1) / 2
	return SliceAxis(g, 1, AxisRange(0, n)), SliceAxis(g, 1, AxisRange(n, 2*n))
}

// firstLayer is fromX (JoinFirst) of x, followed by the trend as a last column, at both times: the product of x is
// computed once. x: [lanes, rows, dim]; trend: [lanes, 2 rows, 1]; result: [lanes, 2 rows, hidden].
func (w *ownNet) firstLayer(s *net.Scope, x, trend *Node) *Node {
	dim := x.Shape().Dim(-1)
	weights := s.Weight("weights", net.He(dim+1), dim+1, w.hidden)
	bias := s.Spread(s.Bias("biases", net.Constant(0), w.hidden), 3)
	h := Add(DotGeneral(x, []int{2}, []int{0}, SliceAxis(weights, 1, AxisRange(0, dim)), []int{1}, []int{0}), bias)
	return Add(Concatenate([]*Node{h, h}, 1), Mul(trend, SliceAxis(weights, 1, AxisRange(dim, dim+1))))
}

// step is one update of every lane: Adam on the loss, then decoupled weight decay. data and the first five feeds are
// those of forward; the others are the number of updates before this one, the learning rate and rate times decay,
// scalars.
func (w *ownNet) step(state, data, feeds []*Node, _, _ *Node) (*Node, []*Node) {
	n := len(w.params)
	values := state[:n]
	s := net.Bind(state[0].Graph(), w.params, values, true).Copies(w.lanes)
	_, losses := w.forward(s, slices.Concat(data, feeds[:5]))
	loss := ReduceMean(losses, 1)
	grads := Gradient(ReduceAllSum(loss), values...)
	next, m, v := loop.Adam(values, grads, state[n:2*n], state[2*n:], feeds[5], feeds[6])
	for i, p := range w.params {
		if p.Decay {
			next[i] = Sub(next[i], Mul(values[i], feeds[7]))
		}
	}
	return ReduceAllMean(loss), slices.Concat(next, m, v)
}

// logisticLoss is the loss of Algorithm 2, line 8, for a row with its own time and another: the
// mean over z = +1 and z = -1, which needs no draw. own, other and the result: [lanes, rows].
func logisticLoss(method Method, own, other *Node) *Node {
	if method == Method1 {
		return Softplus(Sub(other, own))
	}
	return MulScalar(Add(Softplus(Neg(own)), Softplus(other)), .5)
}

// hostLoss is logisticLoss on the host, for g multiplied by scale.
func hostLoss(method Method, own, other, scale float64) float64 {
	if method == Method1 {
		return softplus(scale * (other - own))
	}
	return (softplus(-scale*own) + softplus(scale*other)) / 2
}

func softplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }
