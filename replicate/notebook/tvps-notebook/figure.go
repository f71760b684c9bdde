package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"runtime"

	"tvps/replicate/claims"
	"tvps/replicate/experiment"
	"tvps/replicate/lab"
	"tvps/replicate/notebook"
	"tvps/replicate/robots"
	"tvps/replicate/supervised"
)

var catalog = lab.PaperCatalog(&supervised.Protocol, &robots.Protocol)

// withDefaults fills in the defaults for the figure with the given name.
func withDefaults(o notebook.Options, name string) notebook.Options {
	o.Scale = cmp.Or(o.Scale, "small")
	o.Workers = cmp.Or(o.Workers, runtime.NumCPU())
	o.Results = cmp.Or(o.Results, os.Getenv("TVPS_RESULTS"), "results")
	o.Out = cmp.Or(o.Out, notebook.OutFolder(name))
	return o
}

// figure computes the missing runs of a figure of the paper, and draws it.
func figure(ctx context.Context, number int, o notebook.Options) (*lab.Result, error) {
	declared, ok := catalog.Figure(number)
	if !ok {
		return nil, fmt.Errorf("there is no figure %d", number)
	}
	o = withDefaults(o, declared.Name())
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
	bar := notebook.NewProgress()
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
