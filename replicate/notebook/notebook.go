// Package notebook shows figures in the cells of a Jupyter notebook that runs on the GoNB kernel. A figure's notebook
// contains text and calls of this package, but no logic:
//
//	%%
//	fig := notebook.Figure(1, notebook.Options{Scale: "tiny", Seeds: "0,1,2"})
//	notebook.Charts(fig.Figure)
//	notebook.Tables(fig)
//
// GoNB compiles each cell to a program and runs it, so no variable outlives a cell. If two cells need a figure, both
// call [Figure]: the second call finds all runs in the store, which is that of the command line.
//
// An error ends the program, and so the cell, with one sentence ([Exit], [Must]). An interrupt of the cell cancels
// [Context]: the runs stop after their current step, and continue when the cell runs again.
//
// # The program beside the cell
//
// A cell must link in a moment, so this package imports little. What trains, draws or judges is in the program
// tvps-notebook, which `go run ./kernel install` builds once: a cell starts it at its first such call, and asks it by
// lines of JSON ([Serve]).
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
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

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
	Scale   string   // tiny, small, medium (images, robots) or paper; default: small
	Seeds   string   // such as "0,1,2" or "0-7"; default: the figure's
	Panels  []string // panels; default: all
	Series  []string // learners to run instead of the figure's default ones
	Set     []string // settings: name=value, or b.name=value for panel b only
	Backend string   // same as --backend
	Workers int      // number of parallel runs; 0: the number of processors
	Results string   // folder of the runs; default: $TVPS_RESULTS, or results
	Out     string   // folder of the figure's files; default: $TVPS_OUT/figNN, or figures/out/figNN in $TVPS_ROOT
}

// OutFolder is the folder for the files of a figure or notebook: $TVPS_OUT/name, or figures/out/name in $TVPS_ROOT.
func OutFolder(name string) string {
	folder := cmp.Or(os.Getenv("TVPS_OUT"), filepath.Join(os.Getenv("TVPS_ROOT"), "figures", "out"))
	return filepath.Join(folder, name)
}

// File is the path of a file in the folder for the files of a notebook, which it creates: $TVPS_OUT/notebook, or
// figures/out/notebook in $TVPS_ROOT.
func File(notebook, name string) string {
	folder := OutFolder(notebook)
	Exit(os.MkdirAll(folder, 0o755))
	return filepath.Join(folder, name)
}

// Drawing is a figure that tvps-notebook has drawn: for [Charts].
type Drawing struct{ Number int } // among those of the program

// Result is a figure with its runs: for [Tables], [Claims] and [Provenance].
type Result struct{ Figure Drawing }

// FigureArgs are the arguments of the call "figure" of [Serve].
type FigureArgs struct {
	Number  int
	Options Options
}

// Figure computes the missing runs of a figure of the paper and returns the figure. Meanwhile it shows a progress bar.
// If it fails or is interrupted, it ends the cell.
func Figure(number int, o Options) *Result {
	return &Result{Figure: ask[Drawing]("figure", FigureArgs{number, o})}
}

// Charts shows every panel of a figure as a picture and an interactive chart, and the caption: see the package comment.
func Charts(d Drawing) { ask[any]("charts", d) }

// Tables shows a table for each panel, and emits its numbers: the mean of each series and its difference to the base
// series.
func Tables(r *Result) { ask[any]("tables", r.Figure) }

// Claims shows each claim of the paper with its verdict and what was measured, as the figure's page does. At the tiny
// scale none is judged.
func Claims(r *Result) { ask[any]("claims", r.Figure) }

// Provenance shows, folded, how the figure was made: scale, seeds, backend, versions and all settings. It leaves out
// what differs between machines or days.
func Provenance(r *Result) { ask[any]("provenance", r.Figure) }

// Found shows what the run in the repository's gallery measured for a figure, at the medium scale if there is one: the
// sentence that answers the figure's question and the pictures; folded, the paper's claims with their verdicts. It
// computes nothing. Without panels it shows the pictures of all. It ends the cell if the gallery cannot be read.
func Found(number int, panels ...string) { ask[any]("found", FoundArgs{number, panels}) }

// FoundArgs are the arguments of the call "found" of [Serve].
type FoundArgs struct {
	Number int
	Panels []string // nil: all
}

// MeasuredArgs are the arguments of the call "measured" of [Serve].
type MeasuredArgs struct {
	Number int
	Panel  string
}

// Measured returns the numbers of a panel of the small run in the gallery. It ends the cell if there are none.
func Measured(number int, panel string) Measurements {
	return ask[Measurements]("measured", MeasuredArgs{number, panel})
}
