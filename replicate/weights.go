package main

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"tvps/gomlx_models/propensity"
	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/runs"
	"tvps/replicate/tables"
	"tvps/replicate/tables/backtest"
	"tvps/replicate/tables/weights"
	"tvps/replicate/usage"

	"github.com/spf13/cobra"
)

// weightsFlags are those of weights.
type weightsFlags struct {
	tableFlags
	request            weights.Request
	kind, clip, unseen string
	out                string
	permutations       int
	testModel, gap     string // of --kind auto
	results            string // of --kind auto
	workers            int
}

// auto is the kind of weight that a back test advises.
const auto = "auto"

func weightsCommand() *cobra.Command {
	f := &weightsFlags{}
	cmd := &cobra.Command{
		Use:   "weights TABLE",
		Short: "Weight the rows of your own table for learning at a time T",
		Long: "Weight the rows of a table (CSV, also compressed, or Parquet) for learning at a time T: read it, fit the\n" +
			"time-varying propensity score on the rows up to T, and write row, weight (mean 1), log_omega and spread.\n" +
			"Rows after T or without a label have no line: join by row. Multiply each sample's loss by its weight, or hand\n" +
			"it to a trainer as sample_weight. If the table does not drift, by the tests of the command drift, the weights\n" +
			"are equal.",
		Args: oneTable,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	flags := cmd.Flags()
	f.register(cmd)
	flags.StringVar(&f.request.At, "at", "", "time T, as the table has it; a month, as 2024-06, is its "+
		"last time, a day the bin that it lies in (default: the last one)")
	flags.StringVar(&f.unseen, "unseen", "",
		"column of true and false: rows with true are weighted, but nothing is learned from them (default: none)")
	flags.StringVar(&f.kind, "kind", "",
		"kind of weight: joint, covariate, conditional, none (forgetting alone), or auto: what a back test advises\n"+
			"(default: conditional with a label, else covariate)")
	flags.StringVar(&f.clip, "clip", string(propensity.ClipOne), "clip of omega: min1, exp1 or none")
	flags.Float64Var(&f.request.Weights.HalfLife, "half-life", 0,
		"half-life of exponential forgetting, in units of time (default 0: none)")
	flags.IntVar(&f.request.Window, "window", 0, "number of last times whose rows have a weight; older rows have 0 (default 0: all)")
	flags.IntVar(&f.permutations, "permutations", crossfit.DefaultConfig().Permutations,
		fmt.Sprintf("number of shuffles of the times in the tests for drift, at least %d; 0: no tests", tables.LeastPermutations))
	flags.StringVar(&f.testModel, "test-model", backtest.Logistic,
		"model of the back test of --kind auto: "+backtest.Logistic+", \"exec:COMMAND\" or \"serve:COMMAND\"")
	flags.StringVar(&f.gap, "gap", "", "how late labels come, for the back test of --kind auto, as --gap of backtest")
	flags.StringVar(&f.results, "results", "results", "folder of back tests, for --kind auto")
	flags.IntVar(&f.workers, "workers", runtime.NumCPU(), "number of models that train in parallel, with --kind auto")
	flags.StringVarP(&f.out, "out", "o", "weights.parquet", "file of the weights, .parquet or .csv")
	return cmd
}

// resolve completes the request from the flags. All its errors are usage errors.
func (f *weightsFlags) resolve(cmd *cobra.Command, file string) error {
	q := &f.request
	var err error
	if q.Request, err = f.asked(cmd, file); err != nil {
		return err
	}
	q.Unseen, q.Weights.Kind, q.Weights.Clip = f.unseen, crossfit.Kind(f.kind), propensity.ClipPolicy(f.clip)
	if f.kind == auto {
		q.Weights.Kind = "" // that of the back test's verdict
	}
	q.Fit.Permutations = f.permutations
	switch w := q.Weights; {
	case !slices.Contains([]string{".csv", ".parquet"}, strings.ToLower(filepath.Ext(f.out))):
		return usage.Errorf("--out %s: name a file that ends in .parquet or .csv", f.out)
	case f.permutations != 0 && (f.permutations < tables.LeastPermutations || f.permutations > crossfit.MaxPermutations):
		return usage.Errorf("--permutations %d: give a number from %d to %d, or 0 for no test", f.permutations,
			tables.LeastPermutations, crossfit.MaxPermutations)
	case q.Window < 0:
		return usage.Errorf("--window %d: give at least 0", q.Window)
	case !(w.HalfLife >= 0) || math.IsInf(w.HalfLife, 0):
		return usage.Errorf("--half-life %v: give a positive number, or 0 for none", w.HalfLife)
	}
	kinds := append(propensity.Names(crossfit.Kinds()), string(weights.NoOmega), auto)
	if f.kind != "" && !slices.Contains(kinds, f.kind) {
		return usage.Errorf("--kind %s is not one of %s", f.kind, strings.Join(kinds, ", "))
	}
	if clips := propensity.Names(propensity.Clips()); !slices.Contains(clips, f.clip) {
		return usage.Errorf("--clip %s is not one of %s", f.clip, strings.Join(clips, ", "))
	}
	if q.Weights.Kind == crossfit.Conditional && q.Label == "" {
		return usage.Errorf("--kind conditional needs --label")
	}
	for _, name := range []string{"test-model", "gap"} {
		if f.kind != auto && cmd.Flags().Changed(name) {
			return usage.Errorf("--%s is for the back test of --kind %s: give both or neither", name, auto)
		}
	}
	if f.kind == auto && (q.Weights.HalfLife != 0 || q.Window != 0) {
		return usage.Errorf("--half-life and --window: with --kind %s the back test chooses them", auto)
	}
	if f.kind == auto && q.Weights.Clip != propensity.ClipOne {
		return usage.Errorf("--clip %s: with --kind %s the back test tests weights of --clip %s only: give that, or leave "+
			"it out", f.clip, auto, propensity.ClipOne)
	}
	return cmp.Or(checkWorkers(f.workers), usage.Folder(f.results), usage.Error(q.Fit.Validate()))
}

func (f *weightsFlags) run(cmd *cobra.Command, file string) error {
	if err := f.resolve(cmd, file); err != nil {
		return err
	}
	p, err := prepared(file, weights.Prepare, f.request)
	if err != nil {
		return mistake(err)
	}
	fmt.Fprint(cmd.ErrOrStderr(), p.Begin())
	var test *backtest.Job
	if f.kind == auto {
		q := backtest.Request{Request: p.Request.Request, Model: f.testModel, Until: p.At, Gap: f.gap}
		q.Fit.Permutations = 0 // the weights test for drift
		test, err = backtest.Prepare(q)
		if err != nil {
			return mistake(err)
		}
	}
	if err := checkOutputs(file, f.out, f.json); err != nil {
		return err
	}
	var advice *backtest.Advice
	if test != nil {
		tested, err := backTest(cmd.Context(), test, f.results, f.workers)
		if err != nil {
			return mistake(err)
		}
		advice = &tested.Verdict
		fmt.Fprintf(cmd.OutOrStdout(), "back test: %s\n", advice.Sentence)
		if advice.Committee {
			fmt.Fprintln(cmd.OutOrStdout(), "No weights of rows do what these models do; the weights written are the best ones.")
		}
		p.Advised, p.Weights.Kind, p.Weights.HalfLife, p.Window = true, cmp.Or(advice.Kind, weights.NoOmega), advice.HalfLife, advice.Window
	}
	progress, stop := shareReporter()
	r, err := p.Weigh(cmd.Context(), progress)
	stop()
	if err != nil {
		return mistake(err)
	}
	if err := f.write(r, advice); err != nil {
		return err
	}
	lacking := ""
	if r.Without > 0 {
		lacking = fmt.Sprintf("; no line for %s of the table: join by row", runs.Plural(r.Without, "row"))
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%sWeights: %s%s\n", r, f.out, lacking)
	return err
}

// write writes the files that were asked for, the weights last. advice: of --kind auto, or nil.
func (f *weightsFlags) write(r *weights.Result, advice *backtest.Advice) error {
	record := struct {
		*weights.Result
		Advice *backtest.Advice `json:"back-test,omitempty"`
	}{r, advice}
	if err := writeJSON(f.json, record); err != nil {
		return err
	}
	return r.WriteWeights(f.out)
}
