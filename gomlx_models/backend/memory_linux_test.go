//go:build !noxla

package backend

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"tvps/ci/demand"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// faults returns the number of minor page faults of this process so far.
func faults(t *testing.T) int64 {
	t.Helper()
	var usage syscall.Rusage
	demand.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return usage.Minflt
}

// Repeated runs of a program reuse its memory pages. By default each run would clear all of them again; on a busy
// machine XLA's threads change, and some runs take new ones.
func TestMemoryIsKept(t *testing.T) {
	if slices.ContainsFunc(os.Environ(), setsMalloc) {
		t.Skip("the environment configures malloc")
	}
	b := open(t, XLACPU)
	const values, times = 33 << 18, 20 // 33 MiB: glibc's default returns arrays above 32 MiB
	fill, err := graph.NewExec(b.Backend, func(x *graph.Node) *graph.Node {
		return graph.AddScalar(graph.BroadcastToDims(x, values), 1)
	})
	demand.NoError(t, err)
	defer fill.Finalize()
	one := tensors.FromScalar(float32(1))
	run := func() {
		out, err := fill.Call(one)
		demand.NoError(t, err)
		out[0].MustFinalizeAll()
	}
	for range times {
		run()
	}
	pages := values * dtypes.Float32.Size() / os.Getpagesize()
	var got int64
	for range 10 {
		before := faults(t)
		for range times {
			run()
		}
		if got = faults(t) - before; got < int64(times*pages)*9/10 {
			return
		}
	}
	t.Errorf("%d page faults in %d runs of %d pages each, want fewer than nine tenths of them", got, times, pages)
}

// xlaThreads returns the number of this process's threads that run XLA's programs.
func xlaThreads(t *testing.T) (n int) {
	t.Helper()
	names, err := filepath.Glob("/proc/self/task/*/comm")
	if err != nil || len(names) == 0 {
		t.Fatalf("%d threads, %v", len(names), err)
	}
	for _, path := range names {
		if name, _ := os.ReadFile(path); strings.HasPrefix(string(name), "tf_XLAEigen") {
			n++
		}
	}
	return n
}

// TestThreads: a client has as many threads as it was asked for, by default one for each processor but at least four;
// programs that this one starts do not see the variable that this takes.
func TestThreads(t *testing.T) {
	b := open(t, XLACPU)
	defer b.Finalize()
	byDefault := defaultThreads(os.Getenv(processorsEnv))
	for _, c := range []struct{ ask, get int }{{1, 1}, {3, 3}, {0, byDefault}} {
		before := xlaThreads(t)
		client, err := b.NewClient(c.ask)
		demand.NoError(t, err)
		demand.Equal(t, xlaThreads(t)-before, c.get, "threads that NewClient(%d) starts", c.ask)
		client.Finalize()
	}
	for named, want := range map[string]int{"": max(4, runtime.NumCPU()), "9": 9, "1": 4, "many": max(4, runtime.NumCPU())} {
		demand.Equal(t, defaultThreads(named), want, "with %s=%q", processorsEnv, named)
	}
	out, err := exec.Command("env").Output()
	if _, named := os.LookupEnv(processorsEnv); err != nil || !named && strings.Contains(string(out), processorsEnv) {
		t.Errorf("a program that is started sees %s (%v):\n%s", processorsEnv, err, out)
	}
}
