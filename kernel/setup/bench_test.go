package setup

import (
	"fmt"
	"testing"

	"tvps/kernel/jupyter"
	"tvps/replicate/paper"
)

// benchmarkCell measures the first cell of a new kernel, without the kernel's start. A cell before the measurement
// fills Go's build cache, as `kernel install` does.
func benchmarkCell(b *testing.B, code, want string) {
	l, err := realKernel(b)
	if err != nil {
		b.Skipf("the kernel cannot be built here: %v", err)
	}
	spec, err := readSpec(l)
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	run := func() {
		b.StopTimer()
		kernel, err := jupyter.Start(b.Context(), spec, jupyter.Options{Dir: dir})
		if err != nil {
			b.Fatal(err)
		}
		defer kernel.Close()
		b.StartTimer()
		got, err := runCell(b.Context(), kernel, code)
		b.StopTimer()
		if got != want || err != nil {
			b.Fatalf("the cell printed %q, %v", got, err)
		}
	}
	run()
	b.ResetTimer()
	for range b.N {
		run()
	}
}

func BenchmarkTrivialCell(b *testing.B) { benchmarkCell(b, "%%\nfmt.Println(1+1)", "2\n") }

// BenchmarkFirstCell imports what the notebooks import, as their first cells do.
func BenchmarkFirstCell(b *testing.B) {
	benchmarkCell(b, trip, fmt.Sprintln("figures:", len(paper.Figures())))
}
