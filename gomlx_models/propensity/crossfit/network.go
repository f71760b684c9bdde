package crossfit

import (
	"fmt"
	"slices"

	"tvps/gomlx_models/loop"
	"tvps/gomlx_models/net"
	"tvps/gomlx_models/propensity"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
)

// netKey names the compiled programs of some networks. Those of g serve Joint and Covariate: without outcome, label and
// target of every row are 0.
type netKey struct {
	g                    propensity.Config // what Config.Pair reads
	dim                  int
	target               bool
	outputs              int // 0: g; otherwise a model of the outcome with so many outputs
	lanes, batch, stride int
}

// network holds the compiled programs of several networks of one shape, the lanes, that train at the same time on rows
// of their own: one for each fold, or for each fold of each permutation.
type network struct {
	netKey
	params  []net.Param // of the networks, with a leading axis of lanes
	trainer *loop.Trainer
	eval    *Exec
}

// evalRows is the largest number of rows of each lane in one evaluation.
const evalRows = 2048

// newNetwork prepares the programs.
func newNetwork(backend compute.Backend, key netKey) (*network, error) {
	w := &network{netKey: key}
	lanes, batch := key.lanes, key.batch
	float := func(dims ...int) shapes.Shape { return shapes.Make(dtypes.Float32, dims...) }
	whole := shapes.Make(dtypes.Int32, lanes, batch)
	inputs := []shapes.Shape{float(batch, key.dim), whole, whole, float(lanes, batch), float(lanes, batch),
		float(lanes, batch)}
	var err error
	w.params, err = net.Declare(backend, inputs, func(s *net.Scope, in []*Node) { w.forward(s.Copies(lanes), in) })
	if err != nil {
		return nil, fmt.Errorf("crossfit: %w", err)
	}
	problem := loop.Problem{Name: "crossfit", Params: w.params, Loss: w.loss, RateFactors: true, Decay: true, Data: 1,
		Feeds: 7}
	w.trainer = loop.New(backend, problem, key.stride)
	w.eval = MustNewExec(backend, func(in []*Node) []*Node {
		s := net.Bind(in[0].Graph(), w.params, in[6:], false)
		out, loss := w.forward(s.Copies(lanes), in[:6])
		return append(out, loss)
	})
	return w, nil
}

func (w *network) close() {
	w.trainer.Close()
	w.eval.Finalize()
}

// forward returns the outputs for rows of each lane, and the loss of each row, [lanes, rows]. in: the table
// [capacity, dim]; row, label, target and the two times, [lanes, rows] each.
func (w *network) forward(s *net.Scope, in []*Node) (out []*Node, loss *Node) {
	x := Gather(in[0], ExpandAxes(in[1], -1))
	if w.outputs > 0 {
		return w.outcome(s, x, in[2], in[3])
	}
	if w.target {
		x = Concatenate([]*Node{x, ExpandAxes(in[3], -1)}, -1)
	}
	last := Ones(x.Graph(), shapes.Make(dtypes.Float32, w.lanes, 1))
	own, other := w.g.Pair(s, propensity.Input{X: x, Label: in[2]}, propensity.Continuous(in[4], last),
		propensity.Continuous(in[5], last))
	return []*Node{own, other}, w.g.Method.LossNode(own, other)
}

// loss is the mean loss of each lane's minibatch, [lanes]. data and feeds are those of forward.
func (w *network) loss(s *net.Scope, data, feeds []*Node) *Node {
	_, losses := w.forward(s.Copies(w.lanes), slices.Concat(data, feeds))
	return ReduceMean(losses, 1)
}
