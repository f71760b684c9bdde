//go:build !noxla

package backend

import (
	"os"
	"slices"
	"syscall"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// faults returns the number of minor page faults of this process so far.
func faults(t *testing.T) int64 {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	defer fill.Finalize()
	one := tensors.FromScalar(float32(1))
	run := func() {
		out, err := fill.Call(one)
		if err != nil {
			t.Fatal(err)
		}
		out[0].MustFinalizeAll()
	}
	for range times {
		run()
	}
	pages := values * dtypes.Float32.Size() / os.Getpagesize()
	var got int64
	for range 3 {
		before := faults(t)
		for range times {
			run()
		}
		if got = faults(t) - before; got < int64(times*pages)*3/4 {
			return
		}
	}
	t.Errorf("%d page faults in %d runs of %d pages each, want fewer than three quarters of them", got, times, pages)
}
