package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"

	"tvps/gomlx_models/backend"
	"tvps/replicate/claims"
	"tvps/replicate/experiment"
	"tvps/replicate/lab"
	"tvps/replicate/paper"
	"tvps/replicate/usage"

	"github.com/spf13/cobra"
)

const (
	backendNames = "xla:cpu, xla:cuda or go"
	backendHelp  = "backend: " + backendNames + " (default xla:cpu, or go without it)"
)

// figureFlags are the flags of a figure; commands for several figures have some of them.
type figureFlags struct {
	catalog                                     lab.Catalog
	scale, seeds, backend, results, out, tables string
	panels, series, sets                        []string
	stride, workers                             int
	judged, showConfig, stored, compact         bool
	noDraw                                      bool
	only                                        string // of a worker: see registerWorker
}

// registerSettings adds the flags that one figure and all figures share.
func (f *figureFlags) registerSettings(cmd *cobra.Command) {
	f.workers = 1
	flags := cmd.Flags()
	flags.StringVar(&f.scale, "scale", "small",
		"size of the experiment: tiny (seconds to a minute), small (seconds to half an hour), "+
			"medium (hours to nights; images and robots) or paper")
	flags.StringVar(&f.seeds, "seeds", "", "seeds, as 0,1,2 or 0-7 (default: those of the figure, mostly 0,1,2)")
	flags.StringArrayVar(&f.sets, "set", nil,
		"setting to override, as epochs=5, or b.epochs=5 for panel b alone; repeatable")
	flags.StringVar(&f.results, "results", "results", "folder of the runs")
	flags.StringVar(&f.backend, "backend", "", backendHelp)
}

// registerJudged adds --judged; more ends its help.
func (f *figureFlags) registerJudged(cmd *cobra.Command, more string) {
	cmd.Flags().BoolVar(&f.judged, "judged", false,
		"seeds and steps that are declared for the claims, instead of the quick ones"+more)
}

// ofTables ends the help of --judged where there is --tables.
const ofTables = "; --tables implies it"

// registerPlan adds the flags that choose the runs of a figure, but --judged; figures are those that the command can
// make.
func (f *figureFlags) registerPlan(cmd *cobra.Command, figures ...paper.Figure) {
	f.registerSettings(cmd)
	flags := cmd.Flags()
	flags.StringSliceVar(&f.panels, "panel", nil, "panels, as a or b,c (default: all)")
	flags.StringSliceVar(&f.series, "series", nil,
		"learners to run (b.NAME: in panel b alone) instead of the figure's own: "+
			strings.Join(f.catalog.Learners(figures...), ", "))
	flags.IntVar(&f.stride, "stride", 0, "stride: train at every N-th step (default 0: that of the scale)")
}

// register adds all flags of a figure.
func (f *figureFlags) register(cmd *cobra.Command, figure paper.Figure) {
	f.registerPlan(cmd, figure)
	f.registerJudged(cmd, ofTables)
	f.registerMaking(cmd, figure.Name())
	f.registerStored(cmd)
	f.registerWorker(cmd)
	cmd.Flags().BoolVar(&f.showConfig, "show-config", false,
		"print all settings with their meaning and source, and stop")
}

// registerMaking adds the flags of commands that compute runs; name is that of the default output folder.
func (f *figureFlags) registerMaking(cmd *cobra.Command, name string) {
	cmd.Annotations = map[string]string{usage.Continues: "true"}
	flags := cmd.Flags()
	flags.StringVar(&f.out, "out", "", "output folder (default figures/out/"+name+")")
	flags.IntVar(&f.workers, "workers", runtime.NumCPU(), "number of parallel runs")
}

// registerStored adds the flags of commands that draw: --stored, --tables and --compact.
func (f *figureFlags) registerStored(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.compact, "compact", false,
		"write only SVG pictures and compressed tables, as in figures/gallery")
	cmd.Flags().BoolVar(&f.stored, "stored", false,
		"draw the stored runs of any machine and train nothing; name what is missing, with exit code 1")
	f.registerTables(cmd)
	cmd.Flags().Lookup("tables").Usage = "with --stored, " + cmd.Flags().Lookup("tables").Usage
}

