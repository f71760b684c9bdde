package metaweight

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"testing"

	"tvps/ci/demand"
	"tvps/gomlx_models/backend"
	"tvps/gomlx_models/net"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// TestSameSeedSameBytes trains for more updates than one call to the device runs on XLA. On the
// Go backend each update is a call.
func TestSameSeedSameBytes(t *testing.T) {
	cfg, s, model := small(), newSet(2, 3, 10, 5), newModel(t, 2, 3, 5, 4)
	cfg.Rate, cfg.MetaRate = .05, 1e-3 // small, so that rounding errors are not amplified
	start := arrays(model.Params, .7, "start")
	fit := func(tr *Trainer, seed int64) []net.Values {
		theta, v, err := tr.Fit(t.Context(), s.pool(), start, s.data, s.meta, updatesPerCall+10, seed)
		if err != nil {
			t.Fatal(err)
		}
		return []net.Values{theta, v}
	}
	xla, pure := newTrainer(t, "", cfg, model), newTrainer(t, backend.Go, cfg, model)
	first := fit(xla, 1)
	if again := fit(xla, 1); !reflect.DeepEqual(first, again) {
		t.Errorf("the same seed gave %v and %v", first, again)
	}
	if other := fit(xla, 2); reflect.DeepEqual(first[0], other[0]) || reflect.DeepEqual(first[1], other[1]) {
		t.Error("another seed gave the same values")
	}
	if !reflect.DeepEqual(start, arrays(model.Params, .7, "start")) {
		t.Error("Fit changed the start values")
	}
	for i, values := range fit(pure, 1) {
		near(t, fmt.Sprintf("Go backend, network %d", i), values, float64s(first[i]), 1e-4)
	}
}

// TestInitialVariancesOfV: 1/(3 fan-in) for weights and biases, as in PyTorch's linear layers.
func TestInitialVariancesOfV(t *testing.T) {
	cfg := Config{Hidden: 3000, Batch: 1, MetaBatch: 1, Rate: 1, MetaRate: 1}
	tr := newTrainer(t, backend.Go, cfg, newModel(t, 1, 2))
	v := net.Init(tr.v, 0, "test")
	for i, want := range []float64{1. / 3, 1. / 3, 1. / 9000} {
		squares := make([]float64, len(v[i]))
		for j, x := range v[i] {
			squares[j] = float64(x) * float64(x)
		}
		if got := mean(squares); math.Abs(got-want) > .1*want {
			t.Errorf("array %s has variance %v, want %v", tr.v[i].Name, got, want)
		}
	}
	if bias := math.Abs(float64(v[3][0])); bias == 0 || bias > 5/math.Sqrt(9000) {
		t.Errorf("the last bias starts at %v, want not 0 and at most 5 standard deviations", bias)
	}
}

func TestNewRefuses(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for name, c := range map[string]struct {
		change func(cfg *Config, m *Model)
		words  []string
	}{
		"hidden":         {func(cfg *Config, _ *Model) { cfg.Hidden = 0 }, []string{"hidden is 0"}},
		"batch":          {func(cfg *Config, _ *Model) { cfg.Batch = -1 }, []string{"batch is -1"}},
		"meta batch":     {func(cfg *Config, _ *Model) { cfg.MetaBatch = 0 }, []string{"meta batch is 0"}},
		"rate 0":         {func(cfg *Config, _ *Model) { cfg.Rate = 0 }, []string{"the learning rate is 0", "positive"}},
		"rate NaN":       {func(cfg *Config, _ *Model) { cfg.Rate = nan }, []string{"learning rate is NaN"}},
		"meta rate":      {func(cfg *Config, _ *Model) { cfg.MetaRate = inf }, []string{"meta learning rate is +Inf"}},
		"momentum 1":     {func(cfg *Config, _ *Model) { cfg.Momentum = 1 }, []string{"momentum is 1", "below 1"}},
		"momentum NaN":   {func(cfg *Config, _ *Model) { cfg.Momentum = nan }, []string{"momentum is NaN"}},
		"decay":          {func(cfg *Config, _ *Model) { cfg.Decay = -1 }, []string{"weight decay is -1"}},
		"meta decay":     {func(cfg *Config, _ *Model) { cfg.MetaDecay = inf }, []string{"meta weight decay is +Inf"}},
		"classes":        {func(_ *Config, m *Model) { m.Classes = 1 }, []string{"1 classes", "at least 2"}},
		"nothing to fit": {func(_ *Config, m *Model) { m.Params = nil }, []string{"no trainable"}},
	} {
		cfg, model := DefaultConfig(), newModel(t, 1, 2)
		c.change(&cfg, &model)
		_, err := New(open(t, backend.Go), cfg, model)
		t.Run(name, func(t *testing.T) { demand.Error(t, err, c.words...) })
	}
	if err := DefaultConfig().Validate(); err != nil {
		t.Error(err)
	}
}

