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

// faults counts the pages that the system has given to this process so far.
func faults(t *testing.T) int64 {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return usage.Minflt
}

// Programs that run again and again use the same pages again.
func TestMemoryIsKept(t *testing.T) {
	if slices.ContainsFunc(os.Environ(), setsMemory) {
		t.Skip("the C library's memory is set from outside")
	}
	b := open(t, XLACPU)
	const values, times = 33 << 18, 20 // 33 MiB: glibc by itself gives back what is larger than 32
	fill, err := graph.NewExec(b.Backend, func(x *graph.Node) *graph.Node {
		return graph.AddScalar(graph.BroadcastToDims(x, values), 1)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer fill.Finalize()
	one := tensors.FromScalar(float32(1))
	run := func() {
		out, err := fill.Exec(one)
		if err != nil {
			t.Fatal(err)
		}
		out[0].MustFinalizeAll()
	}
	for range times {
		run()
	}
	before := faults(t)
	for range times {
		run()
	}
	pages := values * dtypes.Float32.Size() / os.Getpagesize()
	if got := faults(t) - before; got > int64(times*pages/2) {
		t.Errorf("%d page faults in %d runs of %d pages each, want fewer than half of them", got, times, pages)
	}
}
