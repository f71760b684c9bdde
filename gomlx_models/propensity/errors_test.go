package propensity

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"tvps/ci/demand"
)

// TestConfigRejects: a setting that cannot be used is named, with what is valid. ValidateBatched says the same, without
// the name of the package: see TestValidateBatched.
func TestConfigRejects(t *testing.T) {
	deep := func(c *Config) { c.Network, c.Time = Deep, TimeScalar }
	for want, change := range map[string]func(c *Config){
		`method "method3" is not one of method1, method2, standard`: func(c *Config) { c.Method = "method3" },
		`network "" is not one of conv5`:                            func(c *Config) { c.Network = "" },
		`time encoding "sine" is not one of scalar, fourier`:        func(c *Config) { c.Time = "sine" },
		`clip "max" is not one of min1, exp1, none`:                 func(c *Config) { c.Clip = "max" },
		`join "film" is not one of first, even`:                     func(c *Config) { c.Join = "film" },
		`columns "ranks" is not one of scores, scaled`:              func(c *Config) { c.Columns = "ranks" },
		"use join first with network conv5":                         func(c *Config) { c.Network, c.Join = Conv5, JoinEven },
		"use columns scaled with network conv5":                     func(c *Config) { c.Network = Conv5 },
		"network deep has no join even; use join first":             func(c *Config) { deep(c); c.Join = JoinEven },
		"layers is 1; it must be at least 2":                        func(c *Config) { deep(c); c.Layers = 1 },
		"network deep takes the time as a number":                   func(c *Config) { c.Network = Deep },
		"frequencies is 0; it must be at least 1":                   func(c *Config) { c.Time, c.Frequencies = TimeFourier, 0 },
		"hidden is 0; it must be at least 1":                        func(c *Config) { c.Hidden = 0 },
		"classes is -1; it must be at least 0":                      func(c *Config) { c.Classes = -1 },
		"updates is -1; it must be at least 0":                      func(c *Config) { c.Updates = -1 },
		"batch is 0; it must be at least 1":                         func(c *Config) { c.Batch = 0 },
		"window is 0; it must be at least 1":                        func(c *Config) { c.Method, c.Window = Standard, 0 },
		"learning rate is 0; it must be a positive number":          func(c *Config) { c.LearningRate = 0 },
		"learning rate is NaN; it must be a positive number":        func(c *Config) { c.LearningRate = math.NaN() },
		"learning rate is +Inf; it must be a positive number":       func(c *Config) { c.LearningRate = math.Inf(1) },
	} {
		cfg := DefaultConfig()
		change(&cfg)
		demand.Error(t, cfg.Validate(), "propensity: ", want)
	}
}

