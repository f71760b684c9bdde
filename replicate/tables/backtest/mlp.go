package backtest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"tvps/data/random"
	"tvps/gomlx_models/loop"
	"tvps/gomlx_models/net"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// Settings of the MLP.
const (
	mlpBatch = 256
	mlpChunk = 50   // updates of one call
	mlpRows  = 1024 // of one evaluation

	mlpHidden         = 64
	mlpEpochs         = 10
	mlpLeast, mlpMost = 300, 2000 // updates
	mlpRate, mlpDecay = 3e-3, .01
	mlpLanes          = 8 // models that train in one compiled program
)

// mlp has two hidden layers of 64 units. It trains by Adam with decoupled weight decay and a learning rate that falls
// to 0 as half a cosine. Rows are drawn in proportion to their weights, so rows of weight 0 cost nothing.
type mlp struct {
	backend compute.Backend
	seed    int64
	nets    map[mlpKey]*mlpNet
}

// mlpKey names compiled programs.
type mlpKey struct {
	classes int // 0: a number
	dim     int
}

type mlpNet struct {
	mlpKey
	params  []net.Param // with a leading axis of lanes
	trainer *loop.Trainer
	eval    *Exec
}

func newMLP(backend compute.Backend, seed int64) *mlp {
	return &mlp{backend: backend, seed: seed, nets: map[mlpKey]*mlpNet{}}
}

func (m *mlp) identity() string {
	return fmt.Sprint("mlp: ", mlpHidden, mlpBatch, mlpEpochs, mlpLeast, mlpMost, mlpRate, mlpDecay, mlpLanes)
}

func (m *mlp) close() error {
	for _, n := range m.nets {
		n.close()
	}
	return nil
}

func (n *mlpNet) close() {
	n.trainer.Close()
	n.eval.Finalize()
}

// net returns the compiled programs.
func (m *mlp) net(key mlpKey) (*mlpNet, error) {
	if n := m.nets[key]; n != nil {
		return n, nil
	}
	n := &mlpNet{mlpKey: key}
	in := []shapes.Shape{shapes.Make(dtypes.Float32, mlpLanes, mlpBatch, key.dim)}
	var err error
	n.params, err = net.Declare(m.backend, in, func(s *net.Scope, in []*Node) { n.logits(s.Copies(mlpLanes), in[0]) })
	if err != nil {
		return nil, err
	}
	problem := loop.Problem{Name: "mlp", Params: n.params, Loss: n.loss, RateFactors: true, Decay: true, Data: 3, Feeds: 3}
	n.trainer = loop.New(m.backend, problem, mlpChunk)
	n.eval = MustNewExec(m.backend, func(in []*Node) *Node {
		s := net.Bind(in[0].Graph(), n.params, in[1:], false)
		x := BroadcastToDims(ExpandAxes(in[0], 0), mlpLanes, mlpRows, key.dim)
		out := n.logits(s.Copies(mlpLanes), x)
		if key.classes > 0 {
			out = Softmax(out, -1)
		}
		return out
	})
	m.nets[key] = n
	return n, nil
}

// logits are the outputs before a softmax: x [..., rows, dim] -> [..., rows, outputs].
func (n *mlpNet) logits(s *net.Scope, x *Node) *Node {
	for i := range 2 {
		x = net.Relu(net.Dense(s.In(fmt.Sprint("layer", i+1)), x, mlpHidden, net.He))
	}
	return net.Dense(s.In("last"), x, max(1, n.classes), net.Lecun)
}

// loss is that of each lane, [lanes]. data: x [rows, dim], class [rows] int32, number [rows]; feed: row [lanes, batch]
// int32.
func (n *mlpNet) loss(s *net.Scope, data, feeds []*Node) *Node {
	row := ExpandAxes(feeds[0], -1)
	out := n.logits(s.Copies(mlpLanes), Gather(data[0], row))
	if n.classes > 0 {
		return ReduceMean(net.CrossEntropy(out, Gather(data[1], row)), 1)
	}
	return ReduceMean(MulScalar(Square(Sub(Squeeze(out, -1), Gather(data[2], row))), .5), 1)
}

func (m *mlp) predict(ctx context.Context, t *Task, weights [][]float64) ([][]float64, error) {
	n, err := m.net(mlpKey{t.Data.Classes, t.Data.Dim})
	if err != nil {
		return nil, err
	}
	data, mean, spread := mlpData(t)
	defer net.Free(data...)
	var out [][]float64
	for lanes := range slices.Chunk(weights, mlpLanes) {
		values, err := n.train(ctx, t, data, lanes, m.seed)
		if err != nil {
			return nil, err
		}
		predictions, err := n.evaluate(t, values, len(lanes))
		if err != nil {
			return nil, err
		}
		for _, p := range predictions {
			for i := range p {
				p[i] = mean + spread*p[i]
			}
		}
		out = append(out, predictions...)
	}
	return out, nil
}

