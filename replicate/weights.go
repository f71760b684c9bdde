package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tvps/data/table"
	"tvps/gomlx_models/backend"
	"tvps/gomlx_models/propensity"
	"tvps/replicate/lab"
	"tvps/replicate/own"
	"tvps/replicate/runs"
	"tvps/replicate/usage"

	"github.com/google/renameio/v2"
	"github.com/spf13/cobra"
)

// weightsFlags are those of weights.
type weightsFlags struct {
	request                   own.Request
	bin, kind, clip, label    string
	out, model, json, backend string
	permutations, updates     int
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
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage.Errorf("%s takes one table, but got %d", cmd.CommandPath(), len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.request.Time, "time", "", "column of the time; without it the rows are in time order, and --bin cuts them into blocks")
	flags.StringVar(&f.request.Label, "label", "", "column of the outcome (default: none, so weights are of x alone)")
	flags.StringVar(&f.label, "label-kind", "", "kind of the label: class or number (default: found)")
	flags.StringVar(&f.bin, "bin", "none", "grouping of times: none, hour, day, week, month, quarter, year, \"365 rows\" or \"20 blocks\"")
	flags.StringVar(&f.request.At, "at", "", "time T, as the table has it, such as 2024-06 (default: the last one)")
	flags.StringVar(&f.kind, "kind", "", "kind of weight: joint, covariate or conditional (default: conditional with a label, else covariate)")
	flags.StringVar(&f.clip, "clip", string(propensity.ClipOne), "clip of omega: min1, exp1 or none")
	flags.Float64Var(&f.request.Weights.Floor, "floor", 0, "least effective share of the rows, from 0 to 1")
	flags.Float64Var(&f.request.Weights.HalfLife, "half-life", 0, "half-life of exponential forgetting, in units of time; 0: none")
	flags.StringSliceVar(&f.request.Read.Drop, "drop", nil, "columns to leave out")
	flags.IntVar(&f.permutations, "permutations", propensity.DefaultOwn().Permutations, "number of shuffles of the times in the test for drift; 0: no test")
	flags.IntVar(&f.updates, "updates", 0, "limit of minibatches in one training of g; 0: none but that of its grid")
	flags.Int64Var(&f.request.Seed, "seed", 0, "seed of all random numbers")
	flags.StringVarP(&f.out, "out", "o", "weights.parquet", "file of the weights: Parquet, or CSV if it ends so")
	flags.StringVar(&f.model, "model", "", "file for the fitted score (default: not kept)")
	flags.StringVar(&f.json, "json", "", "file for settings, schema and diagnostics (default: none)")
	flags.StringVar(&f.backend, "backend", "", "backend: xla:cpu, xla:cuda, go, or the path of a PJRT plugin (default xla:cpu, or go without it)")
	return cmd
}

// resolve completes the request from the flags. All its errors are usage errors.
func (f *weightsFlags) resolve(file string) error {
	q := &f.request
	q.File, q.LabelKind = file, table.LabelKind(f.label)
	q.Weights.Kind, q.Weights.Clip = propensity.Kind(f.kind), propensity.ClipPolicy(f.clip)
	q.Fit = propensity.DefaultOwn()
	q.Fit.Permutations = f.permutations
	for i := range q.Fit.Candidates {
		if c := &q.Fit.Candidates[i]; f.updates > 0 {
			c.Updates = min(c.Updates, f.updates)
		}
	}
	var err error
	if q.Bin, err = table.ParseBin(f.bin); err != nil {
		return usage.Errorf("--bin: %w", err)
	}
	if f.updates < 0 {
		return usage.Errorf("--updates %d: give at least 0", f.updates)
	}
	if q.Time == "" && q.Bin.Rows == 0 && q.Bin.Blocks == 0 {
		return usage.Errorf("--time is missing: name the column of the time, or, for rows in time order, give --bin \"20 blocks\"")
	}
	if kinds := propensity.Names(propensity.Kinds()); f.kind != "" && !slices.Contains(kinds, f.kind) {
		return usage.Errorf("--kind %s is not one of %s", f.kind, strings.Join(kinds, ", "))
	}
	if clips := propensity.Names(propensity.Clips()); !slices.Contains(clips, f.clip) {
		return usage.Errorf("--clip %s is not one of %s", f.clip, strings.Join(clips, ", "))
	}
	if f.label != "" && f.label != string(table.Classes) && f.label != string(table.Regression) {
		return usage.Errorf("--label-kind %s is neither %s nor %s", f.label, table.Classes, table.Regression)
	}
	if q.Weights.Kind == propensity.Conditional && q.Label == "" {
		return usage.Errorf("--kind conditional needs --label")
	}
	if err := lab.CheckBackend(f.backend); err != nil {
		return err
	}
	return usage.Error(q.Fit.Validate())
}

func (f *weightsFlags) run(cmd *cobra.Command, file string) error {
	if err := f.resolve(file); err != nil {
		return err
	}
	for _, path := range []string{f.out, f.model, f.json} {
		if path == "" {
			continue
		}
		if err := runs.TryWrite(filepath.Dir(path)); err != nil {
			return fmt.Errorf("cannot write %s: %w", path, err)
		}
	}
	b, err := backend.Open(cmd.Context(), f.backend, backend.Options{Log: os.Stderr})
	if err != nil {
		return err
	}
	defer b.Finalize()
	r, err := own.Weigh(cmd.Context(), b.Backend, f.request)
	var mistake *table.Error
	if errors.As(err, &mistake) {
		return usage.Error(err)
	}
	if err != nil {
		return err
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
	if f.json != "" {
		text, err := json.MarshalIndent(r, "", "  ")
		if err == nil {
			err = renameio.WriteFile(f.json, append(text, '\n'), 0o644)
		}
		if err != nil {
			return fmt.Errorf("cannot write %s: %w", f.json, err)
		}
	}
	return r.WriteWeights(f.out)
}