// TestFitRejects: every bad input gives an error that says what is wrong and where.
func TestFitRejects(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for name, c := range map[string]struct {
		change func(d *Data, cfg *Config)
		words  []string
	}{
		"NaN":             {func(d *Data, _ *Config) { d.X[7] = float32(nan) }, []string{"sample 3", "coordinate 1", "NaN"}},
		"infinite":        {func(d *Data, _ *Config) { d.X[4] = float32(-inf) }, []string{"sample 2", "coordinate 0", "Inf"}},
		"empty":           {func(d *Data, _ *Config) { d.X, d.Time = nil, nil }, []string{"0 values"}},
		"no dimension":    {func(d *Data, _ *Config) { d.Dim = 0 }, []string{"Dim"}},
		"negative Dim":    {func(d *Data, _ *Config) { d.Dim = -2 }, []string{"Dim"}},
		"half a sample":   {func(d *Data, _ *Config) { d.X = d.X[:7] }, []string{"7 values", "whole"}},
		"one time":        {func(d *Data, _ *Config) { d.Time = []float64{1, 1, 1, 1} }, []string{"1 time", "two"}},
		"too few times":   {func(d *Data, _ *Config) { d.Time = d.Time[:3] }, []string{"4 samples", "3 times"}},
		"NaN time":        {func(d *Data, _ *Config) { d.Time[2] = nan }, []string{"sample 2", "NaN"}},
		"infinite time":   {func(d *Data, _ *Config) { d.Time[1] = inf }, []string{"sample 1", "Inf"}},
		"no labels":       {func(d *Data, _ *Config) { d.Label = nil }, []string{"2 classes"}},
		"no classes":      {func(_ *Data, cfg *Config) { cfg.Classes = 0 }, []string{"4 labels", "set Classes"}},
		"too few labels":  {func(d *Data, _ *Config) { d.Label = d.Label[:1] }, []string{"4 samples", "1 labels"}},
		"label too large": {func(d *Data, _ *Config) { d.Label[3] = 2 }, []string{"sample 3", "label 2", "0 to 1"}},
		"negative label":  {func(d *Data, _ *Config) { d.Label[0] = -1 }, []string{"sample 0", "label -1"}},
		"settings":        {func(_ *Data, cfg *Config) { cfg.Hidden = 0 }, []string{"hidden is 0"}},
		"window too large": {func(_ *Data, cfg *Config) {
			cfg.Method, cfg.Window = Standard, 2
		}, []string{"window of 2", "2 times"}},
		"no image": {func(_ *Data, cfg *Config) {
			cfg.Network, cfg.Columns = Conv5, ColumnsScaled
		}, []string{"conv5", "images"}},
		"divergence": {func(_ *Data, cfg *Config) {
			cfg.LearningRate = 1e38
		}, []string{"loss", "lower the learning rate"}},
	} {
		d := Data{X: []float32{1, 2, 3, 4, 5, 6, 7, 8}, Dim: 2, Label: []int32{0, 1, 0, 1}, Time: []float64{0, 0, 1, 1}}
		cfg := DefaultConfig()
		cfg.Hidden, cfg.Updates, cfg.Batch, cfg.Classes = 4, 20, 8, 2
		c.change(&d, &cfg)
		_, err := Fit(context.Background(), open(t, "go"), d, cfg, 0)
		t.Run(name, func(t *testing.T) { demand.Error(t, err, c.words...) })
	}
}

