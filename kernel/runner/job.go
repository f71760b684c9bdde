package runner

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tvps/kernel/jupyter"
	"tvps/kernel/nbformat"
	"tvps/replicate/usage"
)

// Job is a notebook file to run.
type Job struct {
	File       string
	Parameters map[string]string // values of parameters by name
	Output     string            // file for the notebook with its outputs; empty: not written
	Env        []string          // NAME=value, for the kernel; overrides its kernelspec
	Options                      // without Start and Save
}

// prepare reads the notebook and finds its kernel. Nothing runs, and nothing is written.
func (j Job) prepare() (*nbformat.Notebook, jupyter.Spec, error) {
	nb, err := nbformat.Read(j.File)
	if err != nil {
		return nil, jupyter.Spec{}, usage.Error(err)
	}
	if err := nb.SetParameters(j.Parameters); err != nil {
		return nil, jupyter.Spec{}, usage.Errorf("%s %w", j.File, err)
	}
	spec, err := j.find(nb)
	return nb, spec, err
}

// ownKernel is the name of the kernel that this program installs.
const ownKernel = "tvps"

// find finds the kernelspec that the notebook names. Without a name, a notebook in Go gets that of this program.
func (j Job) find(nb *nbformat.Notebook) (jupyter.Spec, error) {
	name := nb.Kernel()
	if name == "" && nb.Language() == "go" {
		name = ownKernel
	}
	if name == "" {
		return jupyter.Spec{}, usage.Errorf("%s does not name its kernel: open it in Jupyter, choose a kernel, and save it", j.File)
	}
	spec, err := jupyter.Find(name)
	switch {
	case errors.Is(err, jupyter.ErrNoKernel) && name == ownKernel:
		return jupyter.Spec{}, usage.Errorf("%s is for the kernel %q, which is not installed; "+
			"run `go run ./kernel install`", j.File, ownKernel)
	case err != nil:
		return jupyter.Spec{}, usage.Errorf("%s: %w", j.File, err)
	}
	if name != nb.Kernel() {
		nb.Metadata["kernelspec"] = map[string]any{
			"name": spec.Name, "display_name": spec.DisplayName, "language": spec.Language,
		}
	}
	return spec, nil
}

// Run runs the notebook and saves it after each cell. It returns the notebook with its outputs, even if a cell failed.
// If the notebook, its parameters or its kernel do not exist, the error is a usage error.
func (j Job) Run(ctx context.Context) (*nbformat.Notebook, Result, error) {
	nb, spec, err := j.prepare()
	if err != nil {
		return nil, Result{}, err
	}
	dir, err := filepath.Abs(filepath.Dir(j.File))
	if err != nil {
		return nil, Result{}, fmt.Errorf("cannot resolve the folder of %s: %w", j.File, err)
	}
	o := j.Options
	o.Start = func(ctx context.Context) (Kernel, error) {
		k, err := jupyter.Start(ctx, headless(spec), jupyter.Options{Dir: dir, Env: j.Env})
		if err != nil {
			return nil, err // k would be a non-nil interface with a nil pointer
		}
		return k, nil
	}
	if j.Output != "" {
		o.Save = func(nb *nbformat.Notebook) error { return nbformat.Write(j.Output, nb) }
	}
	result, err := Run(ctx, nb, o)
	if err != nil {
		err = fmt.Errorf("%s: %w", j.File, err)
	}
	return nb, result, err
}

// headless takes the folder gopls of `kernel install` off PATH, because nothing is completed without a browser. IPython
// keeps no history of what was not typed.
func headless(spec jupyter.Spec) jupyter.Spec {
	spec.Argv = slices.Clone(spec.Argv)
	if slices.ContainsFunc(spec.Argv, func(arg string) bool { return strings.HasPrefix(arg, "ipykernel") }) {
		spec.Argv = append(spec.Argv, "--HistoryManager.hist_file=:memory:")
	}
	if path, ok := spec.Env["PATH"]; ok {
		dirs := slices.DeleteFunc(filepath.SplitList(path), func(dir string) bool { return filepath.Base(dir) == "gopls" })
		spec.Env = maps.Clone(spec.Env)
		spec.Env["PATH"] = strings.Join(dirs, string(os.PathListSeparator))
	}
	return spec
}
