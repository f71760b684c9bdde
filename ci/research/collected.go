package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"tvps/ci/research/collected"
	"tvps/gomlx_models/backend"
	"tvps/replicate/claims"
	"tvps/replicate/experiment"
	"tvps/replicate/lab"
	"tvps/replicate/supervised"
	"tvps/replicate/usage"

	"github.com/spf13/cobra"
)

// collectedFlags are those of collected.
type collectedFlags struct {
	scale, seeds, results, backend string
	options                        lab.StudyOptions
}

func collectedCommand() *cobra.Command {
	f := &collectedFlags{}
	cmd := &cobra.Command{
		Use:   "collected",
		Short: "Compare learners on data sets that you have and that drift by themselves",
		Long: "Compare the paper's learners on data sets that were collected in steps and drift by themselves.\n" +
			"ci/research/README.md says how to get them. Stored runs are not computed again.",
		Args:        usage.NoArguments,
		Annotations: map[string]string{usage.Continues: "true"},
		RunE:        func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.scale, "scale", string(experiment.Small), "tiny, small or paper")
	flags.StringVar(&f.seeds, "seeds", "", "seeds, as 0-2 or 0,4 (default: those of the scale)")
	flags.StringSliceVar(&f.options.Panels, "scenario", nil,
		"scenarios: "+strings.Join(lab.StudyKeys(collected.Tables()), ", ")+" (default: all)")
	flags.StringArrayVar(&f.options.Overrides, "set", nil, "setting to override, as steps=7; repeatable")
	flags.StringVar(&f.results, "results", "results", "folder of the runs")
	flags.StringVar(&f.options.Out, "out", filepath.Join("figures", "out", "collected"), "output folder")
	flags.IntVar(&f.options.Workers, "workers", runtime.NumCPU(), "number of parallel runs")
	flags.StringVar(&f.backend, "backend", "", backendHelp)
	return cmd
}

func (f *collectedFlags) run(cmd *cobra.Command) (err error) {
	o := &f.options
	if o.Scale, err = experiment.ParseScale(f.scale); err != nil {
		return usage.Error(err)
	}
	if f.seeds != "" {
		if o.Seeds, err = claims.ParseSeeds(f.seeds); err != nil {
			return fmt.Errorf("--seeds: %w", err)
		}
	}
	c := lab.PaperCatalog(&supervised.Protocol)
	if _, err := c.StudyPlans(collected.Tables(), *o); err != nil {
		return err
	}
	l, err := lab.Open(cmd.Context(), c, lab.OpenOptions{Backend: f.backend, Open: backend.Options{Log: os.Stderr},
		Results: f.results, Stdout: cmd.OutOrStdout(), Stderr: os.Stderr})
	if err != nil {
		return err
	}
	_, err = l.Study(cmd.Context(), collected.Tables(), *o)
	return err
}
