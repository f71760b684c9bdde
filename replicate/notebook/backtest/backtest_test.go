package backtest

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/data/random"
	bins "tvps/data/table"
	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/tables"
	"tvps/replicate/tables/backtest"
)

// TestBacktest: what a cell shows is what the back test returned, and the second time the blocks come from the store.
func TestBacktest(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TVPS_RESULTS", filepath.Join(dir, "results"))
	rng := random.New(1, "cells-backtest")
	text := "x,y\n"
	for range 400 {
		x, y := rng.NormFloat64(), "no"
		if x+rng.NormFloat64() > 0 {
			y = "yes"
		}
		text += fmt.Sprintf("%.4f,%s\n", x, y)
	}
	file := filepath.Join(dir, "table.csv")
	demand.Write(t, file, text)
	source := tables.Source{File: file, Label: "y", Bin: bins.Bin{Blocks: 8}}
	q := Request{Request: tables.Request{Source: source, Fit: crossfit.DefaultConfig()}, Model: "logistic",
		Rules: []string{}, Kinds: []crossfit.Kind{}}
	tested := func() *backtest.Result {
		r, err := run(context.Background(), q)
		demand.NoError(t, err)
		return r
	}
	r := tested()
	html, _, values := shown(r)
	var uniform backtest.RuleResult
	for _, rule := range r.Rules {
		if rule.Rule == backtest.Uniform {
			uniform = rule
		}
	}
	if uniform.Rule == "" || values["backtest/uniform/log-loss"] != uniform.Scores["log-loss"] ||
		values["backtest/uniform/minus-forgetting"] != uniform.AgainstForgetting.Mean {
		t.Errorf("numbers %v of %+v", values, uniform)
	}
	d := uniform.AgainstForgetting
	interval := fmt.Sprintf("%+.4f [%+.4f, %+.4f]", d.Mean, d.Low, d.High)
	if !strings.Contains(html, r.Verdict.Sentence) || !strings.Contains(html, interval) {
		t.Errorf("the cell shows %s", html)
	}
	line := Losses(r, backtest.Uniform)
	if len(line.Y) != len(r.Blocks) || line.Y[1] != r.Blocks[1].Scores[backtest.Uniform] {
		t.Errorf("a line of %d points for %d blocks", len(line.Y), len(r.Blocks))
	}
	again := tested()
	a, _ := json.Marshal(r)
	b, _ := json.Marshal(again)
	if other, _, _ := shown(again); string(a) != string(b) || other != html {
		t.Error("the stored back test shows something else")
	}
	q.Model = "logistik"
	_, err := run(context.Background(), q)
	demand.Error(t, err, "logistik")
}
