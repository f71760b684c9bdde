package sac

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"tvps/data/random"
	"tvps/gomlx_models/backend/backendtest"
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
	return randomStep(a, k, Transition{Episode: k / length, Last: k%length == length-1})
}

// randomStep is transition number k of each seed, in the place of the given one. The observation in which an episode
// ends is not that in which the next one begins.
func randomStep(a *Agent, k int, place Transition) []Transition {
	var ts []Transition
	for _, seed := range a.seeds {
		values := func(n int, what string, k int) []float64 {
			rng, v := random.New(seed, "sac test", what, k), make([]float64, n)
			for i := range v {
				v[i] = float64(float32(rng.NormFloat64()))
			}
			return v
		}
		t, n := place, a.cfg.Observations
		t.Observation, t.Action, t.Reward = values(n, "observation", k), values(a.cfg.Actions, "action", k), values(1, "reward", k)[0]
		t.Next = values(n, "observation", k+1)
		if t.Last || t.Terminal {
			t.Next = values(n, "end", k)
		}
		ts = append(ts, t)
	}
	return ts
}

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
	}{
		{"sac", nil},
		{"sac-omega", func(c *Config) { c.Omega = DefaultOmega() }},
		{"sac-context", func(c *Config) { c.Context = DefaultContext() }},
	} {
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
