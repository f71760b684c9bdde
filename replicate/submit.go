package main

import (
	"cmp"
	"context"
	"errors"
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
	"tvps/replicate/cluster"
	"tvps/replicate/lab"
	"tvps/replicate/runs"
	"tvps/replicate/usage"

	"github.com/spf13/cobra"
)

// submitFlags are the flags of submit.
type submitFlags struct {
	plan         planFlags
	slurm        cluster.Slurm
	file         string // an existing plan
	folder, out  string
	dryRun, wait bool
}

func submitCommand(c lab.Catalog) *cobra.Command {
	s := &submitFlags{plan: planFlags{figureFlags: figureFlags{catalog: c}}}
	cmd := &cobra.Command{
		Use:   "submit [figure ...|all]",
		Short: "Compute the missing runs of figures on a Slurm cluster, and draw the figures at the end",
		Args:  cobra.ArbitraryArgs,
		RunE:  func(cmd *cobra.Command, args []string) error { return s.run(cmd, args) },
		// What Slurm has accepted is cancelled again after an interruption.
		Annotations: map[string]string{usage.Grace: graceOfSubmit.String()},
	}
	s.plan.registerTasks(cmd)
	flags := cmd.Flags()
	flags.StringVar(&s.file, "plan", "", "file of a plan to submit instead of a new one, from replicate plan --format json")
	flags.StringVar(&s.folder, "folder", filepath.Join("figures", "out", "cluster"),
		"folder of plan, scripts and logs, on a file system that all nodes see")
	flags.StringVar(&s.out, "out", "", "parent folder of the figures' folders (default figures/out)")
	flags.BoolVar(&s.dryRun, "dry-run", false, "print the batch scripts, submit and write nothing")
	flags.BoolVar(&s.wait, "wait", false, "show progress until all is done, then the figures' verdicts")
	o := &s.slurm
	flags.StringVar(&o.Partition, "partition", "", "partition of the tasks without GPU (default: the site's)")
	flags.StringVar(&o.GPUPartition, "gpu-partition", "", "partition of the tasks with GPU (default: the site's)")
	flags.StringVar(&o.GPU, "gpu", "gpu:1", "GPU of a task, as gpu:a100:1 (sbatch --gres)")
	flags.StringVar(&o.Account, "account", "", "account that is charged")
	flags.StringVar(&o.QOS, "qos", "", "quality of service")
	flags.StringArrayVar(&o.Lines, "sbatch", nil, "further option of sbatch, as --constraint=haswell; repeatable")
	flags.DurationVar(&o.Time, "time", 0, "time limit of a task, as 2h (default: twice the estimate, at least 30m)")
	flags.IntVar(&o.MaxRunning, "max-running", 0, "number of tasks of an array that run in parallel (default: all)")
	flags.IntVar(&o.Requeues, "requeues", 50, "number of times that a task is queued again after a time limit or preemption")
	flags.IntVar(&o.Retries, "retries", 2, "number of times that a failed task is computed again")
	return cmd
}

func (s *submitFlags) run(cmd *cobra.Command, args []string) error {
	for name, n := range map[string]int{"max-running": s.slurm.MaxRunning, "requeues": s.slurm.Requeues,
		"retries": s.slurm.Retries} {
		if n < 0 {
			return usage.Errorf("--%s %d: give 0 or more", name, n)
		}
	}
	if err := cmp.Or(usage.Folder(s.folder), usage.Folder(s.out), s.checkLines()); err != nil {
		return err
	}
	p, err := s.makePlan(cmd, args)
	if err != nil {
		return err
	}
	if len(p.Tasks) == 0 {
		_, err := fmt.Fprintf(cmd.OutOrStdout(), "nothing to submit: all %s are stored; "+
			"`replicate figN --stored` draws them\n", runs.Plural(p.Stored, "run"))
		return err
	}
	if err := s.options(cmd.Context()); err != nil {
		return err
	}
	jobs := cluster.Jobs(&p, &s.slurm)
	if s.dryRun {
		return printScripts(cmd.OutOrStdout(), jobs)
	}
	submitted, err := s.submit(cmd.Context(), p, jobs)
	if err != nil {
		return err
	}
	for _, j := range submitted {
		tasks := ""
		if j.Count > 0 {
			tasks = ", " + runs.Plural(j.Count, "task")
		}
		fmt.Fprintf(cmd.OutOrStdout(), "job %d  %s%s\n", j.ID, j.Name, tasks)
	}
	if !s.wait {
		_, err := fmt.Fprintf(cmd.OutOrStdout(), "`replicate status --plan %s` shows what becomes of them, "+
			"`replicate cancel --plan %[1]s` ends them\n", s.slurm.Plan)
		return err
	}
	return follow(cmd.Context(), cmd.OutOrStdout(), s.slurm.Plan, p)
}

