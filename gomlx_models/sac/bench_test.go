package sac

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"tvps/data/random"
	"tvps/gomlx_models/backend/backendtest"
	"tvps/gomlx_models/net"
)

// cheetah is an agent of Half-Cheetah's sizes; its replay holds the given number of
// transitions, in episodes of 50.
func cheetah(tb testing.TB, seeds, transitions int, change func(c *Config)) *Agent {
	tb.Helper()
	cfg := DefaultConfig(17, 6)
	if change != nil {
		change(&cfg)
	}
	list := make([]int64, seeds)
	for i := range list {
		list[i] = int64(i)
	}
	a, err := New(backendtest.Open(tb, "").Backend, cfg, list)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(a.Close)
	fill(tb, a, transitions, 50)
	return a
}

// fill observes random transitions.
func fill(tb testing.TB, a *Agent, transitions, length int) {
	tb.Helper()
	from := a.Observed()
	for k := from; k < from+transitions; k++ {
		if err := a.Observe(randomTransitions(a, k, length)); err != nil {
			tb.Fatal(err)
		}
	}
}

// randomTransitions is transition number k of each seed, in episodes of the given length.
func randomTransitions(a *Agent, k, length int) []Transition {
	var ts []Transition
	for _, seed := range a.seeds {
		rng := random.New(seed, "sac test transition", k)
		values := func(n int) []float32 {
			v := make([]float32, n)
			for i := range v {
				v[i] = float32(rng.NormFloat64())
			}
			return v
		}
		ts = append(ts, Transition{Observation: values(a.cfg.Observations), Action: values(a.cfg.Actions),
			Reward: values(1)[0], Next: values(a.cfg.Observations), Last: k%length == length-1, Episode: k / length})
	}
	return ts
}

func withContext(c *Config) { c.Context = DefaultContext() }
func withOmega(c *Config)   { c.Omega = DefaultOmega() }

// processorTime is that of this process so far, of all threads.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkUpdate times an update; updates/s is the sum over seeds. cpu-ms is the processor time of an update of all
// seeds, which other work on the machine changes less than the elapsed time, and threads the processors in use.
func BenchmarkUpdate(b *testing.B) {
	for _, v := range []struct {
		name   string
		change func(*Config)
	}{{"sac", nil}, {"sac-omega", withOmega}, {"sac-context", withContext}} {
		for _, seeds := range []int{1, 2, 3, 5} {
			b.Run(fmt.Sprintf("%s/seeds=%d", v.name, seeds), func(b *testing.B) {
				a := cheetah(b, seeds, 1000, v.change)
				update(b, a)
				before := processorTime(b)
				for b.Loop() {
					update(b, a)
				}
				cpu := (processorTime(b) - before).Seconds()
				b.ReportMetric(float64(b.N*seeds)/b.Elapsed().Seconds(), "updates/s")
				b.ReportMetric(1e3*cpu/float64(b.N), "cpu-ms")
				b.ReportMetric(cpu/b.Elapsed().Seconds(), "threads")
			})
		}
	}
}

func update(tb testing.TB, a *Agent) *Metrics {
	tb.Helper()
	m, err := a.Update()
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// BenchmarkAct times one action of each seed.
func BenchmarkAct(b *testing.B) {
	for name, change := range map[string]func(*Config){"sac": nil, "sac-context": withContext} {
		for _, seeds := range []int{1, 5} {
			b.Run(fmt.Sprintf("%s/seeds=%d", name, seeds), func(b *testing.B) {
				a := cheetah(b, seeds, 60, change)
				observations := make([][]float32, seeds)
				for i := range observations {
					observations[i] = make([]float32, a.cfg.Observations)
				}
				for b.Loop() {
					if _, err := a.Act(observations, Sample); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkFitOmega times one fit of g: M updates.
func BenchmarkFitOmega(b *testing.B) {
	for _, seeds := range []int{1, 3} {
		b.Run(fmt.Sprintf("seeds=%d", seeds), func(b *testing.B) {
			a := cheetah(b, seeds, 1000, withOmega)
			for b.Loop() {
				if err := a.FitOmega(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkReplay times an insertion, the drawing of a minibatch with and without windows,
// and the program that gathers both. An insertion should take as long with a million rows as
// with ten thousand; gathering differs by cache misses alone. "apart" is the replay of a
// device with its own memory, where an insertion copies the array.
func BenchmarkReplay(b *testing.B) {
	for _, capacity := range []int{1e4, 1e6} {
		for _, kind := range []string{"shared", "apart"} {
			a := cheetah(b, 1, 0, func(c *Config) { c.Capacity, c.Context = capacity, DefaultContext() })
			if kind == "apart" {
				copied(b, a)
			}
			insert := inserting(b, a)
			if kind == "shared" {
				for range capacity {
					insert()
				}
			}
			b.Run(fmt.Sprintf("insert %s/capacity=%d", kind, capacity), func(b *testing.B) {
				for b.Loop() {
					insert()
					if _, err := a.array.current(); err != nil {
						b.Fatal(err)
					}
				}
			})
			if kind == "shared" {
				benchmarkDraw(b, a)
			}
		}
	}
}

// inserting returns a function that inserts one more transition, always with the same values.
func inserting(b *testing.B, a *Agent) func() {
	ts := randomTransitions(a, 0, 50)
	k := 0
	return func() {
		ts[0].Episode, ts[0].Last = k/50, k%50 == 49
		if err := a.Observe(ts); err != nil {
			b.Fatal(err)
		}
		k++
	}
}

func benchmarkDraw(b *testing.B, a *Agent) {
	for name, context := range map[string]*Context{"rows": nil, "windows": DefaultContext()} {
		b.Run(fmt.Sprintf("draw %s/capacity=%d", name, a.cfg.Capacity), func(b *testing.B) {
			a.cfg.Context = context
			for b.Loop() {
				rows, window, noise, _ := a.draw()
				net.Free(append(window, rows, noise)...)
				a.updates++
			}
		})
	}
	a.cfg.Context = DefaultContext()
	exec := gathering(b, a)
	b.Run(fmt.Sprintf("gather/capacity=%d", a.cfg.Capacity), func(b *testing.B) {
		for b.Loop() {
			rows, window, noise, _ := a.draw()
			out, err := net.Run(exec, a.array.tensor, rows, window)
			if err != nil {
				b.Fatal(err)
			}
			net.Free(append(append(window, out...), rows, noise)...)
			a.updates++
		}
	})
}