// mlpData puts the rows on the device, with room for more, so that tables of similar sizes use the same program. A
// number is standardised by mean and spread.
func mlpData(t *Task) (data []*tensors.Tensor, mean, spread float64) {
	rows := len(t.train)
	capacity := 1024
	for capacity < rows {
		capacity *= 2
	}
	x, class, number := make([]float32, capacity*t.Data.Dim), make([]int32, capacity), make([]float32, capacity)
	copy(x, t.Data.X)
	copy(class, t.Data.Label)
	spread = 1
	if t.Data.Target != nil {
		var z []float64
		z, mean, spread = standardised(t.Data.Target, t.Equal())
		for i, v := range z {
			number[i] = float32(v)
		}
	}
	return []*tensors.Tensor{tensors.FromFlatDataAndDimensions(x, capacity, t.Data.Dim),
		tensors.FromFlatDataAndDimensions(class, capacity), tensors.FromFlatDataAndDimensions(number, capacity)}, mean, spread
}

// mlpUpdates is the number of updates for so many rows.
func mlpUpdates(rows int) int { return min(mlpMost, max(mlpLeast, mlpEpochs*rows/mlpBatch)) }

// drawer returns a function that draws numbers in proportion to weights.
func drawer(weights []float64, rng *rand.Rand) func() int {
	sums := make([]float64, len(weights))
	total := 0.
	for i, w := range weights {
		total += w
		sums[i] = total
	}
	return func() int {
		u := rng.Float64() * total
		return min(len(sums)-1, sort.Search(len(sums), func(i int) bool { return sums[i] > u }))
	}
}

// train trains one model for each lane; lanes that are not needed repeat the first.
func (n *mlpNet) train(ctx context.Context, t *Task, data []*tensors.Tensor, weights [][]float64,
	seed int64) (net.Values, error) {
	draw := make([]func() int, mlpLanes)
	seeds := make([]int64, mlpLanes)
	for lane := range draw {
		// All models start from the same network and draw with the same numbers: they differ by their weights alone.
		seeds[lane] = random.Seed(seed, "mlp", t.Step)
		draw[lane] = drawer(weights[min(lane, len(weights)-1)], random.New(seed, "mlp rows", t.Step))
	}
	updates := mlpUpdates(len(t.train))
	feed := func(first, count int) []*tensors.Tensor {
		chunk := n.trainer.Chunk()
		row := make([]int32, chunk*mlpLanes*mlpBatch)
		rate, decay := make([]float32, chunk), make([]float32, chunk)
		for i := range count {
			for lane := range mlpLanes {
				for b := range mlpBatch {
					row[(i*mlpLanes+lane)*mlpBatch+b] = int32(draw[lane]())
				}
			}
			rate[i] = float32(mlpRate * (1 + math.Cos(math.Pi*float64(first+i)/float64(updates))) / 2)
			decay[i] = rate[i] * mlpDecay
		}
		return []*tensors.Tensor{tensors.FromFlatDataAndDimensions(row, chunk, mlpLanes, mlpBatch),
			tensors.FromFlatDataAndDimensions(decay, chunk), tensors.FromFlatDataAndDimensions(rate, chunk)}
	}
	values, _, err := n.trainer.Fit(ctx, net.InitSeeds(n.params, seeds, "mlp"), data, 1, updates, feed)
	return values, err
}

// evaluate predicts the test rows with the first so many lanes.
func (n *mlpNet) evaluate(t *Task, values net.Values, lanes int) ([][]float64, error) {
	k, out := t.outputs(), make([][]float64, lanes)
	err := inBatches(n.eval, n.params, values, t.testX, n.dim, func(from, rows int, flat []float32) {
		for lane := range lanes {
			for _, v := range flat[lane*mlpRows*k : (lane*mlpRows+rows)*k] {
				out[lane] = append(out[lane], float64(v))
			}
		}
	})
	return out, err
}

// inBatches runs a program of x [mlpRows, dim] on all rows. use gets the result for so many rows from one on.
func inBatches(exec *Exec, declared []net.Param, values net.Values, x []float32, dim int,
	use func(from, rows int, flat []float32)) error {
	params := values.Tensors(declared)
	defer net.Free(params...)
	for from := 0; from*dim < len(x); from += mlpRows {
		batch := make([]float32, mlpRows*dim)
		rows := copy(batch, x[from*dim:]) / dim
		input := tensors.FromFlatDataAndDimensions(batch, mlpRows, dim)
		out, err := net.RunValues(exec, input, params)
		net.Free(input)
		if err != nil {
			return err
		}
		use(from, rows, out[0])
	}
	return nil
}
