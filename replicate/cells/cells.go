// Package cells shows figures in the cells of a Jupyter notebook that runs on the GoNB
// kernel, so that a notebook holds text and calls but no logic:
//
//	%%
//	fig := cells.Figure(1, cells.Options{Scale: "tiny", Seeds: "0,1,2"})
//	cells.Charts(fig.Figure)
//	cells.Tables(fig)
//
// GoNB builds each cell into a program and runs it. So no variable outlives a cell, and a
// figure that two cells want is asked for twice: the second time it comes from the store,
// as with the command line, which takes the same way ([lab.Open], [catalog.Paper]).
// Errors end the program, and with it the cell, with one sentence ([Exit], [Must]). An
// interrupt cancels [Context]; a run then stops after its step, and the next Run goes on.
//
// # Charts
//
// A panel makes two outputs: a static picture (image/png), then a piece of HTML whose only
// content is a script that draws the interactive chart and then hides the output before
// it. One output with both would be simpler, but front ends show one MIME type of an
// output and prefer text/html to pictures (nbconvert, on which GitHub's and nbviewer's
// pages are built, and JupyterLab rank it so); where scripts are removed the picture would
// never be seen, and where HTML is sanitised a picture within the HTML may be removed, too.
// With two outputs a page without scripts shows the picture and an empty box.
//
// The script takes echarts from the page if it is there, then from Jupyter's own server
// (see [Sources]). Only pages that Jupyter does not serve, such as an export, ask another
// host.
//
// # Numbers
//
// Tables carry their numbers, too, and charts the points of their series, as [ValuesMIME],
// for `go run ./kernel check`. Nothing
// that is shown depends on the machine's name, on paths or on the clock: a notebook that
// runs again with the same result is the same file. The commit is left out for that
// reason; provenance.json in the figure's folder has all.
//
// Outside of GoNB the text of each output goes to standard output.
package cells

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"tvps/replicate/catalog"
	"tvps/replicate/lab"
	"tvps/replicate/settings"
)

// repeat is how long further interrupts count as the same one: some front ends signal the
// whole process group, and GoNB hands its own signal on.
const repeat = time.Second

// Context returns the cell's context, which an interrupt of the cell cancels. Its program
// then has 5 seconds to end before GoNB kills it.
var Context = sync.OnceValue(func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go watch(signals, cancel, os.Exit)
	return ctx
})

// watch cancels at the first signal and exits at a second one that is no repeat.
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

// Exit ends the cell as an error with err's sentence; nil does nothing.
func Exit(err error) {
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, sentence(err))
	os.Exit(1)
}

// Must returns v, or ends the cell as an error: score := cells.Must(propensity.Fit(...)).
func Must[T any](v T, err error) T {
	Exit(err)
	return v
}

func sentence(err error) string {
	if errors.Is(err, context.Canceled) {
		return "Interrupted: finished steps are kept; run the cell again to go on."
	}
	return err.Error()
}

// Options are what a notebook chooses for a figure. The zero value is the command line's
// default.
type Options struct {
	Scale   string   // tiny, small (default) or paper
	Seeds   string   // as "0,1,2" or "0-7"; empty for the figure's own
	Panels  []string // keys; empty for all
	Series  []string // learners in place of the figure's own
	Set     []string // name=value, or b.name=value for panel b alone
	Backend string   // as --backend
	Workers int      // runs at the same time; 0 for the number of processors
	Results string   // folder of the runs; default $TVPS_RESULTS, else results
	Out     string   // folder of the figure's files; default $TVPS_OUT/figNN, else figures/out/figNN in $TVPS_ROOT
}

// Figure computes what is missing of a figure of [catalog.Paper], with a bar that shows
// how far it is, and returns it. It ends the cell if that fails or is interrupted.
func Figure(number int, o Options) *lab.Result {
	return Must(figure(Context(), number, o))
}

func figure(ctx context.Context, number int, o Options) (*lab.Result, error) {
	figures := catalog.Paper()
	declared, ok := figures.Figure(number)
	if !ok {
		return nil, fmt.Errorf("there is no figure %d yet", number)
	}
	o = o.withDefaults(declared.Name())
	var seeds []int64 // none: the figure's own
	var err error
	if o.Seeds != "" {
		seeds, err = lab.ParseSeeds(o.Seeds)
	}
	if err != nil {
		return nil, fmt.Errorf("seeds: %w", err)
	}
	scale, err := settings.ParseScale(o.Scale)
	if err != nil {
		return nil, err
	}
	options := lab.Options{Scale: scale, Panels: o.Panels, Seeds: seeds, Learners: o.Series, Overrides: o.Set,
		Workers: o.Workers, Out: o.Out}
	if _, err := figures.Panels(declared, options); err != nil {
		return nil, err // before a plugin is fetched for nothing
	}
	bar := newProgress(output)
	l, err := lab.Open(ctx, figures, o.lab(bar))
	if err != nil {
		return nil, err
	}
	result, err := l.Make(ctx, declared, options)
	if err != nil {
		return nil, err
	}
	bar.end(fmt.Sprintf("Figure %d, scale %s: %d runs, all finished.", number, o.Scale, len(result.Report.Results)))
	result.Figure.Source = stable(result.Figure.Source)
	return result, nil
}

// lab leaves warnings about the backend on stderr, where they stay.
func (o Options) lab(bar io.Writer) lab.OpenOptions {
	l := lab.OpenOptions{Backend: o.Backend, Results: o.Results, Stdout: io.Discard, Stderr: bar}
	l.Open.Log = os.Stderr
	return l
}
