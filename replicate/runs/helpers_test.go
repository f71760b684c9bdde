package runs

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"

	"tvps/ci/demand"
)

// A test that needs further processes starts the test binary again: with RUNS_TEST_DIR set it executes test jobs in
// that folder instead of tests. Every lock is granted there, as on a file system whose locks are local.
const (
	envDir   = "RUNS_TEST_DIR"
	envDelay = "RUNS_TEST_DELAY" // of each step
	envLog   = "RUNS_TEST_LOG"   // gets a line for each computed step

	childSeeds, childSteps = 2, 20
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(envDir); dir != "" {
		if err := child(dir); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child is what a further process does.
func child(dir string) error {
	flock = func(*os.File, int) error { return nil }
	store, err := Open(dir)
	if err != nil {
		return err
	}
	delay, _ := time.ParseDuration(os.Getenv(envDelay))
	log, err := os.OpenFile(os.Getenv(envLog), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	var jobs []Job
	for seed := range childSeeds {
		jobs = append(jobs, stepJob(spec(seed), upTo(childSteps), func(_ context.Context, t int) ([]Row, error) {
			fmt.Fprintf(log, "%s %d\n", spec(seed).ID(), t)
			time.Sleep(delay)
			return rowsAt(seed, t), nil
		}))
	}
	report, err := Execute(context.Background(), store, jobs, Options{Workers: 2})
	if err != nil {
		return err
	}
	if len(report.Results) != childSeeds {
		return fmt.Errorf("%d of %d runs have a result", len(report.Results), childSeeds)
	}
	return report.Err()
}

// startChild starts a further process.
func startChild(t *testing.T, dir, log string, delay time.Duration) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), envDir+"="+dir, envLog+"="+log, envDelay+"="+delay.String())
	output := &bytes.Buffer{}
	command.Stdout, command.Stderr = output, output
	demand.NoError(t, command.Start())
	return command, output
}

func spec(seed int) Spec {
	return Spec{Experiment: "test", Learner: "ours", Seed: int64(seed),
		Settings: map[string]string{"epochs": "20", "lr": "0.1"}}
}

// rowsAt has values with long decimals, a negative zero and a varying number of rows, none for every seventh step.
func rowsAt(seed, t int) []Row {
	if t%7 == 6 {
		return nil
	}
	return []Row{
		{t, "accuracy", math.Sin(float64(seed*1000+t)) / 3},
		{t, "zero", math.Copysign(0, -1)},
		{t, "loss <&>\u00e9", math.Exp(float64(10*t - 60))},
	}
}

func upTo(n int) []int {
	steps := make([]int, n)
	for i := range steps {
		steps[i] = i
	}
	return steps
}

// startJob is a job that trains alone.
func startJob(spec Spec, steps []int, start func(context.Context) (StepFunc, func(), error)) Job {
	return Job{Spec: spec, Steps: steps, Batch: Alone(spec.Seed, start)}
}

// stepJob is a job that needs no preparation.
func stepJob(spec Spec, steps []int, step StepFunc) Job {
	return startJob(spec, steps, func(context.Context) (StepFunc, func(), error) { return step, nil, nil })
}

// stepOf is the step of a job that needs no preparation.
func stepOf(job Job) StepFunc {
	return func(ctx context.Context, t int) ([]Row, error) {
		step, _, err := job.Batch.Start(ctx, nil, nil, Files{})
		if err != nil {
			return nil, err
		}
		rows, err := step(ctx, t)
		return rows[0], err
	}
}

// testJob counts its computed steps.
func testJob(seed int, steps []int, count *atomic.Int64) Job {
	return stepJob(spec(seed), steps, func(_ context.Context, t int) ([]Row, error) {
		count.Add(1)
		return rowsAt(seed, t), nil
	})
}

func open(t *testing.T, dir string) *Store {
	t.Helper()
	store, err := Open(dir)
	demand.NoError(t, err)
	return store
}

// claimed claims a run, which no other process holds.
func claimed(t *testing.T, store *Store, spec Spec) (release func()) {
	t.Helper()
	held, err := store.claim(spec)
	if held == nil || err != nil {
		t.Fatal("not claimed", err)
	}
	return held.release
}

// execute fails the test on an error or an unfinished run.
func execute(t *testing.T, store *Store, out io.Writer, jobs ...Job) Report {
	t.Helper()
	report, err := Execute(context.Background(), store, jobs,
		Options{Out: out, Provenance: Provenance{Command: []string{"test"}}})
	demand.NoError(t, err)
	demand.NoError(t, report.Err())
	return report
}

// uninterrupted returns the second frame of the run computed without interruption.
func uninterrupted(t *testing.T, seed int, steps []int) []byte {
	t.Helper()
	store := open(t, t.TempDir())
	execute(t, store, nil, testJob(seed, steps, new(atomic.Int64)))
	return secondFrame(t, store, spec(seed))
}

// secondFrame returns the compressed bytes of the part of a result file that must not depend on interruptions.
func secondFrame(t *testing.T, store *Store, spec Spec) []byte {
	t.Helper()
	file := demand.Read(t, store.donePath(spec))
	at := bytes.LastIndex(file, []byte{0x28, 0xb5, 0x2f, 0xfd})
	if at <= 0 {
		t.Fatalf("%d bytes hold no second zstd frame", len(file))
	}
	return file[at:]
}

// begun leaves an interrupted run with these further steps done, each in a second.
func begun(t *testing.T, store *Store, s Spec, steps []int, session Provenance) {
	t.Helper()
	demand.NoError(t, store.checkWritable(s.Experiment))
	part, err := store.unfinished(s)
	demand.NoError(t, err)
	file, err := openPartial(store.partialPath(s), s, part, session)
	demand.NoError(t, err)
	defer file.Close()
	for _, step := range steps {
		_, err := file.Write(stepLine(int(s.Seed), step))
		demand.NoError(t, err)
	}
}

// stepLine is the line of a step that took a second.
func stepLine(seed, step int) []byte {
	return sealed(partialLine{Step: &finishedStep{step, 1, rowsAt(seed, step)}})
}

// stepsDone counts the finished steps of an unfinished run.
func stepsDone(t *testing.T, store *Store, spec Spec) int {
	t.Helper()
	part, err := store.unfinished(spec)
	demand.NoError(t, err)
	return len(part.rows)
}
