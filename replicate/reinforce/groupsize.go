package reinforce

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"tvps/data/artifact"
	"tvps/replicate/experiment"
	"tvps/replicate/runs"

	"golang.org/x/sync/errgroup"
)

// Which number of batched seeds is fastest depends on machine, backend and the size of the networks. It is measured
// once, and the cache keeps the measurements for all later runs.

// groupSizes are those that are measured.
var groupSizes = []int{1, 2, 3, 5, 10}

// throughputEpisode limits the steps of an episode while throughput is measured.
const throughputEpisode = 20

// throughput is the measured number of environment steps with updates per second, summed over the seeds of all parallel
// programs, for a given number of batched seeds.
type throughput struct {
	Seeds  int     `json:"seeds"`
	PerSec float64 `json:"steps_per_second"`
}

// measurements are those of networks of one size, with what they were measured for.
type measurements struct {
	For        map[string]string `json:"for"`
	Throughput []throughput      `json:"paces"`
	Sum        string            `json:"sha256"` // of the other fields
}

// sum returns the checksum of what was measured.
func (m measurements) sum() string {
	m.Sum = ""
	text, _ := json.Marshal(m) // numbers are finite
	return fmt.Sprintf("%x", sha256.Sum256(text))
}

// candidates lists the group sizes that divide n seeds without leaving a group of one, plus size 1. XLA rounds a single
// agent differently from batched ones: with a group of one among larger ones, numbers would depend on a measurement of
// speed.
func candidates(n int) []int {
	return slices.DeleteFunc(slices.Clone(groupSizes), func(k int) bool {
		return k > 1 && (k > n || slices.Contains(runs.GroupSizes(n, k), 1))
	})
}

// groupSize returns the largest number of batched seeds: Settings.Stack, or if that is 0 the one with which n seeds
// take the least time. It measures what is not in the cache, with as many parallel programs as the host has workers,
// which takes half a minute, and reports it on the host's log.
func (e config) groupSize(ctx context.Context, n int) (int, error) {
	if e.settings.Stack > 0 {
		return e.settings.Stack, nil
	}
	known := e.readThroughput()
	for _, k := range candidates(n) {
		if known.has(k) {
			continue
		}
		perSec, err := e.measure(ctx, k)
		if err != nil {
			return 0, fmt.Errorf("cannot measure the fastest number of batched seeds: %w", err)
		}
		known.Throughput = append(known.Throughput, throughput{k, perSec})
		if e.host.Log != nil {
			fmt.Fprintf(e.host.Log, "%s/%s: throughput of %d batched seeds on this machine: %.0f steps per second\n",
				e.scenario.Name, e.learner.plain().Name, k, perSec)
		}
		if err := e.writeThroughput(known); err != nil {
			return 0, err
		}
	}
	return known.fastest(n), nil
}

// fastest returns the measured candidate with which a step of n seeds takes the least time, the smaller one if two are
// equally fast.
func (m measurements) fastest(n int) int {
	best, least := 1, math.Inf(1)
	for _, k := range candidates(n) {
		if seconds := m.seconds(n, k); m.has(k) && seconds < least {
			best, least = k, seconds
		}
	}
	return best
}

// has tells whether k batched seeds were measured.
func (m measurements) has(k int) bool {
	return slices.ContainsFunc(m.Throughput, func(p throughput) bool { return p.Seeds == k })
}

// seconds is the time of a step of n seeds in groups of at most k.
func (m measurements) seconds(n, k int) float64 {
	sum := 0.
	for _, size := range runs.GroupSizes(n, k) {
		sum += float64(size) / m.perSec(size)
	}
	return sum
}

// perSec is the throughput of the largest measured number of seeds up to k; infinite if there is none.
func (m measurements) perSec(k int) float64 {
	nearest := throughput{PerSec: math.Inf(1)}
	for _, other := range m.Throughput {
		if other.Seeds <= k && other.Seeds >= nearest.Seeds {
			nearest = other
		}
	}
	return nearest.PerSec
}