// checkLines returns a usage error for a line break in what batch scripts have in comments, where quotes do not help.
func (s *submitFlags) checkLines() error {
	o := s.slurm
	for name, texts := range map[string][]string{"plan": {s.file}, "folder": {s.folder}, "partition": {o.Partition},
		"gpu-partition": {o.GPUPartition}, "gpu": {o.GPU}, "account": {o.Account}, "qos": {o.QOS}, "sbatch": o.Lines} {
		for _, text := range texts {
			if strings.ContainsFunc(text, unicode.IsControl) {
				return usage.Errorf("--%s %q has a line break or another control character; give it without", name, text)
			}
		}
	}
	return nil
}

// submit asks Slurm to run the jobs of a plan.
func (s *submitFlags) submit(ctx context.Context, p cluster.Plan, jobs []cluster.Job) ([]cluster.Submitted, error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := s.prepare(ctx, p); err != nil {
		return nil, err
	}
	if err := cluster.WriteScripts(jobs); err != nil {
		return nil, fmt.Errorf("cannot write the batch scripts: %w", err)
	}
	return cluster.Submit(ctx, jobs)
}

// lock keeps a second submit of the same folder out while this one asks Slurm: none of its jobs would be known to
// cancel.
func (s *submitFlags) lock(ctx context.Context) (unlock func(), err error) {
	folder := filepath.Dir(s.slurm.Plan)
	if err := artifact.MakeFolder(folder); err != nil {
		return nil, fmt.Errorf("cannot make the folder of the plan: %w", err)
	}
	return lockSoon(ctx, filepath.Join(folder, "submit.lock"), "submitting "+s.slurm.Plan,
		fmt.Errorf("another submit is at work in %s: wait for it, or name another --folder", folder))
}

// makePlan reads the plan that the user names, or makes one.
func (s *submitFlags) makePlan(cmd *cobra.Command, args []string) (p cluster.Plan, err error) {
	if s.file == "" {
		s.slurm.Plan = filepath.Join(s.folder, "plan.json")
		p, _, _, err = s.plan.make(cmd, args)
	} else {
		if len(args) > 0 {
			return p, usage.Errorf("give --plan or figures, not both")
		}
		s.slurm.Plan = s.file
		p, err = readPlan(s.file)
	}
	if err != nil {
		return p, err
	}
	s.slurm.Plan, err = filepath.Abs(s.slurm.Plan)
	return p, err
}

