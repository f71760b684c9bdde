package sac

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tvps/gomlx_models/backend"
	"tvps/gomlx_models/net"
)

// copied puts an empty agent's replay where the host cannot write it, as on a GPU.
func copied(tb testing.TB, a *Agent) *Agent {
	tb.Helper()
	s, err := newStore(a.backend, a.cfg, len(a.seeds), false)
	if err != nil {
		tb.Fatal(err)
	}
	a.store.close()
	a.store = s
	return a
}

// stored is the row of transition number i of a seed.
func stored(tb testing.TB, a *Agent, seed, i int) []float32 {
	tb.Helper()
	w := a.cfg.rowWidth()
	return contents(tb, a)[int(a.replay[seed].row(i))*w:][:w]
}

// contents is the whole array.
func contents(tb testing.TB, a *Agent) (out []float32) {
	tb.Helper()
	if err := a.store.read(func(flat []float32) error { out = slices.Clone(flat); return nil }); err != nil {
		tb.Fatal(err)
	}
	return out
}

// TestCopiedReplayIsTheSharedOne: an agent whose transitions wait on the host and are
// written by a program has the array, the networks and the checkpoint of one that writes
// them in place, bit for bit: after single transitions and many without an update, beyond
// a block and beyond the ring, whose rows are overwritten right after programs read them.
func TestCopiedReplayIsTheSharedOne(t *testing.T) {
	for _, capacity := range []int{17, blockRows + 40} {
		cfg := tiny(tinyContext, tinyOmega, func(c *Config) { c.Capacity = capacity })
		shared, apart := open(t, "", cfg, 3, 4), copied(t, open(t, "", cfg, 3, 4))
		for _, count := range []int{1, 1, 20, 17, 3, blockRows - 1, blockRows, 2*blockRows + 9, 1, 2} {
			for _, a := range []*Agent{shared, apart} {
				fill(t, a, count, 7)
				if waiting := len(a.store.waiting) / (2 * cfg.rowWidth()); waiting > blockRows {
					t.Fatalf("%d transitions wait", waiting)
				}
				update(t, a)
			}
			if !slices.Equal(contents(t, shared), contents(t, apart)) {
				t.Fatalf("capacity %d: after %d transitions the arrays differ", capacity, shared.Observed())
			}
			same(t, "variables", flat(t, apart.state), flat(t, shared.state))
			same(t, "g", flat(t, apart.g), flat(t, shared.g))
		}
		fill(t, shared, 5, 7)
		fill(t, apart, 5, 7) // they wait while the checkpoint is written
		data := saved(t, apart)
		if !bytes.Equal(data, saved(t, shared)) {
			t.Error("the checkpoints differ")
		}
		other := copied(t, open(t, "", cfg, 3, 4))
		fill(t, other, 2, 7)
		if err := other.Load(bytes.NewReader(data)); err != nil {
			t.Fatal(err)
		}
		if other.store.shared != nil {
			t.Error("a checkpoint moved the replay into shared memory")
		}
		for _, a := range []*Agent{shared, other} {
			fill(t, a, 3, 7)
			update(t, a)
		}
		same(t, "variables after a checkpoint", flat(t, other.state), flat(t, shared.state))
	}
}

// TestRowsAreWrittenInPlace: the array that programs read is the memory that Observe
// writes, before and after updates.
func TestRowsAreWrittenInPlace(t *testing.T) {
	for _, name := range []string{backend.Go, backend.Default} {
		a := open(t, name, tiny(tinyContext, tinyOmega), 3, 4)
		array := a.store.array
		for k := range 3 {
			fill(t, a, 20, 6)
			update(t, a)
			now, err := a.store.current()
			if err != nil || now != array {
				t.Fatalf("%q: another array after update %d (%v)", name, k, err)
			}
			buffer, err := array.Buffer(a.backend, 0)
			if err != nil {
				t.Fatal(err)
			}
			memory, err := buffer.Data()
			if err != nil || &memory.([]float32)[0] != &a.store.shared[0] {
				t.Fatalf("%q: the device has memory of its own (%v)", name, err)
			}
		}
	}
}

// TestEmptyReplayTakesNoMemory looks at the pages that the system has given: a replay
// that is never filled must not be paid for.
func TestEmptyReplayTakesNoMemory(t *testing.T) {
	for _, name := range []string{backend.Go, backend.Default} {
		before := residentBytes(t)
		a := open(t, name, tiny(func(c *Config) { c.Capacity = 2e7 }), 3)
		fill(t, a, 50, 7)
		update(t, a)
		size := int(a.store.shape().ByteSize())
		if grown := residentBytes(t) - before; grown > size/4 {
			t.Errorf("%q: %d MB for 50 transitions of an array of %d MB", name, grown>>20, size>>20)
		}
		net.Free(a.store.array)
	}
}

// residentBytes is how much memory this process has.
func residentBytes(t *testing.T) int {
	t.Helper()
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip("this system does not tell how much memory a process has")
	}
	pages, err := strconv.Atoi(strings.Fields(string(data))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}
