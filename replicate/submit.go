package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"tvps/data/artifact"
	"tvps/gomlx_models/backend"
	"tvps/replicate/lab"
	"tvps/replicate/runs"
	"tvps/replicate/usage"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// submitFlags are the flags of submit.
type submitFlags struct {
	figureFlags
	ofFigure           []string // names of the flags that workers get as they are
	folder, gpuBackend string
	lines, gpuLines    []string
	time               string
	dryRun             bool
}

func submitCommand(c lab.Catalog) *cobra.Command {
	s := &submitFlags{figureFlags: figureFlags{catalog: c}}
	cmd := &cobra.Command{
		Use:   "submit {figN | all}",
		Short: "Compute the missing runs of a figure, or of all, on a Slurm cluster, and draw at the end",
		Long: "Submit an array of workers, `figN --no-draw`, one of workers with a GPU for the runs of images, and a job\n" +
			"that draws when they have ended.",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return s.run(cmd, args) },
		// What Slurm has accepted is cancelled again after an interruption.
		Annotations: map[string]string{usage.Grace: graceOfSubmit.String()},
	}
	s.registerPlan(cmd, c.Figures...)
	s.registerJudged(cmd, "")
	flags := cmd.Flags()
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Name != "backend" && f.Name != "results" {
			s.ofFigure = append(s.ofFigure, f.Name)
		}
	})
	flags.Lookup("backend").Usage = "backend of workers without a GPU" + strings.TrimPrefix(backendHelp, "backend")
	flags.StringVar(&s.gpuBackend, "gpu-backend", backend.XLACUDA,
		"backend of workers with a GPU, for the runs of images; none: there are no such workers")
	flags.IntVar(&s.workers, "workers", 8, "number of workers of each array, at most as many as it has missing runs")
	flags.StringVar(&s.folder, "folder", filepath.Join("figures", "out", "cluster"),
		"folder of scripts and logs, on a file system that all nodes see")
	flags.StringVar(&s.out, "out", "", "output folder of the figure, or parent folder of all (default: below figures/out)")
	flags.StringVar(&s.time, "time", "", "time limit of a job as sbatch takes it, as 12:00:00 (default: the site's)")
	flags.StringArrayVar(&s.lines, "sbatch", nil, "further option of sbatch for all jobs, as --account=NAME; repeatable")
	flags.StringArrayVar(&s.gpuLines, "gpu-sbatch", nil,
		"further option for workers with a GPU, as --partition=gpu or --gres=gpu:a100:1 (default --gres=gpu:1); repeatable")
	flags.BoolVar(&s.dryRun, "dry-run", false, "print the batch scripts, submit and write nothing")
	return cmd
}

func (s *submitFlags) run(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usage.Errorf("%s takes a figure or all, but got %q", cmd.CommandPath(), args)
	}
	figures, err := s.figures(cmd, args)
	if err := cmp.Or(err, s.check()); err != nil {
		return err
	}
	o, err := s.options("")
	if err != nil {
		return err
	}
	all, err := s.states(figures, o, s.gpuBackend)
	if err != nil {
		return err
	}
	arguments, err := s.arguments(cmd, args[0])
	if err != nil {
		return err
	}
	jobs, err := s.jobs(args[0], arguments, figures, all)
	switch {
	case err != nil:
		return err
	case len(jobs) == 1: // drawing alone
		_, err := fmt.Fprintf(cmd.OutOrStdout(), "nothing to submit: %s; `%s` draws\n", summary(all), typed(jobs[0].Command[1:]...))
		return err
	case s.dryRun:
		return printScripts(cmd.OutOrStdout(), jobs)
	}
	return s.submit(cmd, arguments, jobs)
}

// check returns a usage error for flags that are wrong. A line break would end the line of a batch script.
func (s *submitFlags) check() error {
	for _, flag := range []struct {
		name  string
		texts []string
	}{{"folder", []string{s.folder}}, {"time", []string{s.time}}, {"sbatch", s.lines}, {"gpu-sbatch", s.gpuLines}} {
		for _, text := range flag.texts {
			if strings.ContainsFunc(text, unicode.IsControl) {
				return usage.Errorf("--%s %q has a line break or another control character; give it without", flag.name, text)
			}
			if strings.HasSuffix(flag.name, "sbatch") && !strings.HasPrefix(text, "-") {
				return usage.Errorf("--%s %q is no option of sbatch: begin it with dashes, as --account=NAME", flag.name, text)
			}
		}
	}
	err := cmp.Or(checkWorkers(s.workers), usage.Folder(s.folder), usage.Folder(s.out), lab.CheckBackend(s.backend))
	if err == nil && s.gpuBackend != noGPU {
		err = lab.CheckBackend(s.gpuBackend)
	}
	return err
}

func printScripts(out io.Writer, jobs []slurmJob) error {
	for _, j := range jobs {
		text, err := j.Script()
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "# ==> %s\n%s\n", j.File(), text); err != nil {
			return err
		}
	}
	return nil
}

// submit writes what the jobs need, submits them and says what it has submitted.
func (s *submitFlags) submit(cmd *cobra.Command, arguments []string, jobs []slurmJob) error {
	ctx, program := cmd.Context(), filepath.Join(jobs[0].Scripts, "replicate")
	for _, j := range jobs {
		if err := j.Write(); err != nil {
			return err
		}
	}
	if err := copyProgram(program); err != nil {
		return fmt.Errorf("cannot copy this program for the workers: %w", err)
	}
	if err := s.fetchPlugin(ctx); err != nil {
		return err
	}
	ids, err := submitJobs(ctx, jobs)
	if err != nil && len(ids) == 0 && ctx.Err() != nil {
		return usage.Interruptedf("interrupted: nothing is submitted")
	} else if err != nil {
		return err
	}
	for i, j := range jobs {
		what := "draws"
		if j.Workers > 0 {
			what = runs.Plural(j.Workers, "worker")
		}
		fmt.Fprintf(cmd.OutOrStdout(), "job %s  %s: %s\n", ids[i], j.Name, what)
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "`%s` shows the runs, `scancel %s` ends the jobs; logs: %s\n",
		typed(slices.Concat([]string{"status", cmd.Flags().Arg(0)}, arguments)...), strings.Join(ids, " "), jobs[0].LogFolder())
	return err
}

// typed is a call of this program as its user types it.
func typed(arguments ...string) string { return "go run ./replicate " + quote(arguments...) }

// copyProgram copies this program: `go run` removes its own at the end.
func copyProgram(to string) error {
	from, err := os.Executable()
	if err != nil {
		return err
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return artifact.Replace(to, text, 0o755)
}

// fetchPlugin fetches XLA's CPU plugin into the cache: nodes often have no network.
func (s *submitFlags) fetchPlugin(ctx context.Context) error {
	if s.backend != backend.Default && s.backend != backend.XLACPU {
		return nil
	}
	b, err := backend.Open(ctx, backend.XLACPU, backend.Options{Log: os.Stderr})
	if err != nil {
		return err
	}
	b.Finalize()
	return nil
}

// graceOfSubmit is how long submit may take to cancel what it has submitted.
const graceOfSubmit = 30 * time.Second
