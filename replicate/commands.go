package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"tvps/data/cifar10"
	"tvps/data/clear"
	"tvps/gomlx_models/backend"
	"tvps/gomlx_models/resnet"
	"tvps/replicate/cluster"
	"tvps/replicate/experiment"
	"tvps/replicate/lab"
	"tvps/replicate/paper"
	"tvps/replicate/usage"

	"github.com/spf13/cobra"
)

func doctorCommand() *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check Go, backend and plugin, GPU, data, cache and disk; exit 1 if fig1 could not run",
		Args:  usage.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			checks := append(backend.Diagnose(cmd.Context(), name),
				diagnoseData(), diagnoseClear(), diagnoseCheckpoint())
			failed, err := backend.PrintChecks(cmd.OutOrStdout(), checks)
			if err != nil {
				return err
			}
			if cmd.Context().Err() != nil {
				return cmd.Context().Err() // checks that were cancelled say nothing
			}
			if failed > 0 {
				return fmt.Errorf("checks failed: %d; fig1 cannot run until they pass", failed)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&name, "backend", "",
		"backend to check: xla:cpu, xla:cuda, go, or the path of a PJRT plugin")
	return cmd
}

// outcome is a check that fails with err, or finds detail.
func outcome(name string, err error, fix, detail string) backend.Check {
	if err != nil {
		return backend.Check{Name: name, Status: backend.Fail, Detail: err.Error(), Fix: fix}
	}
	return backend.Check{Name: name, Status: backend.OK, Detail: detail}
}

// diagnoseData says which images fig1 would use.
func diagnoseData() backend.Check {
	dir, err := cifar10.Find()
	if err != nil {
		return outcome("data", err, "correct or unset TVPS_DATA, or run `go run ./replicate data cifar10`", "")
	}
	if dir == "" {
		return backend.Check{Name: "data", Status: backend.Warn,
			Detail: "full CIFAR-10 not found: the embedded sample of real images is used",
			Fix:    "for the full set, `go run ./replicate data cifar10`, or set TVPS_DATA to its folder"}
	}
	return outcome("data", cifar10.Verify(dir), "download the data again: `go run ./replicate data cifar10`",
		"full CIFAR-10 in "+dir+", checksums match")
}

// diagnoseClear says whether CLEAR's features are found, or the stand-in is used.
func diagnoseClear() backend.Check {
	const fix = "`go run ./replicate data clear` says where the features are and how to use them"
	path, err := clear.Find()
	if err == nil && path == "" {
		return backend.Check{Name: "CLEAR", Status: backend.Warn, Detail: "not found: a stand-in, not CLEAR, is used", Fix: fix}
	}
	if err == nil {
		var report *clear.Report
		if report, err = clear.Describe(path, clear.DefaultType); err == nil {
			err = report.Err()
		}
	}
	return outcome("CLEAR", err, fix, "features in "+path)
}

// diagnoseCheckpoint names the embedded checkpoint, which the scales below the paper's use.
func diagnoseCheckpoint() backend.Check {
	c, hash, err := resnet.Load("", 16, 0)
	if err != nil {
		return outcome("checkpoint", err, "", "")
	}
	return outcome("checkpoint", nil, "", fmt.Sprintf("ResNet-18 of width 16, split 0, test accuracy %s, hash %s",
		c.Metadata["test-accuracy"], hash))
}

func dataCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "data",
		Short: "Download and check data sets",
		Args:  cobra.ArbitraryArgs,
		RunE:  func(cmd *cobra.Command, args []string) error { return usage.Choose(cmd, "data set", args) },
	}
	cmd.AddCommand(&cobra.Command{
		Annotations: map[string]string{usage.Continues: "true"},
		Use:         "cifar10",
		Short:       "Download the official CIFAR-10 archive (170 MB) to the cache, or check an existing copy",
		Args:        usage.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := cifar10.Find()
			if err != nil {
				return err
			}
			own := os.Getenv("TVPS_DATA") != "" // the user's folder is checked, never replaced
			if dir == "" || !own && cifar10.Verify(dir) != nil {
				if dir, err = cifar10.Download(cmd.Context(), os.Stderr); err != nil {
					return err
				}
			}
			if err := cifar10.Verify(dir); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "Full CIFAR-10 in %s, checksums match.\n", dir)
			return err
		},
	}, dataClearCommand())
	return cmd
}

func statusCommand(c lab.Catalog) *cobra.Command {
	flags := &figureFlags{catalog: c}
	var plan string
	cmd := &cobra.Command{
		Use:   "status [figure ...]",
		Short: "Show which runs of the figures are done, running, partial, failed or missing, or the tasks of a plan",
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if plan != "" {
				return printPlanStatus(cmd, args, plan)
			}
			chosen, err := chosenFigures(cmd, c, args)
			if err := cmp.Or(err, checkResults(cmd)); err != nil {
				return err
			}
			l, err := flags.lab(cmd.Context(), backend.Options{NoFetch: true})
			if err != nil {
				return err
			}
			if len(args) == 0 {
				chosen = c.FiguresAt(experiment.Scale(flags.scale))
			}
			return flags.printStates(cmd.OutOrStdout(), l, chosen)
		},
	}
	flags.registerPlan(cmd, c.Figures...)
	registerPlanFile(cmd, &plan)
	return cmd
}

// printPlanStatus prints what became of the tasks of a submitted plan. The error names the first that failed.
func printPlanStatus(cmd *cobra.Command, args []string, path string) error {
	if len(args) > 0 {
		return usage.Errorf("give --plan or figures, not both")
	}
	p, err := readPlan(path)
	if err != nil {
		return err
	}
	s, err := cluster.ReadStatus(cmd.Context(), path, p)
	if err != nil {
		return err
	}
	if err := s.Print(cmd.OutOrStdout()); err != nil {
		return err
	}
	return s.Err()
}

// registerPlanFile adds the flag --plan of commands about a submitted plan.
func registerPlanFile(cmd *cobra.Command, path *string) {
	cmd.Flags().StringVar(path, "plan", "", "file of a plan that was submitted")
}

// printStates prints the state of each run of the figures, and how many runs are in each state.
func (f *figureFlags) printStates(out io.Writer, l *lab.Lab, figures []paper.Figure) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	count := map[string]int{}
	for _, figure := range figures {
		o, err := f.options(figure.Name())
		if err != nil {
			return err
		}
		o.AllFigures = len(figures) > 1
		plan, err := l.Plan(figure, o)
		if err != nil {
			return err
		}
		for _, p := range plan {
			for _, job := range p.Jobs {
				state := l.Store.State(job.Spec, job.Steps)
				count[string(state.Kind)]++
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", figure.Name(), p.Key, job.Spec, job.Spec.ID(), state)
			}
		}
	}
	var totals []string
	for _, kind := range slices.Sorted(maps.Keys(count)) {
		totals = append(totals, fmt.Sprintf("%d %s", count[kind], kind))
	}
	fmt.Fprintf(w, "scale %s: %s\n", f.scale, strings.Join(totals, ", "))
	return w.Flush()
}

// chosenFigures returns the named figures, or all if no name is given. Errors: an unknown name.
func chosenFigures(cmd *cobra.Command, c lab.Catalog, names []string) ([]paper.Figure, error) {
	var out []paper.Figure
	var known []string
	for _, f := range c.Figures {
		known = append(known, f.Command())
		if len(names) == 0 || slices.Contains(names, f.Command()) {
			out = append(out, f)
		}
	}
	return out, usage.Known(cmd.CommandPath()+": there is no figure", names, known)
}