// measure trains k seeds in each of the parallel programs for a moment and returns the throughput.
func (e config) measure(ctx context.Context, k int) (perSec float64, err error) {
	e.settings.Horizon = min(e.settings.Horizon, throughputEpisode)
	e.settings.BurnIn = e.settings.Horizon
	e.learner = e.learner.plain()
	seeds := make([]int64, k)
	for i := range seeds {
		seeds[i] = int64(i)
	}
	trainings := make([]*training, max(e.host.Workers, 1))
	for i := range trainings {
		t, stop, err := e.training(ctx, seeds)
		if err != nil {
			return 0, err
		}
		defer stop()
		if err := t.restart(); err != nil {
			return 0, err
		}
		trainings[i] = t
	}
	for range 2 { // one episode without updates, and one that compiles
		if _, err := parallel(trainings, func(t *training) (int, error) { return 0, t.next(ctx) }); err != nil {
			return 0, err
		}
	}
	begin, duration := time.Now(), timingOf(e.host).throughput
	steps, err := parallel(trainings, func(t *training) (steps int, err error) {
		for {
			if err := t.next(ctx); err != nil {
				return steps, err
			}
			if steps += e.settings.Horizon * k; time.Since(begin) >= duration {
				return steps, nil
			}
		}
	})
	return float64(steps) / time.Since(begin).Seconds(), err
}

// next trains one more episode, unless ctx is cancelled.
func (t *training) next(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return t.train()
}

// parallel calls do for all trainings at once and returns the sum of what it counts.
func parallel(trainings []*training, do func(t *training) (int, error)) (sum int, err error) {
	var group errgroup.Group
	var mu sync.Mutex
	for _, t := range trainings {
		group.Go(func() error {
			n, err := do(t)
			mu.Lock()
			defer mu.Unlock()
			sum += n
			return err
		})
	}
	err = group.Wait()
	return sum, err
}

// throughputFile returns the path of the measurements, and everything on which they can depend.
func (e config) throughputFile() (path string, key map[string]string) {
	s, name := e.settings, e.learner.plain().Name
	key = e.host.Backend.Info.Identity()
	maps.Copy(key, map[string]string{
		"scenario": s.Scenario, "learner": name, "network": fmt.Sprintf("%d layers of %d", s.Layers, s.Hidden),
		"batch": fmt.Sprint(s.Batch), "update-every": fmt.Sprint(s.UpdateEvery),
		"threads": fmt.Sprint(s.Threads),
		"device":  e.host.Backend.Info.Device, "cpus": fmt.Sprint(runtime.NumCPU()),
	})
	if e.learner.Context {
		key["context"] = fmt.Sprintf("%d units, %d steps", s.ContextHidden, s.History)
	}
	id := runs.Spec{Experiment: s.Scenario, Learner: name, Settings: key}.ID()
	return filepath.Join(e.host.CacheDir, "stacks", id+".json"), key
}

// longestMeasurements is the longest file of measurements that is read, in bytes.
const longestMeasurements = 1 << 20

// readThroughput reads the cached measurements. It returns none if the file is missing, too long or does not match its
// checksum.
func (e config) readThroughput() measurements {
	path, key := e.throughputFile()
	var out measurements
	text, err := artifact.ReadFile(path, longestMeasurements)
	if err != nil || json.Unmarshal(text, &out) != nil || out.Sum != out.sum() {
		out = measurements{}
	}
	out.For = key
	return out
}

// writeThroughput writes the measurements to the cache.
func (e config) writeThroughput(m measurements) error {
	path, _ := e.throughputFile()
	m.Sum = m.sum()
	text, err := json.MarshalIndent(m, "", "  ")
	if err == nil {
		err = artifact.MakeFolder(filepath.Dir(path))
	}
	if err == nil {
		err = artifact.Replace(path, append(text, '\n'), 0o644)
	}
	if err != nil {
		return &experiment.AvoidableError{Setting: "stack",
			Err: fmt.Errorf("cannot cache the fastest number of batched seeds (%w): make the cache writable", err)}
	}
	return nil
}
