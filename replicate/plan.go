package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"tvps/data/artifact"
	"tvps/gomlx_models/backend"
	"tvps/replicate/claims"
	"tvps/replicate/cluster"
	"tvps/replicate/experiment"
	"tvps/replicate/lab"
	"tvps/replicate/paper"
	"tvps/replicate/runs"
	"tvps/replicate/usage"

	"github.com/spf13/cobra"
)

// planFlags are the flags of plan, and of other commands that make a plan.
type planFlags struct {
	figureFlags
	format, gpuBackend string
	gpuFor             []string
	taskTime           time.Duration
}

func planCommand(c lab.Catalog) *cobra.Command {
	flags := &planFlags{figureFlags: figureFlags{catalog: c}}
	cmd := &cobra.Command{
		Use:   "plan [figure ... | all]",
		Short: "List the missing runs of figures as tasks for a cluster; needs neither GPU, plugin, data nor checkpoint",
		Args:  cobra.ArbitraryArgs,
		RunE:  func(cmd *cobra.Command, args []string) error { return flags.run(cmd, args) },
	}
	flags.registerTasks(cmd)
	f := cmd.Flags()
	f.StringVar(&flags.format, "format", "table", "table (for people) or json (for work)")
	f.StringVar(&flags.out, "out", "", "output file (default: standard output)")
	return cmd
}

// registerTasks adds the flags that choose the runs of a plan and how they become tasks.
func (f *planFlags) registerTasks(cmd *cobra.Command) {
	f.registerPlan(cmd, f.catalog.Figures...)
	flags := cmd.Flags()
	flags.Lookup("backend").Usage = "backend of tasks without a GPU" + strings.TrimPrefix(backendHelp, "backend")
	flags.StringVar(&f.gpuBackend, "gpu-backend", backend.XLACUDA, "backend of tasks with a GPU")
	flags.StringSliceVar(&f.gpuFor, "gpu-for", []string{cluster.Images},
		"runs that get a GPU: scenarios, or images, robots, all or none")
	flags.DurationVar(&f.taskTime, "task-time", time.Hour, "estimated time of a task, up to which short runs are packed into it")
}

// run makes the plan and writes it.
func (f *planFlags) run(cmd *cobra.Command, args []string) error {
	if f.format != "table" && f.format != "json" {
		return usage.Errorf("--format %s: choose table or json", f.format)
	}
	if err := usage.File(f.out); f.out != "" && err != nil {
		return err
	}
	plan, index, request, err := f.make(cmd, args)
	if err != nil {
		return err
	}
	var text []byte
	if f.format == "json" {
		text, err = plan.Encode()
	} else {
		text, err = f.table(plan, index, request)
	}
	if err != nil {
		return err
	}
	return f.write(cmd, plan, text)
}

// make plans the missing runs. It also returns the stored runs, and what was asked for.
func (f *planFlags) make(cmd *cobra.Command, args []string) (p cluster.Plan, index *claims.RunIndex, r cluster.Request,
	err error) {
	if r, err = f.request(cmd, args); err != nil {
		return p, nil, r, err
	}
	if index, err = f.index(); err != nil {
		return p, nil, r, err
	}
	p, err = cluster.Make(f.catalog, index, r)
	return p, index, r, err
}

// request checks the flags. All its errors are usage errors.
func (f *planFlags) request(cmd *cobra.Command, args []string) (cluster.Request, error) {
	if slices.Equal(args, []string{"all"}) {
		args = nil
	}
	chosen, err := chosenFigures(cmd, f.catalog, args)
	if err != nil {
		return cluster.Request{}, err
	}
	o, err := f.options("")
	if err != nil {
		return cluster.Request{}, err
	}
	if len(args) == 0 {
		chosen = f.catalog.FiguresAt(experiment.Scale(f.scale))
	}
	if f.taskTime < time.Millisecond {
		return cluster.Request{}, usage.Errorf("--task-time %s: give at least 1ms", f.taskTime)
	}
	if err := cluster.CheckGPUFor(f.catalog, f.gpuFor); err != nil {
		return cluster.Request{}, fmt.Errorf("--gpu-for: %w", err)
	}
	if err := cmp.Or(lab.CheckBackend(f.backend), lab.CheckBackend(f.gpuBackend)); err != nil {
		return cluster.Request{}, err
	}
	cache, err := artifact.CacheDir()
	if err != nil {
		return cluster.Request{}, err
	}
	return cluster.Request{Options: o, Figures: chosen, TaskSeconds: f.taskTime.Seconds(),
		GPUFor: f.gpuFor, Backend: f.backend, GPUBackend: f.gpuBackend, CacheDir: cache}, nil
}

// index lists the stored runs; nil if there is no results folder.
func (f *planFlags) index() (*claims.RunIndex, error) {
	if _, err := os.Stat(f.results); os.IsNotExist(err) {
		return nil, nil
	}
	store, err := runs.View(f.results)
	if err != nil {
		return nil, err
	}
	return claims.NewRunIndex(store)
}

// write writes the text to standard output, or to --out and a line for people to standard output.
func (f *planFlags) write(cmd *cobra.Command, plan cluster.Plan, text []byte) error {
	if f.out == "" {
		_, err := cmd.OutOrStdout().Write(text)
		return err
	}
	if err := artifact.Replace(f.out, text, 0o644); err != nil {
		return fmt.Errorf("cannot write %s: %w", f.out, err)
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s\nPlan: %s\n", plan.Summary(), f.out)
	return err
}

// table describes a plan for people: what each figure would take by itself, and the totals.
func (f *planFlags) table(plan cluster.Plan, index *claims.RunIndex, o cluster.Request) ([]byte, error) {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "figure\truns\tsteps\tGPU h\tcore h")
	row := func(name string, c cluster.Cost) {
		fmt.Fprintf(w, "%s\t%d\t%d\t%.1f\t%.1f\n", name, c.Runs, c.Steps, c.GPU/3600, c.Cores/3600)
	}
	for _, figure := range o.Figures {
		own := o
		own.Figures = []paper.Figure{figure}
		own.AllFigures = len(o.Figures) > 1
		alone, err := cluster.Make(f.catalog, index, own)
		if err != nil {
			return nil, err
		}
		row(figure.Command(), alone.Cost())
	}
	if len(o.Figures) > 1 {
		row("together", plan.Cost())
	}
	if err := w.Flush(); err != nil {
		return nil, err
	}
	return []byte(out.String() + "\n" + plan.Summary() + "\n"), nil
}
