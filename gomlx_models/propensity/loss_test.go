package propensity

import (
	"fmt"
	"math"
	"testing"

	"tvps/ci/demand"
	"tvps/data/random"
	"tvps/gomlx_models/net"

	"github.com/gomlx/compute"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// lossTimes are the fitted times of a lossCase.
var lossTimes = []float64{0, 1, 2, 5}

// lossCase is a g with given parameters and one minibatch.
type lossCase struct {
	e      *Estimator
	values net.Values
	table  *tensors.Tensor
	x      []float32 // the pool, 6 samples
	batch  []Triplet
	label  []int32 // of the samples
	exec   *Exec   // loss and gradients; compiled at the first use
}

func newLossCase(t *testing.T, backend compute.Backend, cfg Config, dims ...int) *lossCase {
	t.Helper()
	rng := random.New(3, "loss test")
	const rows, times = 6, 4
	size := 1
	for _, d := range dims {
		size *= d
	}
	c := &lossCase{x: make([]float32, rows*size), label: make([]int32, rows)}
	for i := range c.x {
		c.x[i] = float32(2 + 3*rng.NormFloat64())
	}
	own := make([]int32, rows)
	for i := range own {
		own[i] = int32(i % times)
		c.label[i] = int32(i % 3)
	}
	pool, err := NewPool(c.x, ColumnsScaled, dims...)
	demand.NoError(t, err)
	if c.e, err = NewEstimator(backend, pool, times, cfg); err != nil {
		t.Fatal(err)
	}
	c.values = net.Init(c.e.params, 5, "loss test")
	for i := range c.values { // no parameter at a special value such as 0 or 1
		for j := range c.values[i] {
			c.values[i][j] += float32(.1 * rng.NormFloat64())
		}
	}
	s := &Score{e: c.e, times: lossTimes}
	c.table = s.table(5)
	for range 2 {
		c.batch = append(c.batch, GenerateData(rng, own, times)...)
	}
	for i := range c.batch { // Sample is the pool's row here
		c.batch[i].Sample %= rows
	}
	return c
}

// compile prepares loss and gradients of all trainable parameters.
func (c *lossCase) compile(t *testing.T, b compute.Backend) {
	t.Helper()
	var err error
	c.exec, err = NewExec(b, func(in []*Node) []*Node {
		s := net.Bind(in[0].Graph(), c.e.params, in[9:], true)
		var flat, wrt []*Node
		for _, f := range in[4:9] {
			flat = append(flat, Reshape(f, -1))
		}
		loss := c.e.loss(s, in[:4], flat)
		for i, p := range c.e.params {
			if p.Trainable {
				wrt = append(wrt, in[9+i])
			}
		}
		return append([]*Node{loss}, Gradient(loss, wrt...)...)
	})
	demand.NoError(t, err)
}

// graph returns the loss and its gradients.
func (c *lossCase) graph(t *testing.T, b compute.Backend, values net.Values, batch []Triplet) (float64, [][]float32) {
	t.Helper()
	if c.exec == nil {
		c.compile(t, b)
	}
	next := 0
	rows := Samples{Row: []int32{0, 1, 2, 3, 4, 5}, Label: c.label}
	feeds := feed(rows, 1, len(batch), func() Triplet { next++; return batch[next-1] })(0, 1)
	var args []any
	for _, list := range [][]*tensors.Tensor{c.e.data(c.e.pool.X, c.table), feeds, values.Tensors(c.e.params)} {
		for _, x := range list {
			args = append(args, x)
		}
	}
	out, err := c.exec.Call(args...)
	demand.NoError(t, err)
	grads, err := net.FromTensors(out[1:])
	demand.NoError(t, err)
	return float64(tensors.ToScalar[float32](out[0])), grads
}

// byHand is the loss of MLP in float64, from the paper's formulas.
func (c *lossCase) byHand(values [][]float64, method Method) float64 {
	p := map[string][]float64{}
	for i, q := range c.e.params {
		p[q.Name] = values[i]
	}
	sum := 0.0
	for _, r := range c.batch {
		f := c.mlp(p, r.Sample, r.T2)
		if method == Method1 {
			f -= c.mlp(p, r.Sample, r.T1)
		}
		sum += math.Log(1 + math.Exp(-float64(r.Z)*f))
	}
	return sum / float64(len(c.batch))
}

// mlp is g(x, y, t) of one sample.
func (c *lossCase) mlp(p map[string][]float64, row int, t int32) float64 {
	h, dim := c.e.cfg.Hidden, len(c.x)/6
	x := make([]float64, dim)
	for j := range x {
		x[j] = (float64(c.x[row*dim+j]) - float64(c.e.pool.Mean[j])) / float64(c.e.pool.Scale[j])
		if c.e.cfg.Join == JoinEven {
			x[j] /= float64(dim)
		}
	}
	sum := dense(x, p["layer1/weights"], p["layer1/biases"])
	add := func(v []float64) {
		for j := range sum {
			sum[j] += v[j]
		}
	}
	switch c.e.cfg.Time {
	case TimeOneHot:
		add(p["time/table"][int(t)*h : int(t+1)*h])
	case TimeEmbedding:
		add(dense(p["time/table"][int(t)*embeddingDim:int(t+1)*embeddingDim], p["time/map/weights"], p["time/map/biases"]))
	default:
		code := byFormula(c.e.cfg, lossTimes[t], 5)
		add(dense(code, p["time/map/weights"], p["time/map/biases"]))
	}
	if c.e.cfg.Classes > 0 {
		add(p["label/table"][int(c.label[row])*h : int(c.label[row]+1)*h])
	}
	second := relu(dense(relu(sum), p["layer2/weights"], p["layer2/biases"]))
	return dense(second, p["layer3/weights"], p["layer3/biases"])[0]
}

func dense(x, w, b []float64) []float64 {
	out := append([]float64(nil), b...)
	for j := range out {
		for i, v := range x {
			out[j] += v * w[i*len(out)+j]
		}
	}
	return out
}

func relu(v []float64) []float64 {
	out := make([]float64, len(v))
	for i := range v {
		out[i] = max(0, v[i])
	}
	return out
}

func float64s(v net.Values) [][]float64 {
	out := make([][]float64, len(v))
	for i := range v {
		for _, x := range v[i] {
			out[i] = append(out[i], float64(x))
		}
	}
	return out
}

func small(method Method, network Network, time TimeEncoding, classes int) Config {
	cfg := DefaultConfig()
	cfg.Method, cfg.Network, cfg.Time, cfg.Classes = method, network, time, classes
	cfg.Hidden, cfg.Frequencies, cfg.Batch = 5, 2, 12
	if network == Conv5 {
		cfg.Hidden, cfg.Columns = 2, ColumnsScaled
	}
	return cfg
}

// TestLossAndGradientByHand compares the loss with float64 Go, and the gradient of
// every parameter with central differences of that.
func TestLossAndGradientByHand(t *testing.T) {
	for _, name := range []string{"", "go"} {
		for _, method := range []Method{Method1, Method2} {
			for i, time := range []TimeEncoding{TimeOneHot, TimeEmbedding, TimeFourier, TimeScalar, TimePeriods} {
				if name == "" && time != TimeEmbedding && !demand.Nightly { // XLA compiles each of them
					continue
				}
				t.Run(fmt.Sprintf("%s %s %s", name, method, time), func(t *testing.T) {
					lossByHand(t, open(t, name), small(method, MLP, time, 3*(i%2)))
				})
			}
		}
	}
	for _, method := range []Method{Method1, Method2} {
		for _, join := range []Join{JoinEven, ""} { // "" means first
			t.Run(fmt.Sprintf("%s join %q", method, join), func(t *testing.T) {
				cfg := small(method, MLP, TimeOneHot, 3)
				cfg.Join = join
				lossByHand(t, open(t, "go"), cfg)
			})
		}
	}
}

func lossByHand(t *testing.T, b compute.Backend, cfg Config) {
	t.Helper()
	c := newLossCase(t, b, cfg, 2)
	defer c.e.Close()
	loss, grads := c.graph(t, b, c.values, c.batch)
	values := float64s(c.values)
	if want := c.byHand(values, cfg.Method); math.Abs(loss-want) > 1e-5 {
		t.Fatalf("loss %v, by hand %v", loss, want)
	}
	compareByHand(t, c, values, grads, cfg.Method)
}

func compareByHand(t *testing.T, c *lossCase, values [][]float64, grads [][]float32, method Method) {
	t.Helper()
	const step = 1e-5
	for i, p := range c.e.params {
		for j, v := range values[i] {
			values[i][j] = v + step
			up := c.byHand(values, method)
			values[i][j] = v - step
			down := c.byHand(values, method)
			values[i][j] = v
			if want := (up - down) / (2 * step); math.Abs(float64(grads[i][j])-want) > 1e-5+1e-4*math.Abs(want) {
				t.Errorf("%s[%d]: gradient %v, by differences %v", p.Name, j, grads[i][j], want)
			}
		}
	}
}

// TestGradientOfDeeperNetworks compares the gradient along one random direction for
// each array with central differences of the graph's own float32 loss.
func TestGradientOfDeeperNetworks(t *testing.T) {
	demand.Slow(t)
	for _, method := range []Method{Method1, Method2} {
		for network, dims := range map[Network][]int{FC3: {3}, Conv5: {6, 6, 2}, Deep: {3}} {
			if (network == Conv5) != (method == Method2) {
				continue // compiles slowly and tests nothing new
			}
			t.Run(fmt.Sprintf("%s %s", method, network), func(t *testing.T) {
				b := open(t, "go") // a gradient is a graph, whatever compiles it
				time := TimeOneHot
				if network == Deep {
					time = TimePeriods
				}
				c := newLossCase(t, b, small(method, network, time, 3), dims...)
				defer c.e.Close()
				_, grads := c.graph(t, b, c.values, c.batch)
				at := 0
				for i, p := range c.e.params {
					if p.Trainable {
						compareAlong(t, c, b, i, grads[at])
						at++
					}
				}
			})
		}
	}
}

func compareAlong(t *testing.T, c *lossCase, b compute.Backend, i int, gradient []float32) {
	t.Helper()
	const step = 1e-3
	rng := random.New(0, "direction", i)
	up, down, want := c.values.Clone(), c.values.Clone(), 0.0
	for j := range gradient {
		d := rng.NormFloat64()
		up[i][j] += float32(step * d)
		down[i][j] -= float32(step * d)
		want += d * float64(gradient[j])
	}
	high, _ := c.graph(t, b, up, c.batch)
	low, _ := c.graph(t, b, down, c.batch)
	if got := (high - low) / (2 * step); math.Abs(got-want) > 2e-3+.03*math.Abs(want) {
		t.Errorf("%s: slope %v, gradient says %v", c.e.params[i].Name, got, want)
	}
}

// TestTimeEntersBeforeTheFirstNonlinearity: otherwise omega would be the same for all x.
func TestTimeEntersBeforeTheFirstNonlinearity(t *testing.T) {
	for name, c := range map[string]struct {
		network Network
		time    TimeEncoding
		join    Join
		dims    []int
	}{
		"mlp": {MLP, TimeOneHot, JoinFirst, []int{2}}, "mlp periods": {MLP, TimePeriods, JoinFirst, []int{2}},
		"fc3": {FC3, TimeOneHot, JoinFirst, []int{2}}, "fc3 even": {FC3, TimeOneHot, JoinEven, []int{2}},
		"conv5": {Conv5, TimeOneHot, JoinFirst, []int{6, 6, 2}}, "deep": {Deep, TimeFourier, JoinFirst, []int{2}},
	} {
		cfg := small(Method2, c.network, c.time, 3)
		cfg.Join = c.join
		timeChangesRatio(t, name, newLossCase(t, open(t, "go"), cfg, c.dims...))
	}
}

// timeChangesRatio fails if two of the samples have the same log omega.
func timeChangesRatio(t *testing.T, name string, c *lossCase) {
	t.Helper()
	defer c.e.Close()
	s := &Score{e: c.e, times: lossTimes, logCount: make([]float64, 4), values: c.values}
	all := Samples{Row: []int32{0, 1, 2, 3, 4, 5}, Label: c.label, Time: make([]int32, 6)}
	logs, err := s.LogOmega(t.Context(), all, 5)
	demand.NoError(t, err)
	for i := 1; i < len(logs); i++ {
		if math.Abs(logs[i]-logs[0]) < 1e-4 {
			t.Errorf("%s: log omega of samples 0 and %d is %v and %v", name, i, logs[0], logs[i])
		}
	}
}