// registerTables adds --tables.
func (f *figureFlags) registerTables(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.tables, "tables", "",
		"folder of drawn figures, as figures/gallery: their tables replace runs that are not stored")
}

// openStored opens the lab of --stored.
func (f *figureFlags) openStored() (*lab.Lab, error) {
	if err := lab.CheckBackend(f.backend); err != nil {
		return nil, err
	}
	l, err := lab.OpenStored(f.catalog, lab.OpenOptions{Backend: f.backend, Results: f.results, Tables: f.tables,
		Stdout: os.Stdout, Stderr: os.Stderr})
	if err != nil {
		return nil, usage.Error(err)
	}
	return l, nil
}

// mostWorkers is the largest number of --workers, far above the processors of a machine: memory is taken for each.
const mostWorkers = 1 << 10

// checkWorkers returns a usage error for a number of workers that makes no sense.
func checkWorkers(n int) error {
	if n < 1 || n > mostWorkers {
		return usage.Errorf("--workers %d: give a number from 1 to %d", n, mostWorkers)
	}
	return nil
}

// options checks the flags and turns them into options; name is that of the default output folder. All its errors are
// usage errors.
func (f *figureFlags) options(name string) (lab.Options, error) {
	var seeds []int64 // nil for those of the figure
	if f.seeds != "" {
		var err error
		if seeds, err = claims.ParseSeeds(f.seeds); err != nil {
			return lab.Options{}, fmt.Errorf("--seeds: %w", err)
		}
	}
	for _, list := range []struct {
		flag  string
		given []string
	}{{"panel", f.panels}, {"series", f.series}} {
		if list.given != nil && len(list.given) == 0 {
			return lab.Options{}, usage.Errorf("--%s has no value: name one, or leave the flag out for all", list.flag)
		}
	}
	scale, err := experiment.ParseScale(f.scale)
	if err != nil {
		return lab.Options{}, usage.Error(err)
	}
	if err := checkWorkers(f.workers); err != nil {
		return lab.Options{}, err
	}
	o := lab.Options{Scale: scale, Panels: f.panels, Seeds: seeds, Learners: f.series, Overrides: f.sets,
		Workers: f.workers, Out: f.out, Compact: f.compact}
	if f.stride != 0 {
		if slices.ContainsFunc(f.sets, func(set string) bool { return strings.HasPrefix(set, "stride=") }) {
			return lab.Options{}, usage.Errorf("--stride and --set stride= name two strides: leave one out")
		}
		o.Overrides = append(slices.Clone(o.Overrides), fmt.Sprintf("stride=%d", f.stride))
	}
	// Tables are of the declared samples.
	o.Judged = f.judged || f.tables != "" && !o.NamesSample() && len(f.series) == 0
	if o.Out == "" {
		o.Out = filepath.Join("figures", "out", name)
	}
	return o, nil
}

// figureCommands returns a command for each figure of the catalog.
func figureCommands(c lab.Catalog) []*cobra.Command {
	var out []*cobra.Command
	for _, figure := range c.Figures {
		flags := &figureFlags{catalog: c}
		cmd := &cobra.Command{
			Use:   figure.Command(),
			Short: figure.Title,
			Long:  figure.Title + "\n\n" + figure.Caption,
			Args:  usage.NoArguments,
			RunE:  func(cmd *cobra.Command, _ []string) error { return flags.makeFigure(cmd, figure) },
		}
		flags.register(cmd, figure)
		out = append(out, cmd)
	}
	return out
}

