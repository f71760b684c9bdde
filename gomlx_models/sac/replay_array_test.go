package sac

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"testing"

	"tvps/gomlx_models/backend"
)

// copied puts an empty agent's replay where the host cannot write it, as on a GPU.
func copied(tb testing.TB, a *Agent) *Agent {
	tb.Helper()
	s, err := newReplayArray(a.backend, a.cfg, len(a.seeds), false)
	if err != nil {
		tb.Fatal(err)
	}
	a.array.close()
	a.array = s
	return a
}

// stored is the row of transition number i of a seed.
func stored(tb testing.TB, a *Agent, seed, i int) (row []float32) {
	tb.Helper()
	w := a.cfg.stepWidth()
	err := a.array.read(func(flat []float32) error {
		row = slices.Clone(flat[int(a.index[seed].row(i))*w:][:w])
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return row
}

// TestCopiedReplayTrainsLikeTheSharedOne compares variables, omega's networks and
// checkpoints, with rings whose rows are overwritten just after programs have read them.
func TestCopiedReplayTrainsLikeTheSharedOne(t *testing.T) {
	cfg := tiny(tinyOmega, func(c *Config) { c.Capacity, c.Omega.Every = 17, 2 })
	shared, apart := open(t, "", cfg, 3, 4), copied(t, open(t, "", cfg, 3, 4))
	train := func(counts ...int) {
		for _, count := range counts {
			for _, a := range []*Agent{shared, apart} {
				fill(t, a, count, 7)
				update(t, a)
			}
			same(t, "variables", flat(t, apart.state), flat(t, shared.state))
			same(t, "g", flat(t, apart.g), flat(t, shared.g))
		}
	}
	train(1, 17, 3, 40)
	if shared.gUpdates == 0 {
		t.Error("omega was never fitted")
	}
	fill(t, shared, 5, 7)
	fill(t, apart, 5, 7) // they are pending while the checkpoint is written
	data := saved(t, apart)
	if !bytes.Equal(data, saved(t, shared)) {
		t.Error("the checkpoints differ")
	}
	fill(t, apart, 9, 7) // and these while it is read
	if err := load(apart, data); err != nil {
		t.Fatal(err)
	}
	if apart.array.shared != nil {
		t.Error("a checkpoint moved the replay into shared memory")
	}
	train(3)
}

// TestRowsAreWrittenInPlace: programs read the memory that Observe writes, before and after
// updates. The operating system allocates only the pages that are written. (With Go's own
// allocator it depends on the free memory that the process has.)
func TestRowsAreWrittenInPlace(t *testing.T) {
	for name, large := range map[string]bool{backend.Go: false, backend.Default: true} {
		cfg := tiny()
		if large {
			cfg.Capacity = 2e7
		}
		before := residentBytes()
		a := open(t, name, cfg, 3)
		array := a.array.tensor
		for k := range 3 {
			fill(t, a, 20, 6)
			update(t, a)
			now, err := a.array.current()
			if err != nil || now != array {
				t.Fatalf("%q: another array after update %d (%v)", name, k, err)
			}
			buffer, err := array.Buffer(a.backend, 0)
			if err != nil {
				t.Fatal(err)
			}
			memory, err := buffer.Data()
			if err != nil || &memory.([]float32)[0] != &a.array.shared[0] {
				t.Fatalf("%q: the device has its own memory (%v)", name, err)
			}
		}
		size := int(a.array.shape().ByteSize())
		if grown := residentBytes() - before; large && grown > size/4 {
			t.Errorf("%q: %d MB for 60 transitions of an array of %d MB", name, grown>>20, size>>20)
		}
	}
}

// residentBytes is the resident memory of this process, 0 if the system does not report it.
func residentBytes() int {
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var all, resident int
	if _, err := fmt.Sscan(string(data), &all, &resident); err != nil {
		return 0
	}
	return resident * os.Getpagesize()
}
