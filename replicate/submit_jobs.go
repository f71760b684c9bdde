package main

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"

	"tvps/replicate/paper"
	"tvps/replicate/runs"
	"tvps/replicate/usage"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// noGPU is the value of --gpu-backend without workers for images.
const noGPU = "none"

// array is a kind of workers.
type array struct {
	only, backend string   // as the flags of a worker; empty for the default
	first, last   []string // options of sbatch, before and after those for all jobs
}

// arrays returns the kinds of workers that are submitted.
func (s *submitFlags) arrays() []array {
	if s.gpuBackend == noGPU {
		return []array{{backend: s.backend}}
	}
	return []array{{only: onlyOthers, backend: s.backend},
		{only: onlyImages, backend: s.gpuBackend, first: []string{"--gres=gpu:1"}, last: s.gpuLines}}
}

// jobs describes the arrays that have runs to compute, and the job that draws.
func (s *submitFlags) jobs(name string, arguments []string, figures []paper.Figure, all []runState) ([]slurmJob,
	error) {
	one, err := s.job(name)
	if err != nil {
		return nil, err
	}
	command := func(more ...string) []string { // in the folder of the scripts is a copy of this program
		return slices.Concat([]string{filepath.Join(one.Scripts, "replicate"), name}, more, arguments)
	}
	var jobs []slurmJob
	for _, a := range s.arrays() {
		j, missing := one, 0
		for _, r := range distinct(all) {
			if r.state.Kind != runs.Done && (a.only == "" || r.images == (a.only == onlyImages)) {
				missing++
			}
		}
		if missing == 0 {
			continue
		}
		j.Workers, j.Lines = min(s.workers, missing), slices.Concat(a.first, one.Lines, a.last)
		j.Command = command("--no-draw")
		if a.only != "" {
			j.Command = append(j.Command, "--only", a.only)
		}
		if a.only == onlyImages {
			j.Name += "-" + onlyImages
		}
		if a.backend != "" {
			j.Command = append(j.Command, "--backend", a.backend)
		}
		jobs = append(jobs, j)
	}
	out := filepath.Join("figures", "out")
	if name != "all" {
		out = filepath.Join(out, figures[0].Name())
	}
	if out, err = filepath.Abs(cmp.Or(s.out, out)); err != nil {
		return nil, err
	}
	one.Name, one.Command = one.Name+"-draw", command("--stored", "--out", out)
	return append(jobs, one), nil
}

// arguments are those flags of the figure that the user gave. Errors: its command has no such flag.
func (s *submitFlags) arguments(cmd *cobra.Command, name string) ([]string, error) {
	target, _, err := cmd.Root().Find([]string{name})
	if err != nil {
		return nil, err
	}
	results, err := filepath.Abs(s.results)
	out := []string{"--results", results}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(s.ofFigure, f.Name) {
			return
		}
		if target.Flags().Lookup(f.Name) == nil {
			err = cmp.Or(err, usage.Errorf("%s has no flag --%s: submit a figure", name, f.Name))
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			out = append(out, "--"+f.Name+"="+v)
		}
	})
	return out, err
}

// job is what all jobs of a figure have in common.
func (s *submitFlags) job(name string) (j slurmJob, err error) {
	j.Name, j.Lines = "tvps-"+name, slices.Clone(s.lines)
	if s.time != "" {
		j.Lines = append(j.Lines, "--time="+s.time)
	}
	if j.Scripts, err = filepath.Abs(s.folder); err != nil {
		return j, err
	}
	j.Folder, err = os.Getwd()
	return j, err
}
