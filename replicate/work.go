package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"time"

	"tvps/data/artifact"
	"tvps/gomlx_models/backend"
	"tvps/gomlx_models/resnet"
	"tvps/replicate/cluster"
	"tvps/replicate/lab"
	"tvps/replicate/runs"
	"tvps/replicate/usage"

	"github.com/spf13/cobra"
)

// graceOfWork is how long work may take to end after TERM: the checkpoint of a group of agents has gigabytes.
const graceOfWork = 100 * time.Second

// workFlags are the flags of work.
type workFlags struct {
	catalog                lab.Catalog
	plan, backend, results string
	task, workers          int
}

func workCommand(c lab.Catalog) *cobra.Command {
	flags := &workFlags{catalog: c}
	cmd := &cobra.Command{
		Use:   "work --plan FILE --task N",
		Short: "Compute one task of a plan, for a job of a cluster; draws nothing and waits for no other process",
		Long: "Compute exactly the runs or steps of one task of a plan. A second call computes only what is missing.\n" +
			"The attempt is noted in the folder FILE.tasks (without the .json of FILE).\n\n" +
			"Exit code 0: all is stored; 1: it failed, try again; 2: it cannot be computed here or at all, do not try\n" +
			"again; 75: another process is computing a part of it; 130: interrupted, what is finished is stored.",
		Args:        usage.NoArguments,
		Annotations: map[string]string{usage.Grace: graceOfWork.String(), usage.Continues: "true"},
		RunE:        func(cmd *cobra.Command, _ []string) error { return flags.run(cmd) },
	}
	f := cmd.Flags()
	f.StringVar(&flags.plan, "plan", "", "file of the plan, from replicate plan --format json")
	f.IntVar(&flags.task, "task", -1, "number of the task")
	f.StringVar(&flags.results, "results", "results", "folder of the runs")
	f.StringVar(&flags.backend, "backend", "", "backend instead of that of the task: "+backendNames)
	f.IntVar(&flags.workers, "workers", 1, "number of parallel runs of the task")
	return cmd
}

// run computes the task and notes the attempt.
func (f *workFlags) run(cmd *cobra.Command) error {
	plan, task, err := f.read()
	if err != nil {
		return err
	}
	attempt, err := cluster.Begin(f.plan, task, time.Now())
	if err != nil {
		return err
	}
	log := &timedWriter{out: cmd.ErrOrStderr()}
	fmt.Fprintf(log, "task %d of %s: %s\n", task.ID, f.plan, task)
	noted := make(chan struct{})
	stop := context.AfterFunc(cmd.Context(), func() { // the process may end before the task does
		defer close(noted)
		_ = attempt.Finish(time.Now(), usage.ExitCode(cmd.Context(), context.Canceled), context.Canceled)
	})
	err = f.compute(cmd.Context(), log, plan, task, attempt)
	if !stop() {
		<-noted
	}
	if noteErr := attempt.Finish(time.Now(), usage.ExitCode(cmd.Context(), err), err); err == nil {
		err = noteErr
	}
	return err
}

// read reads the plan and the task. All its errors are usage errors.
func (f *workFlags) read() (cluster.Plan, cluster.Task, error) {
	if err := checkWorkers(f.workers); err != nil {
		return cluster.Plan{}, cluster.Task{}, err
	}
	plan, err := readPlan(f.plan)
	if err != nil {
		return plan, cluster.Task{}, err
	}
	if f.task < 0 {
		return plan, cluster.Task{}, usage.Errorf("name the task with --task N")
	}
	task, err := plan.Task(f.task)
	return plan, task, usage.Error(err)
}

// noteInterval is the time between two notes of how far an attempt is.
const noteInterval = 30 * time.Second

// compute computes the task and notes its steps.
func (f *workFlags) compute(ctx context.Context, log io.Writer, plan cluster.Plan, task cluster.Task,
	attempt *cluster.Attempt) error {
	name := task.Backend
	if f.backend != "" {
		name = f.backend
	}
	if task.Pretrain != nil {
		return pretrainTask(ctx, *task.Pretrain, name)
	}
	l, err := lab.Open(ctx, f.catalog, lab.OpenOptions{Backend: name, Open: backend.Options{Log: log},
		Results: f.results, Stdout: io.Discard, Stderr: log})
	if ctx.Err() != nil || errors.As(err, new(*runs.FolderError)) {
		return err // a results folder may come back
	}
	if err != nil {
		return usage.Error(err) // the backend is not here: trying again does not help
	}
	worker, err := cluster.NewWorker(l, plan, task)
	if err != nil {
		return err
	}
	before, over := worker.Steps(), make(chan struct{})
	var noting sync.WaitGroup
	noting.Go(func() {
		for running := true; running; attempt.Note(worker.Steps() - before) {
			select {
			case <-over:
				running = false
			case <-time.After(noteInterval):
			}
		}
	})
	err = worker.Work(ctx, f.workers)
	close(over)
	noting.Wait()
	return err
}

// pretrainTask trains a checkpoint unless it is there. It does not wait for a process that trains it.
func pretrainTask(ctx context.Context, t cluster.Pretrain, name string) error {
	folder, err := artifact.CacheDir("checkpoints")
	if err != nil {
		return err
	}
	if _, _, err := resnet.Load(folder, t.Width, t.Split); err == nil {
		return nil
	}
	p := &pretraining{cfg: t.Config(), name: name}
	if err := p.open(ctx); err != nil {
		return usage.Error(err)
	}
	final := p.final()
	run := runs.Held{Spec: runs.Spec{Experiment: "pretrain", Learner: filepath.Base(final)}}
	unlock, err := lockSoon(ctx, final+".lock", "the training of "+final, &runs.HeldError{Held: []runs.Held{run}, Total: 1})
	if err != nil {
		return err
	}
	defer unlock()
	return p.train(ctx, final, final+".training")
}

// lockSoon locks the file at path within a second, or returns held if another process has it.
func lockSoon(ctx context.Context, path, what string, held error) (unlock func(), err error) {
	soon, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	unlock, err = artifact.Lock(soon, path, what, io.Discard)
	if errors.Is(err, context.DeadlineExceeded) {
		err = held
	}
	return unlock, err
}

// timedWriter writes each line with its time, for logs that several processes or attempts append to.
type timedWriter struct {
	out   io.Writer
	mutex sync.Mutex
}

// Write writes text that ends in a newline.
func (w *timedWriter) Write(text []byte) (int, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if _, err := fmt.Fprintf(w.out, "%s %s", time.Now().UTC().Format(time.RFC3339), text); err != nil {
		return 0, err
	}
	return len(text), nil
}

// readPlan reads the plan in a file. Errors are usage errors.
func readPlan(path string) (cluster.Plan, error) {
	if path == "" {
		return cluster.Plan{}, usage.Errorf("name the plan with --plan FILE; `replicate plan --format json --out FILE` writes one")
	}
	p, err := cluster.Read(path)
	return p, usage.Error(err)
}