// options completes the options of the batch scripts: absolute paths, the environment, and what Slurm says.
func (s *submitFlags) options(ctx context.Context) (err error) {
	o := &s.slurm
	if o.Work, err = os.Getwd(); err != nil {
		return err
	}
	if o.Results, err = filepath.Abs(s.plan.results); err != nil {
		return err
	}
	if s.out == "" {
		s.out = filepath.Join("figures", "out")
	}
	out, err := filepath.Abs(s.out)
	if err != nil {
		return err
	}
	o.Folders = map[string]string{}
	for _, f := range s.plan.catalog.Figures {
		o.Folders[f.Command()] = filepath.Join(out, f.Name())
	}
	o.Program = filepath.Join(filepath.Dir(o.Plan), "replicate")
	if o.Environ, err = environ(); err != nil {
		return err
	}
	o.MaxArray, err = cluster.MaxArraySize(ctx)
	return err
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

func printScripts(out io.Writer, jobs []cluster.Job) error {
	for _, j := range jobs {
		text, err := j.Script()
		if err != nil {
			return err
		}
		after := ""
		if len(j.After) > 0 {
			after = " after " + strings.Join(j.After, ", ")
		}
		if _, err := fmt.Fprintf(out, "# ==> %s%s\n%s\n", j.File(), after, text); err != nil {
			return err
		}
	}
	return nil
}

// prepare makes everything that the jobs read: the plan, a copy of this program, the plugin. It fails if jobs of an
// earlier submission are in the queue.
func (s *submitFlags) prepare(ctx context.Context, p cluster.Plan) error {
	o := &s.slurm
	earlier, err := cluster.ReadStatus(ctx, o.Plan, p)
	if err != nil {
		return err
	}
	if !earlier.Over() {
		return fmt.Errorf("jobs of %s are in the queue: wait, cancel them with `replicate cancel --plan %[1]s`, "+
			"or name another --folder", o.Plan)
	}
	if err := os.RemoveAll(cluster.AttemptsFolder(o.Plan)); err != nil {
		return err
	}
	if s.file == "" {
		if err := p.Write(o.Plan); err != nil {
			return err
		}
	}
	if err := copyProgram(o.Program); err != nil {
		return fmt.Errorf("cannot copy this program for the workers: %w", err)
	}
	return s.fetchPlugin(ctx, p)
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
func (s *submitFlags) fetchPlugin(ctx context.Context, p cluster.Plan) error {
	if !slices.ContainsFunc(p.Tasks, func(t cluster.Task) bool {
		return t.Backend == backend.Default || t.Backend == backend.XLACPU
	}) {
		return nil
	}
	b, err := backend.Open(ctx, backend.XLACPU, backend.Options{Log: os.Stderr})
	if err != nil {
		return err
	}
	b.Finalize()
	return nil
}

// readPlan reads the plan in a file. Errors are usage errors.
func readPlan(path string) (cluster.Plan, error) {
	if path == "" {
		return cluster.Plan{}, usage.Errorf("name the plan with --plan FILE; `replicate plan --format json --out FILE` writes one")
	}
	p, err := cluster.Read(path)
	return p, usage.Error(err)
}

// graceOfSubmit is how long submit may take to cancel what it has submitted.
const graceOfSubmit = 30 * time.Second

// How often the queue is asked while it is waited for, and how often in a row it may fail to answer.
const (
	firstPoll    = 2 * time.Second
	lastPoll     = 30 * time.Second
	mostFailures = 20
)

// follow shows progress until nothing of the plan is in the queue, then what the drawing job printed.
func follow(ctx context.Context, out io.Writer, path string, p cluster.Plan) error {
	shown, failures := "", 0
	for pause := firstPoll; ; pause = min(lastPoll, pause*3/2) {
		s, err := cluster.ReadStatus(ctx, path, p)
		if ctx.Err() != nil {
			return stoppedWaiting(path)
		}
		line := s.Progress()
		if failures++; err == nil {
			failures = 0
		} else if line = err.Error(); failures == mostFailures { // a busy controller does not answer each time
			return err
		}
		if line != shown {
			fmt.Fprintf(os.Stderr, "%s  %s\n", time.Now().Format(time.TimeOnly), line)
			shown, pause = line, firstPoll
		}
		if err == nil && s.Over() {
			return ended(out, s)
		}
		select {
		case <-ctx.Done():
			return stoppedWaiting(path)
		case <-time.After(pause):
		}
	}
}

func stoppedWaiting(plan string) error {
	return usage.Interruptedf("stopped waiting; the jobs stay in the queue, `replicate status --plan %s` shows them", plan)
}

// ended prints the end of a plan: what failed, or what the drawing job printed.
func ended(out io.Writer, s cluster.Status) error {
	if err := s.Err(); err != nil {
		return errors.Join(s.Print(out), err)
	}
	text, err := os.ReadFile(s.Draw.Log)
	if err != nil {
		return fmt.Errorf("cannot read what was drawn: %w", err)
	}
	_, err = out.Write(text)
	return err
}

func cancelCommand() *cobra.Command {
	var plan string
	cmd := &cobra.Command{
		Use:   "cancel",
		Short: "Cancel the jobs of a plan that `submit` put into Slurm's queue; stored steps stay",
		Args:  usage.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := readPlan(plan); err != nil {
				return err
			}
			n, err := cluster.Cancel(cmd.Context(), plan)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s cancelled\n", runs.Plural(n, "job"))
			return err
		},
	}
	registerPlanFile(cmd, &plan)
	return cmd
}
