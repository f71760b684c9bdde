package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"tvps/gomlx_models/propensity"
	"tvps/gomlx_models/propensity/crossfit"
	"tvps/replicate/tables/backtest"
	"tvps/replicate/tables/weights"
	"tvps/replicate/usage"

	"github.com/spf13/cobra"
)

// backtestFlags are those of backtest.
type backtestFlags struct {
	tableFlags
	request      backtest.Request
	kinds        []string
	results, out string
	workers      int
}

func backtestCommand() *cobra.Command {
	f := &backtestFlags{}
	cmd := &cobra.Command{
		Use:   "backtest TABLE",
		Short: "Find out whether weights of the past would have helped on your own table, and which",
		Long: "Back-test weights of the past on a table (CSV, also compressed, or Parquet): for each block of time a\n" +
			"model learns from all earlier blocks with each weighting, and predicts the block. Compared are equal weights,\n" +
			"the last block, windows, exponential forgetting, and omega of three kinds, each alone and with forgetting.\n" +
			"Half-lives and windows are chosen on earlier blocks alone. The first line says what to use. Finished blocks are\n" +
			"stored: after an interruption the same command continues. A finished back test of your own command is computed\n" +
			"again, as the command may have changed; --reuse takes it from the store.\n\n" +
			"The model is logistic (ridge regression for a number) or your own command:\n\n" +
			"  exec:COMMAND   runs COMMAND TRAIN TEST OUT for each model\n" +
			"  serve:COMMAND  starts COMMAND once a worker and sends it a line TRAIN<tab>TEST<tab>OUT for each model;\n" +
			"                 it answers ok\n\n" +
			"TRAIN is Parquet with features, label and a column weight; TEST is Parquet with features. COMMAND writes OUT,\n" +
			"Parquet or CSV with a row for each row of TEST: a column of probability for each class, or a column prediction.",
		Args:        oneTable,
		Annotations: map[string]string{usage.Continues: "true"},
		RunE:        func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	flags := cmd.Flags()
	f.register(cmd)
	flags.StringVar(&f.request.Model, "model", backtest.Logistic,
		backtest.Logistic+", \"exec:COMMAND\" or \"serve:COMMAND\"")
	flags.StringSliceVar(&f.request.Rules, "rules", nil, "rules besides those of --kinds: "+
		strings.Join(backtest.Rules(true), ", ")+" (default: "+strings.Join(backtest.Rules(false), ", ")+"; "+backtest.Uniform+
		" and "+backtest.Forgetting+" always take part)")
	flags.StringSliceVar(&f.kinds, "kinds", nil, "kinds of omega, each alone and with forgetting: "+
		strings.Join(propensity.Names(crossfit.Kinds()), ", ")+", or none (default: all)")
	flags.StringVar(&f.request.Until, "at", "",
		"the last block, as the table has it; a month, as 2024-06, is its last block, a day the block that it lies in "+
			"(default: the last one)")
	flags.IntVar(&f.request.Last, "last", 0,
		"number of test blocks, up to --at (default 0: all but the first fifth, fewer for many rows)")
	flags.StringVar(&f.request.Gap, "gap", "", "how late labels come, as 2 (blocks), \"10 days\" or \"1 month\" (31 days; with "+
		"--bin month a bin): nothing from this time before a test block is learned from (default: labels are known before the next block)")
	flags.BoolVar(&f.request.Reuse, "reuse", false, "take a finished back test of your own command from --results")
	flags.StringVar(&f.results, "results", "results", "folder of finished blocks and back tests")
	flags.StringVar(&f.out, "out", filepath.Join("figures", "out", "backtest"), "folder of the page")
	flags.IntVar(&f.workers, "workers", runtime.NumCPU(), "number of models that train in parallel")
	return cmd
}

func (f *backtestFlags) run(cmd *cobra.Command, file string) error {
	q := &f.request
	var err error
	if q.Request, err = f.asked(cmd, file); err != nil {
		return err
	}
	if f.kinds != nil {
		q.Kinds = []crossfit.Kind{}
	}
	for _, kind := range f.kinds {
		switch none := kind == string(weights.NoOmega); {
		case none && len(f.kinds) > 1:
			return usage.Errorf("--kinds none stands alone: it is for no rule with omega")
		case !none:
			q.Kinds = append(q.Kinds, crossfit.Kind(kind))
		}
	}
	if q.Label == "" {
		return usage.Errorf("--label is missing: name the column of the outcome that models predict")
	}
	if err := cmp.Or(checkWorkers(f.workers), usage.Folder(f.results)); err != nil {
		return err
	}
	p, err := prepared(file, backtest.Prepare, *q)
	if err != nil {
		return mistake(err)
	}
	fmt.Fprint(cmd.ErrOrStderr(), p.Begin())
	return f.page(cmd, file, f.out, func() (pageResult, error) {
		r, err := backTest(cmd.Context(), p, f.results, f.workers)
		return backtestPage{r}, err
	})
}
