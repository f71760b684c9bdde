package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"tvps/gomlx_models/backend"
	"tvps/gomlx_models/propensity"
	"tvps/replicate/own"
	"tvps/replicate/usage"

	"github.com/spf13/cobra"
)

// weightsFlags are those of weights.
type weightsFlags struct {
	tableFlags
	request               own.Request
	kind, clip            string
	out, model            string
	permutations, updates int
}

func weightsCommand() *cobra.Command {
	f := &weightsFlags{}
	cmd := &cobra.Command{
		Use:   "weights TABLE",
		Short: "Weight the rows of your own table for learning at a time T",
		Long: "Weight the rows of a table (CSV, also compressed, or Parquet) for learning at a time T: read it, fit the\n" +
			"time-varying propensity score on the rows up to T, and write row, weight (mean 1), log_omega and spread.\n" +
			"Multiply each sample's loss by its weight, or hand it to a trainer as sample_weight. Says whether the\n" +
			"data drift at all, by a test against shuffled times.",
		Args: oneTable,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	flags := cmd.Flags()
	f.register(cmd)
	flags.StringVar(&f.request.At, "at", "", "time T, as the table has it, such as 2024-06 (default: the last one)")
	flags.StringVar(&f.kind, "kind", "", "kind of weight: joint, covariate or conditional (default: conditional with a label, else covariate)")
	flags.StringVar(&f.clip, "clip", string(propensity.ClipOne), "clip of omega: min1, exp1 or none")
	flags.Float64Var(&f.request.Weights.Floor, "floor", 0, "least effective share of the rows, from 0 to 1")
	flags.Float64Var(&f.request.Weights.HalfLife, "half-life", 0, "half-life of exponential forgetting, in units of time; 0: none")
	flags.IntVar(&f.permutations, "permutations", propensity.DefaultOwn().Permutations, "number of shuffles of the times in the test for drift; 0: no test")
	flags.IntVar(&f.updates, "updates", 0, "limit of minibatches in one training of g; 0: none but that of its grid")
	flags.StringVarP(&f.out, "out", "o", "weights.parquet", "file of the weights: Parquet, or CSV if it ends so")
	flags.StringVar(&f.model, "model", "", "file for the fitted score (default: not kept)")
	return cmd
}

// resolve completes the request from the flags. All its errors are usage errors.
func (f *weightsFlags) resolve(file string) error {
	q := &f.request
	var err error
	if q.Source, err = f.tableFlags.source(file); err != nil {
		return err
	}
	q.Seed = f.seed
	q.Weights.Kind, q.Weights.Clip = propensity.Kind(f.kind), propensity.ClipPolicy(f.clip)
	q.Fit = propensity.DefaultOwn()
	q.Fit.Permutations = f.permutations
	limitUpdates(&q.Fit, f.updates)
	if f.updates < 0 {
		return usage.Errorf("--updates %d: give at least 0", f.updates)
	}
	if kinds := propensity.Names(propensity.Kinds()); f.kind != "" && !slices.Contains(kinds, f.kind) {
		return usage.Errorf("--kind %s is not one of %s", f.kind, strings.Join(kinds, ", "))
	}
	if clips := propensity.Names(propensity.Clips()); !slices.Contains(clips, f.clip) {
		return usage.Errorf("--clip %s is not one of %s", f.clip, strings.Join(clips, ", "))
	}
	if q.Weights.Kind == propensity.Conditional && q.Label == "" {
		return usage.Errorf("--kind conditional needs --label")
	}
	return usage.Error(q.Fit.Validate())
}

// limitUpdates limits the minibatches of each training; 0 is no limit.
func limitUpdates(c *propensity.OwnConfig, updates int) {
	for i := range c.Candidates {
		if updates > 0 {
			c.Candidates[i].Updates = min(c.Candidates[i].Updates, updates)
		}
	}
}

func (f *weightsFlags) run(cmd *cobra.Command, file string) error {
	if err := f.resolve(file); err != nil {
		return err
	}
	if err := tryWrite(f.out, f.model, f.json); err != nil {
		return err
	}
	b, err := backend.Open(cmd.Context(), f.backend, backend.Options{Log: os.Stderr})
	if err != nil {
		return err
	}
	defer b.Finalize()
	r, err := own.Weigh(cmd.Context(), b.Backend, f.request)
	if err != nil {
		return mistake(err)
	}
	defer r.Close()
	if err := f.write(r); err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%sWeights: %s\n", r, f.out)
	return err
}

// write writes the files that were asked for, the weights last.
func (f *weightsFlags) write(r *own.Result) error {
	if f.model != "" {
		if err := r.SaveModel(f.model); err != nil {
			return err
		}
	}
	if err := writeJSON(f.json, r); err != nil {
		return err
	}
	return r.WriteWeights(f.out)
}
