package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"tvps/data/artifact"
	"tvps/gomlx_models/backend"
	"tvps/gomlx_models/resnet"
	"tvps/replicate/claims"
	"tvps/replicate/experiment"
	"tvps/replicate/lab"
	"tvps/replicate/paper"
	"tvps/replicate/runs"
	"tvps/replicate/usage"

	"github.com/spf13/cobra"
)

// Values of --only.
const (
	onlyImages = "images" // runs that train or compare networks of images
	onlyOthers = "others"
)

// registerWorker adds the flags that make a command one of many workers on one folder of runs.
func (f *figureFlags) registerWorker(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.noDraw, "no-draw", false,
		"compute the missing runs that no other process computes, the longest first, and draw nothing: "+
			"for many processes on one folder of runs")
	cmd.Flags().StringVar(&f.only, "only", "", "with --no-draw, the runs to compute: images or others (default: all)")
}

// checkWorker returns a usage error if the flags of a worker do not fit together.
func (f *figureFlags) checkWorker(cmd *cobra.Command) error {
	for _, name := range []string{"stored", "tables", "out", "compact"} {
		if f.noDraw && cmd.Flags().Changed(name) {
			return usage.Errorf("--%s is for drawing, and --no-draw draws nothing: leave out one of them", name)
		}
	}
	switch {
	case f.only != "" && !f.noDraw:
		return usage.Errorf("--only %s is for workers: give --no-draw, too", f.only)
	case f.only == "":
		return nil
	}
	return usage.Known("--only has no runs", []string{f.only}, []string{onlyImages, onlyOthers})
}

// work is one of many workers on the missing runs of figures. What keeps it from starting (data, a GPU, a checkpoint, a
// results folder) is a usage error, as another start would not help; no run is locked before.
func (f *figureFlags) work(ctx context.Context, figures []paper.Figure, o lab.Options) error {
	l, panels, err := f.startWork(ctx, figures, o)
	switch {
	case err != nil && ctx.Err() == nil:
		return usage.Error(err)
	case err == nil && len(panels) == 0:
		fmt.Fprintf(os.Stderr, "there are no runs for --only %s here\n", f.only)
	case err == nil:
		var report runs.Report
		report, err = l.Work(ctx, panels, o.Workers)
		err = cmp.Or(err, report.Err())
	}
	if errors.As(err, new(*runs.FolderError)) {
		return usage.Error(err)
	}
	return err
}

// startWork prepares all that the runs need, and plans them. Where a figure would do with less, a worker does not: its
// runs would be other ones than those of workers that have the plugin and the data.
func (f *figureFlags) startWork(ctx context.Context, figures []paper.Figure, o lab.Options) (*lab.Lab, []claims.Panel,
	error) {
	panels, err := f.workPanels(figures, o)
	if err != nil {
		return nil, nil, err
	}
	if f.backend == backend.Default && backend.XLABuilt {
		f.backend = backend.XLACPU
	}
	l, err := f.lab(ctx, backend.Options{Log: os.Stderr})
	if err != nil {
		return nil, nil, err
	}
	if err := makeCheckpoints(ctx, l, panels); err != nil {
		return nil, nil, err
	}
	for i := range panels {
		if err := cmp.Or(l.AddJobs(&panels[i]), checkData(panels[i])); err != nil {
			return nil, nil, err
		}
	}
	return l, panels, nil
}

// workPanels returns the panels whose runs --only chooses, without the runs.
func (f *figureFlags) workPanels(figures []paper.Figure, o lab.Options) (chosen []claims.Panel, err error) {
	for _, figure := range figures {
		panels, err := f.catalog.Panels(figure, o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", figure.Name(), err)
		}
		for _, p := range panels {
			ofImages, err := lab.OfImages(p)
			if err != nil {
				return nil, err
			}
			if f.only == "" || ofImages == (f.only == onlyImages) {
				chosen = append(chosen, p)
			}
		}
	}
	return chosen, nil
}

// checkData returns an error if the embedded sample replaces full CIFAR-10 in the runs of a panel.
func checkData(p claims.Panel) error {
	outlines, err := p.Settings.Outlines(p.Series, p.Measure)
	for _, o := range outlines {
		full := slices.ContainsFunc(o.Data, func(d experiment.Data) bool { return d.Name == "full" })
		for _, job := range p.Jobs {
			if full && job.Series == o.Series && job.Spec.Settings["data"] == "sample" {
				return errors.New("full CIFAR-10 is not here: set TVPS_DATA to its folder, or choose the embedded sample for all " +
					"workers with --set data=sample")
			}
		}
	}
	return err
}

// checkpointEpochs are the epochs of pre-training, the paper's.
const checkpointEpochs = 100

// makeCheckpoints pre-trains the networks that seeds of the panels need and that are not there, first those that no
// other process trains, and waits for the others. Errors: full CIFAR-10 is missing.
func makeCheckpoints(ctx context.Context, l *lab.Lab, panels []claims.Panel) error {
	trainings, err := checkpointsOf(l, panels)
	if err != nil {
		return err
	}
	var held []*pretraining
	for _, t := range trainings {
		soon, cancel := context.WithTimeout(ctx, time.Second)
		err := t.ensure(ctx, soon)
		cancel()
		if errors.Is(err, context.DeadlineExceeded) {
			held = append(held, t)
		} else if err != nil {
			return err
		}
	}
	for _, t := range held {
		if err := t.ensure(ctx, ctx); err != nil {
			return err
		}
	}
	return nil
}

// checkpointsOf lists the pre-trainings of the seeds' own splits, each once.
func checkpointsOf(l *lab.Lab, panels []claims.Panel) (out []*pretraining, err error) {
	listed := map[string]bool{}
	for _, p := range panels {
		outlines, err := p.Settings.Outlines(p.Series, p.Measure)
		if err != nil {
			return nil, err
		}
		for _, o := range outlines {
			if o.Trunk == nil || !o.Trunk.PerSplit {
				continue
			}
			for _, seed := range p.Seeds {
				t := &pretraining{cfg: resnet.DefaultConfig(o.Trunk.Width), backend: l.Host.Backend,
					out: filepath.Join(l.Host.CacheDir, "checkpoints")}
				t.cfg.Seed, t.cfg.Epochs = seed, checkpointEpochs
				if !listed[t.final()] {
					listed[t.final()] = true
					out = append(out, t)
				}
			}
		}
	}
	return out, nil
}

// ensure trains the network unless its checkpoint is there. It waits for another process that trains it until waiting
// ends, and then returns the error of that.
func (p *pretraining) ensure(ctx, waiting context.Context) error {
	missing := func() (bool, error) {
		_, _, err := resnet.Load(p.out, p.cfg.Width, p.cfg.Seed)
		if _, there := os.Stat(p.final()); err != nil && there == nil { // a new one would make its runs others
			return false, err
		}
		return err != nil, nil
	}
	if is, err := missing(); !is {
		return err
	}
	unlock, err := artifact.Lock(waiting, p.final()+".lock", "the checkpoint "+p.final(), os.Stderr)
	if err != nil {
		return err
	}
	defer unlock()
	if is, err := missing(); !is {
		return err
	}
	if err := p.open(ctx); err != nil {
		return err
	}
	return p.train(ctx)
}
