package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"time"

	"tvps/data/random"
	"tvps/gomlx_models/backend"
	"tvps/gomlx_models/propensity/crossfit"

	"gonum.org/v1/gonum/stat"
)

//go:embed ratio.py
var script string

const (
	times   = 20
	perTime = 100
	speed   = .1 // of the mean, in standard deviations a time
)

// rows are what ratio.py reads.
type rows struct {
	X    []float64 `json:"x"`
	Time []int     `json:"time"`
}

// draw draws perTime rows of N(speed t, 1) for each time t.
func draw(purpose string) rows {
	rng, r := random.New(1, "peers ratio", purpose), rows{}
	for t := range times {
		for range perTime {
			r.X, r.Time = append(r.X, speed*float64(t)+rng.NormFloat64()), append(r.Time, t)
		}
	}
	return r
}

// exact is log p_T(x) / p_t(x) for the last time T.
func (r rows) exact() []float64 {
	out := make([]float64, len(r.X))
	for i, x := range r.X {
		own, last := x-speed*float64(r.Time[i]), x-speed*(times-1)
		out[i] = (own*own - last*last) / 2
	}
	return out
}

func (r rows) data() crossfit.Table {
	d := crossfit.Table{Dim: 1}
	for i, x := range r.X {
		d.X, d.Time = append(d.X, float32(x)), append(d.Time, float64(r.Time[i]))
	}
	return d
}

// result is one program's log ratio of the rows to test.
type result struct {
	Name    string    `json:"name"`
	Log     []float64 `json:"log"`
	Seconds float64   `json:"seconds"`
}

// compareRatios writes a table, with our result first: correlation with the exact log ratio on rows that no program has
// seen, root mean square error and time. The data are 2,000 rows of a Gaussian whose mean moves over 20 times. Without
// a Python that has scikit-learn it says so and compares nothing.
func compareRatios(ctx context.Context, python string, out io.Writer) error {
	if err := exec.CommandContext(ctx, python, "-c", "import sklearn").Run(); err != nil {
		fmt.Fprintf(out, "%s has no scikit-learn (%v): nothing to compare with\n", python, err)
		return nil
	}
	train, test := draw("train"), draw("test")
	results, err := ours(ctx, train, test)
	if err != nil {
		return err
	}
	peers, err := theirs(ctx, python, train, test)
	if err != nil {
		return err
	}
	results = append(results, peers...)
	exact := test.exact()
	fmt.Fprintf(out, "%-55s %12s %8s %9s\n", "log p_T(x)/p_t(x) of 2,000 unseen rows", "correlation", "rmse", "seconds")
	for _, r := range results {
		if len(r.Log) != len(exact) {
			return fmt.Errorf("%s gave %d values for %d rows", r.Name, len(r.Log), len(exact))
		}
		squares := 0.
		for i, v := range r.Log {
			squares += (v - exact[i]) * (v - exact[i]) / float64(len(exact))
		}
		fmt.Fprintf(out, "%-55s %12.3f %8.3f %9.2f\n", r.Name, stat.Correlation(r.Log, exact, nil),
			math.Sqrt(squares), r.Seconds)
	}
	return nil
}

// ours are the results of package propensity: of a first fit, which compiles, and of a second one.
func ours(ctx context.Context, train, test rows) ([]result, error) {
	engine, err := backend.Open(ctx, "", backend.Options{Log: os.Stderr})
	if err != nil {
		return nil, err
	}
	defer engine.Finalize()
	fitter := crossfit.NewFitter(engine.Backend)
	defer fitter.Close()
	cfg := crossfit.DefaultConfig()
	cfg.Permutations = 0 // the others do not test for drift
	var out []result
	for _, name := range []string{"tvps, first fit (compiles)", "tvps, another fit"} {
		begin := time.Now()
		g, err := fitter.Fit(ctx, train.data(), cfg, 0)
		if err != nil {
			return nil, err
		}
		w, err := g.WeightsOf(ctx, test.data(), times-1, crossfit.WeightOptions{Kind: crossfit.Covariate})
		if err != nil {
			return nil, err
		}
		out = append(out, result{name, w.LogOmega, time.Since(begin).Seconds()})
	}
	return out, nil
}

// theirs are the results of ratio.py.
func theirs(ctx context.Context, python string, train, test rows) ([]result, error) {
	input, err := json.Marshal(map[string]rows{"train": train, "test": test})
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, python, "-c", script)
	command.Stdin, command.Stderr = bytes.NewReader(input), os.Stderr
	answer, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("ratio.py: %w", err)
	}
	var out []result
	if err := json.Unmarshal(answer, &out); err != nil {
		return nil, fmt.Errorf("ratio.py answers %.100q: %w", answer, err)
	}
	return out, nil
}