// fitCase holds arguments of Fit.
type fitCase struct {
	pool       *tensors.Tensor
	start      net.Values
	data, meta Samples
	updates    int
}

func newFitCase(m Model) *fitCase {
	s := newSet(2, 3, 10, 5)
	return &fitCase{pool: s.pool(), start: arrays(m.Params, .7, "start"), data: s.data, meta: s.meta, updates: 20}
}

func (c *fitCase) fit(ctx context.Context, tr *Trainer) error {
	_, _, err := tr.Fit(ctx, c.pool, c.start, c.data, c.meta, c.updates, 0)
	return err
}

func TestFitRefuses(t *testing.T) {
	model := newModel(t, 2, 3)
	tr := newTrainer(t, "", small(), model)
	for name, c := range map[string]struct {
		change func(c *fitCase)
		words  []string
	}{
		"no meta set":    {func(c *fitCase) { c.meta = Samples{} }, []string{"no meta samples"}},
		"no samples":     {func(c *fitCase) { c.data = Samples{} }, []string{"no training samples"}},
		"labels missing": {func(c *fitCase) { c.meta.Label = c.meta.Label[:2] }, []string{"5 meta samples", "2 labels"}},
		"row":            {func(c *fitCase) { c.data.Row[3] = 15 }, []string{"training sample 3", "row 15", "pool of 15"}},
		"negative row":   {func(c *fitCase) { c.meta.Row[1] = -1 }, []string{"meta sample 1", "row -1"}},
		"label":          {func(c *fitCase) { c.data.Label[9] = 3 }, []string{"training sample 9", "label 3", "0 to 2"}},
		"negative label": {func(c *fitCase) { c.meta.Label[0] = -1 }, []string{"meta sample 0", "label -1"}},
		"no pool":        {func(c *fitCase) { c.pool = nil }, []string{"pool", "[rows, dims...]"}},
		"flat pool":      {func(c *fitCase) { c.pool = tensors.FromValue([]float32{1, 2}) }, []string{"[rows, dims...]"}},
		"other pool":     {func(c *fitCase) { c.pool = filled(15, 3, 0) }, []string{"Meta-Weight-Net"}},
		"other model":    {func(c *fitCase) { c.start = c.start[:3] }, []string{"3 arrays", "4 of the classifier"}},
		"other shape":    {func(c *fitCase) { c.start[0] = make([]float32, 3) }, []string{"3 values", "shift", "2"}},
		"no updates":     {func(c *fitCase) { c.updates = 0 }, []string{"0 updates"}},
		"NaN in the pool": {func(c *fitCase) { c.pool = filled(15, 2, math.NaN()) },
			[]string{"loss became NaN", "learning rate (0.5)"}},
		"infinite": {func(c *fitCase) { c.start[2][0] = float32(math.Inf(1)) },
			[]string{"loss became", "learning rate (0.5)"}},
	} {
		fc := newFitCase(model)
		c.change(fc)
		err := fc.fit(t.Context(), tr)
		t.Run(name, func(t *testing.T) { demand.Error(t, err, c.words...) })
	}
}

// filled is an array [rows, dim] of equal values.
func filled(rows, dim int, value float64) *tensors.Tensor {
	x := make([]float32, rows*dim)
	for i := range x {
		x[i] = float32(value)
	}
	return tensors.FromFlatDataAndDimensions(x, rows, dim)
}

func TestDivergenceNamesTheRate(t *testing.T) {
	cfg, model := small(), newModel(t, 2, 3)
	cfg.Rate = 1e38
	err := newFitCase(model).fit(t.Context(), newTrainer(t, backend.Go, cfg, model))
	demand.Error(t, err, "loss became", "lower the learning rate (1e+38)")
}

func TestCancelled(t *testing.T) {
	model := newModel(t, 2, 3)
	tr, c := newTrainer(t, backend.Go, small(), model), newFitCase(model)
	theta, v, err := tr.Fit(t.Context(), c.pool, c.start, c.data, c.meta, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.fit(ctx, tr); !errors.Is(err, context.Canceled) {
		t.Errorf("Fit after a cancellation: %v", err)
	}
	if _, err := tr.Weights(ctx, c.pool, theta, v, c.data); !errors.Is(err, context.Canceled) {
		t.Errorf("Weights after a cancellation: %v", err)
	}
	_, err = tr.Weights(t.Context(), c.pool, theta, v[:2], c.data)
	demand.Error(t, err, "2 arrays", "4 of the weight network")
}

// TestMeanLossIsRefused: if a model returned the mean of a batch's losses, all its samples would
// silently get the same weight.
func TestMeanLossIsRefused(t *testing.T) {
	model := newModel(t, 2, 3)
	losses := model.Losses
	model.Losses = func(s *net.Scope, pool, row, label *Node) *Node {
		return ReduceAllMean(losses(s, pool, row, label))
	}
	err := newFitCase(model).fit(t.Context(), newTrainer(t, "", small(), model))
	demand.Error(t, err, "Meta-Weight-Net", "one loss for each sample")
}
