package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"tvps/data/artifact"
	"tvps/gomlx_models/backend"
	"tvps/replicate/lab"
	"tvps/replicate/paper"
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
	dryRun, wait       bool
}

// noGPU is the value of --gpu-backend without workers for images.
const noGPU = "none"

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
	flags.BoolVar(&s.wait, "wait", false, "show progress until all jobs have ended, then what was drawn")
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
	all, err := s.states(figures, o)
	if err != nil {
		return err
	}
	jobs, err := s.jobs(cmd, figures, all)
	switch {
	case err != nil:
		return err
	case len(jobs) == 1: // drawing alone
		draw := jobs[0].Command[1:]
		if _, err := fmt.Fprintf(cmd.OutOrStdout(), "nothing to submit: %s; `%s` draws\n", summary(all),
			typed(draw...)); err != nil || !s.wait || s.dryRun {
			return err
		}
		target, flags, err := cmd.Root().Find(draw)
		if err := cmp.Or(err, target.ParseFlags(flags)); err != nil {
			return err
		}
		target.SetContext(cmd.Context())
		return target.RunE(target, nil)
	case s.dryRun:
		return printScripts(cmd.OutOrStdout(), jobs)
	}
	ids, err := s.submit(cmd, jobs)
	if err != nil || !s.wait {
		return err
	}
	return s.follow(cmd, jobs, ids, figures, o)
}

// check returns a usage error for flags that are wrong. A line break would end the line of a batch script.
func (s *submitFlags) check() error {
	for name, texts := range map[string][]string{"folder": {s.folder}, "time": {s.time}, "sbatch": s.lines,
		"gpu-sbatch": s.gpuLines} {
		for _, text := range texts {
			if strings.ContainsFunc(text, unicode.IsControl) {
				return usage.Errorf("--%s %q has a line break or another control character; give it without", name, text)
			}
		}
	}
	err := cmp.Or(checkWorkers(s.workers), usage.Folder(s.folder), usage.Folder(s.out), lab.CheckBackend(s.backend))
	if err == nil && s.gpuBackend != noGPU {
		err = lab.CheckBackend(s.gpuBackend)
	}
	return err
}

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

// drawMemory is what drawing needs, in MiB for each processor.
const drawMemory = 1000

// jobs describes the arrays that have runs to compute, and the job that draws.
func (s *submitFlags) jobs(cmd *cobra.Command, figures []paper.Figure, all []runState) ([]slurmJob, error) {
	name := cmd.Flags().Arg(0)
	arguments, err := s.arguments(cmd, name)
	if err != nil {
		return nil, err
	}
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
			if r.state.Kind == runs.Done || a.only != "" && r.outline.Images != (a.only == onlyImages) {
				continue
			}
			missing++
			j.MemoryMB = max(j.MemoryMB, r.outline.MemoryMB)
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
	one.Name, one.Command, one.MemoryMB = one.Name+"-draw", command("--stored", "--out", out), drawMemory
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
	if j.Folder, err = os.Getwd(); err != nil {
		return j, err
	}
	j.Environ, err = environ()
	return j, err
}

