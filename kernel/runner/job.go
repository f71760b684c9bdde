package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"tvps/kernel/jupyter"
	"tvps/kernel/nbformat"
	"tvps/replicate/usage"
)

// Job is a notebook file to be run.
type Job struct {
	File       string
	Kernel     string            // name of the kernelspec; default: the notebook's own
	Parameters map[string]string // set before it runs
	Output     string            // file for the notebook with its outputs; empty: none
	HTML       string            // file for the page; empty: none
	Timeout    time.Duration     // for one cell; 0: none
	Resume     bool              // go on where the last run left Output
	Live       io.Writer         // gets what the cells show; nil: nobody
	Log        io.Writer         // gets what the kernel itself writes; nil: nobody
	Env        []string          // NAME=value; for the kernel, over what its kernelspec says
	ECharts    string            // echarts.min.js for the page; default: the kernel's own, if it has one
}

// Run runs the notebook and returns it with its outputs, also if a cell failed.
func (j Job) Run(ctx context.Context) (*nbformat.Notebook, Result, error) {
	p, err := j.Prepare()
	if err != nil {
		return nil, Result{}, err
	}
	return p.Run(ctx)
}

// Prepared is a job whose mistakes would have been found.
type Prepared struct {
	job      Job
	nb       *nbformat.Notebook
	spec     jupyter.Spec
	previous *nbformat.Notebook
}

// Prepare reads the notebook and finds its kernel. Nothing runs, and nothing is written.
func (j Job) Prepare() (*Prepared, error) {
	nb, err := nbformat.Read(j.File)
	if err != nil {
		return nil, err
	}
	if err := nb.SetParameters(j.Parameters); err != nil {
		err = fmt.Errorf("%s %w", j.File, err)
		if errors.Is(err, nbformat.ErrParameter) {
			err = usage.Error(err)
		}
		return nil, err
	}
	p := &Prepared{job: j, nb: nb}
	if p.spec, err = j.find(nb); err != nil {
		return nil, err
	}
	if j.Resume {
		p.previous, err = nbformat.Read(j.Output)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("cannot resume: %w", err)
		}
	}
	return p, nil
}

// ours is the kernel that this program installs.
const ours = "tvps"

// find finds the kernel that is asked for, and writes it into the notebook if it is another
// than the notebook's.
func (j Job) find(nb *nbformat.Notebook) (jupyter.Spec, error) {
	name := j.Kernel
	if name == "" {
		name = nb.Kernel()
	}
	if name == "" && nb.Language() == "go" {
		name = ours
	}
	if name == "" {
		return jupyter.Spec{}, usage.Errorf("%s does not say which kernel it is for; name one with --kernel", j.File)
	}
	spec, err := jupyter.Find(name)
	switch {
	case errors.Is(err, jupyter.ErrNoKernel) && name == ours:
		return spec, fmt.Errorf("%s is for the kernel %q, which is not installed; run `go run ./kernel install`", j.File, ours)
	case err != nil && j.Kernel != "":
		return spec, usage.Error(err)
	case err != nil:
		return spec, fmt.Errorf("%s: %w (or name one with --kernel)", j.File, err)
	}
	if name != nb.Kernel() {
		nb.Metadata["kernelspec"] = map[string]any{"name": spec.Name, "display_name": spec.DisplayName, "language": spec.Language}
	}
	return spec, nil
}

// Run runs the notebook.
func (p *Prepared) Run(ctx context.Context) (*nbformat.Notebook, Result, error) {
	j := p.job
	dir, err := filepath.Abs(filepath.Dir(j.File))
	if err != nil {
		return nil, Result{}, fmt.Errorf("cannot tell the folder of %s: %w", j.File, err)
	}
	o := Options{
		Kernel: p.spec.Name, Previous: p.previous, Timeout: j.Timeout, Live: j.Live,
		Start: func(ctx context.Context) (Kernel, error) {
			k, err := jupyter.Start(ctx, headless(p.spec), jupyter.Options{Dir: dir, Log: j.Log, Env: j.Env})
			if err != nil {
				return nil, err // not a *jupyter.Kernel that is nil
			}
			return k, nil
		},
	}
	if j.Output != "" {
		o.Save = func(nb *nbformat.Notebook) error { return nbformat.Write(j.Output, nb) }
	}
	result, err := Run(ctx, p.nb, o)
	if err != nil {
		err = fmt.Errorf("%s: %w", j.File, err)
	}
	return p.nb, result, errors.Join(err, p.export(dir))
}

// headless makes GoNB report errors of the compiler as text, not as HTML that shows them
// where the mouse is.
func headless(spec jupyter.Spec) jupyter.Spec {
	if len(spec.Argv) > 0 && strings.TrimSuffix(filepath.Base(spec.Argv[0]), ".exe") == "gonb" {
		spec.Argv = append(append([]string{}, spec.Argv...), "--raw_error")
	}
	return spec
}

// export writes the page.
func (p *Prepared) export(dir string) error {
	if p.job.HTML == "" {
		return nil
	}
	file := p.job.ECharts
	if file == "" { // in a kernelspec, a dollar sign is written twice
		file = strings.ReplaceAll(p.spec.Env["TVPS_ECHARTS"], "$$", "$")
	}
	echarts, _ := os.ReadFile(file) // without it there are the static pictures
	page, err := p.nb.HTML(nbformat.HTMLOptions{Title: filepath.Base(p.job.File), Dir: dir, ECharts: echarts})
	if err != nil {
		return fmt.Errorf("%s: %w", p.job.File, err)
	}
	return nbformat.WriteFile(p.job.HTML, page)
}

// Each calls run for the numbers below n, at most jobs at a time, and returns their errors
// in order. Once ctx has ended it starts no more.
func Each(ctx context.Context, n, jobs int, run func(i int) error) []error {
	errs := make([]error, n)
	slots := make(chan struct{}, max(1, jobs))
	var wait sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		if errs[i] = ctx.Err(); errs[i] != nil {
			<-slots
			continue
		}
		wait.Go(func() {
			defer func() { <-slots }()
			errs[i] = run(i)
		})
	}
	wait.Wait()
	return errs
}
