// Package notebook shows figures in the cells of a Jupyter notebook that runs on the GoNB kernel. A figure's notebook
// contains text and calls of this package, but no logic:
//
//	%%
//	fig := notebook.Figure(1, notebook.Options{Scale: "tiny", Seeds: "0,1,2"})
//	notebook.Charts(fig.Figure)
//	notebook.Tables(fig)
//
// GoNB compiles each cell to a program and runs it, so no variable outlives a cell. If two cells need a figure, both
// call [Figure]: the second call finds all runs in the store. The command line uses the same functions
// ([lab.Open], [lab.PaperCatalog]) and the same store.
//
// An error ends the program, and so the cell, with one sentence ([Exit], [Must]). An interrupt of the cell cancels
// [Context]: the runs stop after their current step, and continue when the cell runs again.
//
// # Charts
//
// A panel makes two outputs: a static picture (image/png), then HTML that contains only a script. The script draws
// the interactive chart and hides the picture. kernel/INTERNALS.md says why, and where the script finds ECharts.
//
// # Numbers
//
// Tables also emit their numbers, and charts the points of their series, as [ValuesMIME] for `go run ./kernel check`.
// No output depends on the machine's name, on paths or on the clock, so running a notebook again with the same
// results gives the same file. provenance.json in the figure's folder contains all of these, and the commit.
//
// Outside GoNB, the plain text of each output goes to standard output.
package notebook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	"tvps/replicate/claims"
	"tvps/replicate/experiment"
	"tvps/replicate/lab"
	"tvps/replicate/robots"
	"tvps/replicate/supervised"
)

var catalog = lab.PaperCatalog(&supervised.Protocol, &robots.Protocol)

// repeat is the time in which further signals count as the same interrupt: some front ends signal the whole process
// group, and GoNB forwards the signal as well.
const repeat = time.Second

// Context returns the cell's context. An interrupt of the cell cancels it. GoNB kills the cell's program if it does
// not end within 5 seconds after that.
var Context = sync.OnceValue(func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go watch(signals, cancel, os.Exit)
	return ctx
})

// watch calls cancel at the first signal, and exit at a signal that comes more than repeat later.
func watch(signals <-chan os.Signal, cancel func(), exit func(int)) {
	<-signals
	cancel()
	for first := time.Now(); ; {
		<-signals
		if time.Since(first) > repeat {
			exit(1)
			return
		}
	}
}

// Exit ends the cell as failed and prints err to stderr. It does nothing if err is nil.
func Exit(err error) {
	if err == nil {
		return
	}
	text := err.Error()
	if errors.Is(err, context.Canceled) {
		text = "Interrupted: finished steps are kept; run the cell again to continue."
	}
	fmt.Fprintln(os.Stderr, text)
	os.Exit(1)
}

// Must returns v, or calls Exit if err is not nil: score := notebook.Must(propensity.Fit(...)).
func Must[T any](v T, err error) T {
	Exit(err)
	return v
}

// Options configures Figure. The zero value means the command line's defaults.
type Options struct {
	Scale   string   // tiny, small (default), medium (robots alone) or paper
	Seeds   string   // such as "0,1,2" or "0-7"; empty: the figure's default
	Panels  []string // keys of panels; empty: all
	Series  []string // learners to run instead of the figure's default ones
	Set     []string // settings: name=value, or b.name=value for panel b only
	Backend string   // same as --backend
	Workers int      // number of parallel runs; 0: the number of processors
	Results string   // folder of the runs; default: $TVPS_RESULTS, or results
	Out     string   // folder of the figure's files; default: $TVPS_OUT/figNN, or figures/out/figNN in $TVPS_ROOT
}

// withDefaults fills in the defaults for the figure with the given name.
func (o Options) withDefaults(name string) Options {
	o.Scale = cmp.Or(o.Scale, "small")
	o.Workers = cmp.Or(o.Workers, runtime.NumCPU())
	o.Results = cmp.Or(o.Results, os.Getenv("TVPS_RESULTS"), "results")
	o.Out = cmp.Or(o.Out, outFolder(name))
	return o
}

// outFolder is the folder for the files of a figure or notebook: $TVPS_OUT/name, or figures/out/name in $TVPS_ROOT.
func outFolder(name string) string {
	folder := cmp.Or(os.Getenv("TVPS_OUT"), filepath.Join(os.Getenv("TVPS_ROOT"), "figures", "out"))
	return filepath.Join(folder, name)
}

// File is the path of a file in the folder for the files of a notebook, which it creates: $TVPS_OUT/notebook, or
// figures/out/notebook in $TVPS_ROOT.
func File(notebook, name string) string {
	folder := outFolder(notebook)
	Exit(os.MkdirAll(folder, 0o755))
	return filepath.Join(folder, name)
}

// Figure computes the missing runs of a figure of the paper and returns the figure. Meanwhile it shows a progress bar.
// If it fails or is interrupted, it ends the cell.
func Figure(number int, o Options) *lab.Result {
	computes = true
	return Must(figure(Context(), number, o))
}

func figure(ctx context.Context, number int, o Options) (*lab.Result, error) {
	declared, ok := catalog.Figure(number)
	if !ok {
		return nil, fmt.Errorf("there is no figure %d", number)
	}
	o = o.withDefaults(declared.Name())
	var seeds []int64 // nil: the figure's default
	var err error
	if o.Seeds != "" {
		seeds, err = claims.ParseSeeds(o.Seeds)
	}
	if err != nil {
		return nil, fmt.Errorf("seeds: %w", err)
	}
	scale, err := experiment.ParseScale(o.Scale)
	if err != nil {
		return nil, err
	}
	options := lab.Options{Scale: scale, Panels: o.Panels, Seeds: seeds, Learners: o.Series, Overrides: o.Set,
		Workers: o.Workers, Out: o.Out}
	if _, err := catalog.Panels(declared, options); err != nil {
		return nil, err // before a plugin is fetched for nothing
	}
	bar := NewProgress()
	open := lab.OpenOptions{Backend: o.Backend, Results: o.Results, Stdout: io.Discard, Stderr: bar}
	open.Open.Log = os.Stderr // the bar overwrites its own lines
	l, err := lab.Open(ctx, catalog, open)
	if err != nil {
		return nil, err
	}
	result, err := l.Make(ctx, declared, options)
	if err != nil {
		return nil, err
	}
	bar.End(fmt.Sprintf("Figure %d, scale %s: %d runs, all finished.", number, o.Scale, len(result.Report.Results)))
	return result, nil
}