// environ lists the variables that workers need as they are here: the program's own, with the cache's folder named.
func environ() (map[string]string, error) {
	cache, err := artifact.CacheDir()
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, entry := range os.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		if variable.MatchString(name) {
			out[name] = value
		}
	}
	out["TVPS_CACHE"] = cache
	for _, name := range []string{"TVPS_CACHE", "TVPS_DATA", "TVPS_CLEAR", "PJRT_PLUGIN_LIBRARY_PATH"} {
		if out[name] == "" {
			delete(out, name)
			continue
		}
		if out[name], err = filepath.Abs(out[name]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// variable matches the names of those variables. The name of an exported shell function is none.
var variable = regexp.MustCompile(`^(TVPS_\w*|PJRT_PLUGIN_LIBRARY_PATH|XLA_FLAGS)$`)

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
func (s *submitFlags) submit(cmd *cobra.Command, jobs []slurmJob) (ids []int, err error) {
	ctx := cmd.Context()
	for _, j := range jobs {
		if err := j.Write(); err != nil {
			return nil, err
		}
	}
	if err := copyProgram(filepath.Join(jobs[0].Scripts, "replicate")); err != nil {
		return nil, fmt.Errorf("cannot copy this program for the workers: %w", err)
	}
	if err := s.fetchPlugin(ctx); err != nil {
		return nil, err
	}
	if ids, err = submitJobs(ctx, jobs); ctx.Err() != nil {
		return nil, usage.Interruptedf("interrupted: nothing is submitted")
	} else if err != nil {
		return nil, err
	}
	var numbers []string
	for i, j := range jobs {
		numbers = append(numbers, fmt.Sprint(ids[i]))
		what := "draws"
		if j.Workers > 0 {
			what = runs.Plural(j.Workers, "worker")
		}
		fmt.Fprintf(cmd.OutOrStdout(), "job %d  %s: %s\n", ids[i], j.Name, what)
	}
	name := cmd.Flags().Arg(0)
	arguments, err := s.arguments(cmd, name)
	if err != nil {
		return ids, err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "`%s` shows the runs, `scancel %s` ends the jobs; logs: %s\n",
		typed(slices.Concat([]string{"status", name}, arguments)...), strings.Join(numbers, " "), jobs[0].LogFolder())
	return ids, err
}

// typed is a call of this program as its user types it.
func typed(arguments ...string) string {
	return slurmJob{Command: append([]string{"replicate"}, arguments...)}.CommandLine()
}

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

// How often the queue is asked while it is waited for.
const (
	firstPoll = 2 * time.Second
	lastPoll  = 30 * time.Second
)

// follow shows progress until none of the jobs is in the queue, then what the last one has drawn.
func (s *submitFlags) follow(cmd *cobra.Command, jobs []slurmJob, ids []int, figures []paper.Figure,
	o lab.Options) error {
	ctx, shown := cmd.Context(), ""
	for pause := firstPoll; ; pause = min(lastPoll, pause*3/2) {
		waiting, err := inQueue(ctx, ids)
		if err != nil && ctx.Err() == nil {
			return err
		}
		all, err := s.states(figures, o)
		if err != nil {
			return err
		}
		if text := summary(all); text != shown {
			fmt.Fprintf(os.Stderr, "%s  %s\n", time.Now().Format(time.TimeOnly), text)
			shown, pause = text, firstPoll
		}
		if !waiting && ctx.Err() == nil {
			return s.ended(cmd.OutOrStdout(), jobs, ids, all)
		}
		select {
		case <-ctx.Done():
			return usage.Interruptedf("stopped waiting; the jobs stay in the queue")
		case <-time.After(pause):
		}
	}
}

// ended prints what was drawn, and what the workers said last if runs are missing.
func (s *submitFlags) ended(out io.Writer, jobs []slurmJob, ids []int, all []runState) error {
	missing := slices.ContainsFunc(all, func(r runState) bool { return r.state.Kind != runs.Done })
	logs, err := os.ReadDir(jobs[0].LogFolder())
	if err != nil {
		return fmt.Errorf("cannot read the logs: %w", err)
	}
	for i, j := range jobs {
		for _, log := range logs {
			begin := fmt.Sprintf("%s-%d", j.Name, ids[i])
			if !strings.HasPrefix(log.Name(), begin+"-") && !strings.HasPrefix(log.Name(), begin+"_") {
				continue
			}
			text, err := os.ReadFile(filepath.Join(j.LogFolder(), log.Name()))
			if err != nil {
				return fmt.Errorf("cannot read a log: %w", err)
			}
			if j.Workers == 0 {
				_, _ = out.Write(text)
			} else if last := lastSentence(text); missing && last != "" {
				fmt.Fprintf(os.Stderr, "%s: %s\n", log.Name(), last)
			}
		}
	}
	if missing {
		return fmt.Errorf("the jobs have ended, but not all runs are stored: %s; the logs in %s say why", summary(all),
			jobs[0].LogFolder())
	}
	return nil
}

// lastSentence returns the error with which this program last ended according to its log; empty if it never did.
func lastSentence(log []byte) string {
	for _, line := range slices.Backward(strings.Split(string(log), "\n")) {
		if text, ok := strings.CutPrefix(line, "replicate: "); ok {
			return text
		}
	}
	return ""
}
