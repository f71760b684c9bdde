package cluster

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tvps/ci/demand"
	"tvps/replicate/cluster/slurmtest"
)

// This program is also the worker of the tests: how attempts at a task end is read from a file.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "work" {
		os.Exit(work(os.Args[2:]))
	}
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "fig") {
		fmt.Println("drawn:", os.Args[1:])
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// work notes an attempt that ends as the file of the task says: a line for each attempt with an exit code. Code 130
// waits for TERM, as does "hang", which notes nothing.
func work(arguments []string) int {
	flags := flag.NewFlagSet("work", flag.ExitOnError)
	plan := flags.String("plan", "", "")
	task := flags.Int("task", -1, "")
	flags.String("results", "", "")
	flags.Int("workers", 0, "")
	flags.Parse(arguments)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	p, err := Read(*plan)
	if err != nil {
		panic(err)
	}
	earlier, _ := Attempts(*plan)
	n := 0
	for _, a := range earlier {
		if a.Task == *task {
			n++
		}
	}
	a, err := Begin(*plan, p.Tasks[*task], time.Now())
	if err != nil {
		panic(err)
	}
	behaviour, err := os.ReadFile(filepath.Join(filepath.Dir(*plan), fmt.Sprint("behaviour-", *task)))
	if err != nil {
		behaviour = []byte("0")
	}
	codes := strings.Fields(string(behaviour))
	code, failure := 0, error(nil)
	switch text := codes[min(n, len(codes)-1)]; text {
	case "hang":
		<-ctx.Done()
		os.Exit(3) // without a word
	case "130":
		<-ctx.Done()
		code = 130
	default:
		fmt.Sscan(text, &code)
	}
	if code == 1 {
		failure = fmt.Errorf("the disk of attempt %d is full", n)
	}
	if err := a.Finish(time.Now(), code, failure); err != nil {
		panic(err)
	}
	return code
}

// plan returns a plan of n tasks of stage cpu after one of stage features, and the options to submit it.
func plan(t *testing.T, n int) (Plan, *Slurm) {
	p := Plan{Format: Format, Scale: "tiny", Figures: []string{"fig1"}, TaskSeconds: 60}
	task := Task{Stage: StageFeatures, CPUs: 1, MemoryMB: 100, Seconds: 30,
		Features: &Features{Scenario: "cifar10a"}}
	p.Tasks = append(p.Tasks, task)
	for i := range n {
		p.Tasks = append(p.Tasks, Task{ID: 1 + i, Stage: StageCPU, After: []int{0}, CPUs: 1,
			MemoryMB: 100, Seconds: 600, Runs: []Runs{{Scenario: "gaussian",
				Series: "ours", Batch: []int64{0, 1}, Seeds: []int64{0}, Steps: []int{i}}}})
	}
	// A folder with a space and a quote: scripts quote their paths.
	folder := filepath.Join(t.TempDir(), "it's a plan")
	demand.NoError(t, os.Mkdir(folder, 0o755))
	program, err := os.Executable()
	demand.NoError(t, err)
	o := &Slurm{Plan: filepath.Join(folder, "plan.json"), Program: program, Work: folder,
		Results: filepath.Join(folder, "runs"), Folders: map[string]string{"fig1": filepath.Join(folder, "fig01")},
		GPU: "gpu:1", MaxArray: 10, Requeues: 3, Retries: 1}
	demand.NoError(t, p.Write(o.Plan))
	return p, o
}

// behave sets how the attempts at a task end.
func behave(t *testing.T, o *Slurm, task int, codes string) {
	name := filepath.Join(filepath.Dir(o.Plan), fmt.Sprint("behaviour-", task))
	demand.Write(t, name, codes)
}

// submit submits a plan to the cluster, which the commands of this process then see.
func submit(t *testing.T, c *slurmtest.Cluster, p Plan, o *Slurm) {
	t.Helper()
	t.Setenv("SLURM_CONF", filepath.Join(c.Dir, "slurm.conf"))
	jobs := Jobs(&p, o)
	demand.NoError(t, WriteScripts(jobs))
	_, err := Submit(t.Context(), jobs)
	demand.NoError(t, err)
}

// over waits until nothing of the plan is in the queue.
func over(t *testing.T, c *slurmtest.Cluster, p Plan, o *Slurm) (s Status) {
	t.Helper()
	c.Wait(10*time.Minute, "end of the plan", func() bool {
		var err error
		if s, err = ReadStatus(t.Context(), o.Plan, p); err != nil {
			t.Fatal(err)
		}
		return s.Over()
	})
	return s
}

// TestSlurmAttempts: of 12 tasks in two arrays one fails once, one finds its run held, one gets TERM from the time
// limit, one loses its node. All end well, and the figure is drawn.
func TestSlurmAttempts(t *testing.T) {
	if !demand.Nightly {
		t.Skip("TVPS_NIGHTLY is not set")
	}
	c := slurmtest.Start(t)
	p, o := plan(t, 12)
	o.Time = time.Minute
	behave(t, o, 3, "1 0")
	behave(t, o, 4, "130 0")
	behave(t, o, 12, "hang 0")
	submit(t, c, p, o)
	node := ""
	c.Wait(10*time.Minute, "task that hangs", func() bool {
		s, err := ReadStatus(t.Context(), o.Plan, p)
		demand.NoError(t, err)
		node = s.Tasks[12].Node
		return s.Tasks[12].State == Running && s.Tasks[12].Attempts == 1
	})
	c.StopNode(node)
	s := over(t, c, p, o)
	demand.NoError(t, s.Err())
	attempts := map[string]int{}
	for _, i := range s.Tasks {
		if i.State != Done {
			t.Error(i)
		}
		attempts[i.Name] = i.Attempts
	}
	for name, want := range map[string]int{"task 0 (features)": 1, "task 2 (cpu)": 1, "task 3 (cpu)": 2,
		"task 4 (cpu)": 2, "task 12 (cpu)": 2} {
		if attempts[name] < want { // more if the machine is so busy that the time limit comes first
			t.Errorf("%s: %d attempts, want %d", name, attempts[name], want)
		}
	}
	if s.Draw.State != Done {
		t.Errorf("%v, want a drawn figure", s.Draw)
	}
}

// TestSlurmFailed: a task that fails again and again is given up, one that is impossible at once, and the drawing job
// is cancelled. The status names task, node and log.
func TestSlurmFailed(t *testing.T) {
	c := slurmtest.Start(t)
	p, o := plan(t, 4)
	behave(t, o, 2, "1")
	behave(t, o, 3, "2")
	submit(t, c, p, o)
	s := over(t, c, p, o)
	for i, want := range []struct {
		state    TaskState
		attempts int
	}{{Done, 1}, {Done, 1}, {Failed, 2}, {Failed, 1}, {Done, 1}} {
		if got := s.Tasks[i]; got.State != want.state || got.Attempts != want.attempts {
			t.Errorf("%s: %d attempts, want %s and %d", got, got.Attempts, want.state, want.attempts)
		}
	}
	if s.Draw.State != Cancelled {
		t.Errorf("%v, want a cancelled drawing job", s.Draw)
	}
	demand.Error(t, s.Err(), "task 2 (cpu) failed on n", "attempt 1 is full", "logs/tvps-cpu-1-")
	if info, err := os.Stat(s.Tasks[2].Log); err != nil || info.Size() == 0 {
		t.Errorf("log %q: %v", s.Tasks[2].Log, err)
	}
}

// TestSlurmCancel: nothing of a cancelled plan stays in the queue, and its processes end.
func TestSlurmCancel(t *testing.T) {
	c := slurmtest.Start(t)
	p, o := plan(t, 2)
	behave(t, o, 0, "hang")
	submit(t, c, p, o)
	c.Wait(time.Minute, "running task", func() bool {
		s, err := ReadStatus(t.Context(), o.Plan, p)
		return err == nil && s.Tasks[0].Attempts == 1
	})
	if n, err := Cancel(t.Context(), o.Plan); n != 3 || err != nil {
		t.Errorf("%d jobs cancelled, %v, want 3", n, err)
	}
	s := over(t, c, p, o)
	if s.Tasks[0].State != Failed || s.Tasks[1].State != Cancelled {
		t.Errorf("after cancelling: %s, %s", s.Tasks[0], s.Tasks[1])
	}
	if n, err := Cancel(t.Context(), o.Plan); n != 0 || err != nil {
		t.Errorf("%d jobs cancelled the second time, %v", n, err)
	}
}