// TestEstimatorRejects: bad input that only an Estimator can get.
func TestEstimatorRejects(t *testing.T) {
	b, cfg := open(t, "go"), DefaultConfig()
	cfg.Hidden, cfg.Updates, cfg.Classes = 4, 1, 2
	for _, dims := range [][]int{nil, {0}, {-1}, {-2, -1}} {
		_, err := NewPool([]float32{1, 2}, ColumnsScaled, dims...)
		demand.Error(t, err, fmt.Sprint(dims), "at least 1")
	}
	_, err := NewPool([]float32{1, 2}, "score", 1)
	demand.Error(t, err, `propensity: columns "score" is not one of scores, scaled`)
	for _, p := range []*Pool{nil, {}} {
		_, err := NewEstimator(b, p, 2, cfg)
		demand.Error(t, err, "no pool")
	}
	pool, err := NewPool([]float32{1, 2, 3, 4}, ColumnsScaled, 1)
	demand.NoError(t, err)
	none, err := NewEstimator(b, pool, 1, cfg)
	demand.Error(t, err, "two")
	if none != nil {
		t.Error("NewEstimator returned an estimator together with an error")
	}
	_, err = NewEstimator(nil, pool, 2, cfg)
	demand.Error(t, err, "propensity: there is no backend")
	_, err = NewEstimator(b, &Pool{X: pool.X}, 2, cfg)
	demand.Error(t, err, "0 means and 0 scales for samples of 1 values")
	e, err := NewEstimator(b, pool, 2, cfg)
	demand.NoError(t, err)
	_, err = e.On(nil)
	demand.Error(t, err, "no pool")
	good := func() Samples {
		return Samples{Row: []int32{0, 1, 2, 3}, Label: []int32{0, 1, 0, 1}, Time: []int32{0, 0, 1, 1}}
	}
	for name, c := range map[string]struct {
		change func(s *Samples)
		times  []float64
		words  []string
	}{
		"no samples":     {func(s *Samples) { *s = Samples{} }, []float64{0, 1}, []string{"no samples"}},
		"row":            {func(s *Samples) { s.Row[2] = 4 }, []float64{0, 1}, []string{"sample 2", "row 4", "pool of 4"}},
		"negative row":   {func(s *Samples) { s.Row[2] = -1 }, []float64{0, 1}, []string{"row -1"}},
		"time index":     {func(s *Samples) { s.Time[1] = 2 }, []float64{0, 1}, []string{"sample 1", "index 2 of 2"}},
		"unused time":    {func(s *Samples) { s.Time = []int32{0, 0, 0, 0} }, []float64{0, 1}, []string{"time index 1"}},
		"many times":     {func(s *Samples) {}, []float64{0, 1, 2}, []string{"3 times", "made for 2"}},
		"order of times": {func(s *Samples) {}, []float64{1, 0}, []string{"increase"}},
		"NaN time":       {func(s *Samples) {}, []float64{math.NaN(), 0}, []string{"finite"}},
	} {
		s := good()
		c.change(&s)
		_, err := e.Fit(context.Background(), s, c.times, 0)
		t.Run(name, func(t *testing.T) { demand.Error(t, err, c.words...) })
	}
	score, err := e.Fit(context.Background(), good(), []float64{0, 1}, 0)
	demand.NoError(t, err)
	for name, c := range map[string]struct {
		change func(s *Samples)
		T      float64
		words  []string
	}{
		"after":     {func(s *Samples) {}, 1.5, []string{"1.5", "0 to 1", "fit again"}},
		"before":    {func(s *Samples) {}, -1, []string{"outside"}},
		"NaN":       {func(s *Samples) {}, math.NaN(), []string{"NaN"}},
		"between":   {func(s *Samples) {}, .5, []string{"onehot", "fourier"}},
		"label":     {func(s *Samples) { s.Label[1] = 2 }, 1, []string{"sample 1", "label 2"}},
		"no labels": {func(s *Samples) { s.Label = nil }, 1, []string{"labels"}},
		"lengths":   {func(s *Samples) { s.Time = s.Time[:2] }, 1, []string{"4 samples", "2 times"}},
		"row":       {func(s *Samples) { s.Row[0] = 9 }, 1, []string{"row 9"}},
	} {
		s := good()
		c.change(&s)
		_, err := score.LogOmega(context.Background(), s, c.T)
		t.Run(name, func(t *testing.T) { demand.Error(t, err, c.words...) })
	}
	e.Close()
	_, err = score.LogOmega(t.Context(), good(), 1)
	demand.Error(t, err, "propensity: used after Close")
	_, err = e.Fit(t.Context(), good(), []float64{0, 1}, 0)
	demand.Error(t, err, "used after Close")
}

func TestCancelledAndEmpty(t *testing.T) {
	d := gaussian(1, linear, 20, 20)
	cfg := DefaultConfig()
	cfg.Hidden, cfg.Updates = 4, 1
	ctx, cancel := context.WithCancel(context.Background())
	f, err := Fit(ctx, open(t, "go"), d, cfg, 0)
	demand.NoError(t, err)
	if got, err := f.Score.LogOmega(ctx, Samples{}, 1); err != nil || len(got) != 0 {
		t.Errorf("no samples have weights %v, error %v", got, err)
	}
	if got, err := f.LogOmegaOf(ctx, Data{Dim: d.Dim}, 1); err != nil || len(got) != 0 {
		t.Errorf("no new samples have weights %v, error %v", got, err)
	}
	labelled := d
	labelled.Label = make([]int32, len(d.Time))
	_, err = f.LogOmegaOf(ctx, labelled, 1)
	demand.Error(t, err, "labels of 0 classes; set Classes, or give no labels")
	cancel()
	if _, err := f.Weights(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("Weights after a cancellation: %v", err)
	}
	if _, err := Fit(ctx, open(t, "go"), d, cfg, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("Fit after a cancellation: %v", err)
	}
}
