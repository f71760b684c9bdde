package propensity

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/data/random"
	"tvps/gomlx_models/net"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// TestEveryNetworkTrains fits each network with each method and time encoding that it
// takes; before training every weight is 1.
func TestEveryNetworkTrains(t *testing.T) {
	for _, network := range Networks() {
		for _, time := range Encodings() {
			for _, method := range Methods() {
				cfg := small(method, network, time, 3)
				cfg.Updates = 2
				if cfg.Validate() != nil || network.spec().images && testing.Short() {
					continue
				}
				trains(t, cfg)
			}
		}
	}
}

func trains(t *testing.T, cfg Config) {
	t.Helper()
	name := fmt.Sprintf("%s %s %s", cfg.Network, cfg.Time, cfg.Method)
	d := labelled(3, 16, func(time, y int) float64 { return 1. / 3 })
	if cfg.Network.spec().images {
		d.Dim = 12 // 2x2 pixels in RGB
		d.X = gaussian(1, still, len(d.Label)*d.Dim).X
	}
	for updates, moves := range map[int]bool{0: false, 2: true} {
		cfg.Updates = updates
		f, err := Fit(context.Background(), open(t, "go"), d, cfg, 0)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		defer f.Close()
		logs, err := f.LogOmega(context.Background(), 2)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := slices.ContainsFunc(logs, func(v float64) bool { return v != 0 }); got != moves {
			t.Errorf("%s: after %d updates some log omega differs from 0: %v", name, updates, got)
		}
	}
}

// TestANetworkIsOneFile: what network_linear_test.go declares is all that a new network needs, for streams and for
// batched seeds.
func TestANetworkIsOneFile(t *testing.T) {
	cfg := small(Method2, Linear, TimeFourier, 3)
	demand.NoError(t, cfg.Validate())
	d := labelled(3, 20, func(time, y int) float64 { return 1. / 3 })
	fit(t, d, cfg, 2)
	seedsAlone(t, cfg)
	if !slices.Contains(Networks(), Linear) || !slices.Contains(BatchedNetworks(), Linear) {
		t.Errorf("lists %v and %v do not name the new network", Networks(), BatchedNetworks())
	}
	cfg.Network = "linaer"
	demand.Error(t, cfg.Validate(), `network "linaer" is not one of`, "linear")
}

// TestBatchedSeedsAreSeedsAlone compares loss and omega of three batched seeds with those of
// each seed alone: on the Go backend every bit is the same.
func TestBatchedSeedsAreSeedsAlone(t *testing.T) {
	for _, network := range BatchedNetworks() {
		for _, time := range ContinuousEncodings() {
			for _, method := range TimeVaryingMethods() {
				seedsAlone(t, small(method, network, time, 3))
			}
		}
	}
}

func seedsAlone(t *testing.T, cfg Config) {
	t.Helper()
	demand.NoError(t, cfg.ValidateBatched())
	seeds := []int64{3, 1, 4}
	together := lossAndOmega(t, open(t, "go"), cfg, seeds...)
	for i, seed := range seeds {
		alone := lossAndOmega(t, open(t, "go"), cfg, seed)
		for k, what := range []string{"loss", "log omega"} {
			n := len(alone[k])
			if got := together[k][i*n : (i+1)*n]; !slices.Equal(got, alone[k]) {
				t.Errorf("%s %s %s: %s of seed %d is %v, alone %v", cfg.Network, cfg.Time, cfg.Method, what, seed, got, alone[k])
			}
		}
	}
	if slices.Equal(together[1][:6], together[1][6:12]) {
		t.Errorf("%s: two seeds have the same log omega", cfg.Network)
	}
}

// lossAndOmega evaluates an untrained g with random values for batched seeds, each with its
// own minibatch of 6 samples.
func lossAndOmega(t *testing.T, b compute.Backend, cfg Config, seeds ...int64) [][]float32 {
	t.Helper()
	const batch, dim, last = 6, 4, 40
	n := len(seeds)
	x, t2, t1, z := make([]float32, 0), make([]float32, 0), make([]float32, 0), make([]float32, 0)
	var label []int32
	for _, seed := range seeds {
		rng := random.New(seed, "batched")
		for range batch * dim {
			x = append(x, float32(rng.NormFloat64()))
		}
		for i := range batch {
			t2, t1 = append(t2, float32(rng.IntN(last))), append(t1, float32(rng.IntN(last)))
			z, label = append(z, float32(1-2*(i%2))), append(label, int32(i%3))
		}
	}
	inputs := []*tensors.Tensor{
		tensors.FromFlatDataAndDimensions(x, n, batch, dim),
		tensors.FromFlatDataAndDimensions(label, n, batch),
		tensors.FromFlatDataAndDimensions(t2, n, batch),
		tensors.FromFlatDataAndDimensions(t1, n, batch),
		tensors.FromFlatDataAndDimensions(z, n, batch),
		tensors.FromScalarAndDimensions(float32(last), n, 1),
	}
	var in []shapes.Shape
	for _, v := range inputs {
		in = append(in, v.Shape())
	}
	build := func(s *net.Scope, in []*Node) []*Node {
		s = s.Copies(n)
		sample, first, second := Input{X: in[0], Label: in[1]}, Continuous(in[2], in[5]), Continuous(in[3], in[5])
		return []*Node{cfg.Loss(s, sample, first, second, in[4]), cfg.LogOmega(s, sample, second.Last(), second)}
	}
	params, err := net.Declare(b, in, func(s *net.Scope, in []*Node) { build(s, in) })
	demand.NoError(t, err)
	for i := range params {
		if params[i].Init.Std == 0 { // the last layer starts at 0
			params[i].Init.Std = .3
		}
		if !params[i].Trainable {
			params[i].Init = net.Constant(.7)
		}
	}
	exec, err := NewExec(b, func(in []*Node) []*Node { return build(net.Bind(in[0].Graph(), params, in[6:], false), in) })
	demand.NoError(t, err)
	defer exec.Finalize()
	values, err := net.RunValues(exec, inputs, net.InitSeeds(params, seeds, "batched").Tensors(params))
	demand.NoError(t, err)
	return values
}

// TestValidateBatched: fewer methods, networks and encodings than of Validate are valid. Sentences start with the
// setting's name, for the caller to complete.
func TestValidateBatched(t *testing.T) {
	vectors, fixed := strings.Join(Names(BatchedNetworks()), ", "), strings.Join(Names(ContinuousEncodings()), ", ")
	for want, change := range map[string]func(c *Config){
		`method "standard" is not one of method1, method2`: func(c *Config) { c.Method = Standard },
		`network "conv5" is not one of ` + vectors:         func(c *Config) { c.Network = Conv5 },
		`time encoding "embedding" is not one of ` + fixed: func(c *Config) { c.Time = TimeEmbedding },
		`layers is 1; it must be at least 2`:               func(c *Config) { c.Layers = 1 },
	} {
		cfg := Config{Method: Method2, Network: Deep, Hidden: 3, Layers: 2, Time: TimeScalar, Clip: ClipOne}
		demand.NoError(t, cfg.ValidateBatched())
		change(&cfg)
		if err := cfg.ValidateBatched(); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
