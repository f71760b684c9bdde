package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"

	"tvps/data/artifact"
	"tvps/data/echarts"
	"tvps/gomlx_models/backend"
	"tvps/replicate/cli"
	"tvps/replicate/paper"
	"tvps/replicate/usage"

	"github.com/spf13/cobra"
)

// figureFlags are the flags that every figure has.
type figureFlags struct {
	scale, seeds, backend, results, out string
	panels, series, sets                []string
	stride, workers                     int
	showConfig                          bool
}

// registerSettings adds the flags that concern any number of figures.
func (f *figureFlags) registerSettings(cmd *cobra.Command) {
	f.workers = 1
	flags := cmd.Flags()
	flags.StringVar(&f.scale, "scale", "small", "size of the experiment: tiny (a minute), small (a coffee break), paper (the paper's)")
	flags.StringVar(&f.seeds, "seeds", "", "seeds, as 0,1,2 or 0-7 (default: the figure's own, mostly 0,1,2)")
	flags.StringArrayVar(&f.sets, "set", nil, "override a setting, as epochs=5, or b.epochs=5 for panel b alone; repeatable")
	flags.StringVar(&f.results, "results", "results", "folder of the runs")
	flags.StringVar(&f.backend, "backend", "", "xla:cpu, xla:cuda, go, or the path of a PJRT plugin (default xla:cpu)")
}

// registerPlan adds the flags that say which runs a figure is made of: one of the
// given figures.
func (f *figureFlags) registerPlan(cmd *cobra.Command, figures ...paper.Figure) {
	f.registerSettings(cmd)
	flags := cmd.Flags()
	flags.StringSliceVar(&f.panels, "panel", nil, "only these panels, as a or b,c")
	flags.StringSliceVar(&f.series, "series", nil, "these learners in place of the figure's own: "+strings.Join(paper.LearnersOf(figures...), ", "))
	flags.IntVar(&f.stride, "stride", 0, "train at every how many steps (0: the scale's choice)")
}

// register adds those that concern the making of the figure, too.
func (f *figureFlags) register(cmd *cobra.Command, figure paper.Figure) {
	f.registerPlan(cmd, figure)
	f.registerMaking(cmd, "figNN")
	cmd.Flags().BoolVar(&f.showConfig, "show-config", false, "print all settings with their sources, and stop")
}

// registerMaking adds the flags of what is made, in the folder of that name by default.
func (f *figureFlags) registerMaking(cmd *cobra.Command, name string) {
	flags := cmd.Flags()
	flags.StringVar(&f.out, "out", "", "folder of what is made (default figures/out/"+name+")")
	flags.IntVar(&f.workers, "workers", runtime.NumCPU(), "runs at the same time")
}

func (f *figureFlags) options(name string) (paper.Options, error) {
	var seeds []int64 // none: the figure's own
	if f.seeds != "" {
		var err error
		if seeds, err = paper.ParseSeeds(f.seeds); err != nil {
			return paper.Options{}, fmt.Errorf("--seeds: %w", err)
		}
	}
	if f.workers < 1 {
		return paper.Options{}, usage.Errorf("--workers %d: at least one run must be at work", f.workers)
	}
	o := paper.Options{Scale: f.scale, Panels: f.panels, Seeds: seeds, Learners: f.series, Overrides: f.sets, Workers: f.workers, Out: f.out}
	if f.stride != 0 {
		o.Overrides = append(slices.Clone(o.Overrides), fmt.Sprintf("stride=%d", f.stride))
	}
	if o.Out == "" {
		o.Out = filepath.Join("figures", "out", name)
	}
	return o, nil
}

func figureCommands() []*cobra.Command {
	var out []*cobra.Command
	for _, number := range slices.Sorted(maps.Keys(paper.Catalog)) {
		entry := paper.Catalog[number]
		flags := &figureFlags{}
		cmd := &cobra.Command{
			Use:   fmt.Sprintf("fig%d", number),
			Short: entry.Figure.Title,
			Long:  entry.Figure.Title + "\n\n" + entry.Figure.Caption,
			Args:  cli.NoArguments,
			RunE: func(cmd *cobra.Command, _ []string) error {
				o, err := flags.options(entry.Figure.Name)
				if err != nil {
					return err
				}
				if flags.showConfig {
					return showConfig(cmd, *entry.Figure, o)
				}
				if _, err := paper.PanelSettings(*entry.Figure, o); err != nil {
					return err // before a plugin is fetched for nothing
				}
				lab, err := flags.lab(cmd.Context(), backend.Options{Log: os.Stderr})
				if err != nil {
					return err
				}
				lab.ECharts = pageScript(cmd.Context())
				_, err = entry.Run(cmd.Context(), lab, o)
				return err
			},
		}
		flags.register(cmd, *entry.Figure)
		out = append(out, cmd)
	}
	return out
}

// lab opens the backend and the store.
func (f *figureFlags) lab(ctx context.Context, opts backend.Options) (*paper.Lab, error) {
	return paper.OpenLab(ctx, paper.LabOptions{Backend: f.backend, Open: opts, Results: f.results, Stdout: os.Stdout, Stderr: os.Stderr})
}

// pageScript is the text of echarts.min.js, which figures lay next to their pages: the file
// that TVPS_ECHARTS names, or the pinned one. If it cannot be had, it is nil, with a warning.
func pageScript(ctx context.Context) []byte {
	own := os.Getenv("TVPS_ECHARTS")
	if strings.Contains(own, "://") {
		own = "" // an address, for notebooks
	}
	cache, err := artifact.CacheDir()
	var text []byte
	if err == nil {
		text, err = echarts.Cached(ctx, cache, echarts.Options{File: own, Log: os.Stderr})
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "warning: without a network the charts will be static pictures: %v; "+
			"get echarts.min.js elsewhere and name it with TVPS_ECHARTS\n", err)
	}
	return text
}

// showConfig prints the settings of every panel with their meaning and source.
func showConfig(cmd *cobra.Command, f paper.Figure, o paper.Options) error {
	panels, err := paper.PanelSettings(f, o)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	for _, p := range panels {
		fmt.Fprintf(w, "Panel %s: %s, scale %s\n", p.Key, p.Title, o.Scale)
		for _, field := range p.Settings.Fields() {
			fmt.Fprintf(w, "  %s\t%s\t%s\n", field.Name, field.Value, field.Doc)
		}
	}
	return w.Flush()
}