// makeFigure makes the figure, or prints its settings with --show-config.
func (f *figureFlags) makeFigure(cmd *cobra.Command, figure paper.Figure) error {
	o, err := f.options(figure.Name())
	if err != nil {
		return err
	}
	if f.showConfig {
		return f.printConfig(cmd, figure, o)
	}
	if err := f.checkWorker(cmd); err != nil {
		return err
	}
	if f.noDraw {
		return f.work(cmd.Context(), []paper.Figure{figure}, o)
	}
	_, planned := f.catalog.Panels(figure, o)
	l, err := f.begin(cmd, o, planned)
	if err != nil {
		return err
	}
	if f.stored {
		_, err = l.Draw(figure, o)
		return err
	}
	_, err = l.Make(cmd.Context(), figure, o)
	return err
}

// begin opens the lab of a command that makes figures: without a backend if --stored is set. planned is the error of
// their plan; it and an output folder that cannot be written are found before a plugin is fetched.
func (f *figureFlags) begin(cmd *cobra.Command, o lab.Options, planned error) (*lab.Lab, error) {
	if f.tables != "" && !f.stored {
		return nil, usage.Errorf("--tables %s cannot replace runs that are to be computed: draw from them with --stored",
			f.tables)
	}
	if planned != nil {
		return nil, planned
	}
	var stored *lab.Lab
	if f.stored {
		if err := checkResults(cmd); err != nil && f.tables == "" {
			return nil, err
		}
		var err error
		if stored, err = f.openStored(); err != nil {
			return nil, err
		}
	}
	if err := o.CheckOut(); errors.Is(err, usage.Err) {
		return nil, err
	} else if err != nil {
		return nil, fmt.Errorf("%w with --out", err)
	}
	if f.stored {
		return stored, nil
	}
	return f.lab(cmd.Context(), backend.Options{Log: os.Stderr})
}

// lab opens the backend and the store.
func (f *figureFlags) lab(ctx context.Context, opts backend.Options) (*lab.Lab, error) {
	return lab.Open(ctx, f.catalog, lab.OpenOptions{Backend: f.backend, Open: opts, Results: f.results,
		Stdout: os.Stdout, Stderr: os.Stderr})
}

// printConfig prints the settings of every panel with their meaning and source.
func (f *figureFlags) printConfig(cmd *cobra.Command, figure paper.Figure, o lab.Options) error {
	panels, err := f.catalog.Panels(figure, o)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	for _, p := range panels {
		fmt.Fprintf(w, "Panel %s: %s, scale %s\n", p.Key, p.Title, cmp.Or(p.Scale, o.Scale))
		for _, field := range p.Settings.Fields() {
			fmt.Fprintf(w, "  %s\t%s\t%s\n", field.Name, field.Value, field.Doc)
		}
	}
	return w.Flush()
}

func allCommand(c lab.Catalog) *cobra.Command {
	flags := &figureFlags{catalog: c}
	cmd := &cobra.Command{
		Use:   "all",
		Short: "Make every figure: compute each run once, then write all pages, tables and verdicts",
		Args:  usage.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := flags.options("")
			if err := cmp.Or(err, flags.checkWorker(cmd)); err != nil {
				return err
			}
			if flags.noDraw {
				o.AllFigures = true
				return flags.work(cmd.Context(), c.FiguresAt(o.Scale), o)
			}
			l, err := flags.begin(cmd, o, c.CheckAll(o))
			if err != nil {
				return err
			}
			makeAll := l.All
			if flags.stored {
				makeAll = l.DrawAll
			}
			made, err := makeAll(cmd.Context(), o)
			if err != nil {
				return err
			}
			for _, m := range made {
				fmt.Fprintln(cmd.OutOrStdout(), m)
			}
			return lab.Incomplete(made)
		},
	}
	flags.registerSettings(cmd)
	flags.registerJudged(cmd, ofTables)
	flags.registerMaking(cmd, "")
	cmd.Flags().Lookup("out").Usage = "parent folder of the figures' folders (default figures/out)"
	flags.registerStored(cmd)
	flags.registerWorker(cmd)
	return cmd
}
