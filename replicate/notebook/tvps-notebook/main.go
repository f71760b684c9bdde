// Command tvps-notebook computes, judges and draws for the cells of notebooks: see package notebook, which starts it.
// `go run ./kernel install` builds it, so that no cell links what it has.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"tvps/data/artifact"
	"tvps/replicate/lab"
	"tvps/replicate/notebook"
)

func main() {
	if err := current(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	notebook.Serve(ctx, os.Stdin, os.Stdout, calls())
}

// current returns an error if this program was built from other sources than those of the checkout, from which the cell
// is compiled.
func current() error {
	path, err := os.Executable()
	if err != nil {
		return err
	}
	changed, err := artifact.Changed(path+artifact.SourcesSuffix, os.Getenv("TVPS_ROOT"))
	if err != nil || changed == "" {
		return err
	}
	return fmt.Errorf("the checkout has another %s than the one from which %s was built: `go run ./kernel install` builds it "+
		"again, in seconds", changed, notebook.Program)
}

// calls are the program's functions. It keeps the figures that it made: a cell names them by their numbers.
func calls() map[string]notebook.Call {
	var made []*lab.Result
	of := func(show func(*lab.Result) error) notebook.Call {
		return call(func(_ context.Context, d notebook.Drawing) (any, error) {
			if d.Number < 0 || d.Number >= len(made) {
				return nil, fmt.Errorf("the cell has not made this figure: call notebook.Figure first")
			}
			return nil, show(made[d.Number])
		})
	}
	return map[string]notebook.Call{
		"figure": call(func(ctx context.Context, a notebook.FigureArgs) (any, error) {
			r, err := figure(ctx, a.Number, a.Options)
			if err == nil {
				made = append(made, r)
			}
			return notebook.Drawing{Number: len(made) - 1}, err
		}),
		"charts": of(func(r *lab.Result) error { return charts(r.Figure) }),
		"tables": of(tables), "claims": of(showVerdicts), "provenance": of(provenance),
		"found": call(func(_ context.Context, a notebook.FoundArgs) (any, error) {
			return nil, found(galleryFolder(), a.Number, a.Panels...)
		}),
		"measured": call(func(_ context.Context, a notebook.MeasuredArgs) (any, error) {
			return measured(galleryFolder(), a.Number, a.Panel)
		}),
		"plot": call(func(_ context.Context, c notebook.Chart) (any, error) { return nil, plot(c) }),
	}
}

// call is a function with its arguments read from JSON.
func call[T any](f func(context.Context, T) (any, error)) notebook.Call {
	return func(ctx context.Context, args json.RawMessage) (any, error) {
		var a T
		if err := json.Unmarshal(args, &a); err != nil {
			return nil, err
		}
		return f(ctx, a)
	}
}
