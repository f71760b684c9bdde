package reinforce

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"tvps/replicate/runs"

	"github.com/google/renameio/v2"
	"golang.org/x/sync/errgroup"
)

// Several seeds train in one compiled program. How many are fastest depends on machine,
// backend and the size of the networks: MeasureStack finds it once, and its answer is kept
// in the cache for all later runs.

// stacks are the numbers of seeds that are tried, and unmeasured is how many train together
// where nothing is known.
var stacks = []int{1, 2, 3, 5, 10}

const (
	unmeasured    = 3
	stackEpisode  = 20              // at most so many steps an episode while it is measured
	stackDuration = 2 * time.Second // of a measurement, once all is compiled
)

// pace is a measurement: with so many seeds in a program, how many steps with updates all
// programs that run side by side make in a second, those of every seed counted.
type pace struct {
	Seeds  int     `json:"seeds"`
	PerSec float64 `json:"steps_per_second"`
}

// paces is what is kept, with what it was measured for.
type paces struct {
	For   map[string]string `json:"for"`
	Paces []pace            `json:"paces"`
}

// shares splits n seeds into groups of at most k, as even as can be.
func shares(n, k int) []int {
	groups := (n + k - 1) / k
	sizes := make([]int, groups)
	for i := range sizes {
		sizes[i] = (i+1)*n/groups - i*n/groups
	}
	return sizes
}

// candidates are the stacks that n seeds allow: all seeds alone, or none of them. XLA rounds
// one agent otherwise than two or more, so the numbers of one that is left alone beside groups
// would hang on a measurement of speed.
func candidates(n int) []int {
	return slices.DeleteFunc(slices.Clone(stacks), func(k int) bool { return k > 1 && (k > n || slices.Contains(shares(n, k), 1)) })
}

// stack is how many of n seeds train together: what the settings say, or where they say 0
// the number with which all n take the least time by what was measured.
func (e *Env) stack(s Settings, name string, n int) int {
	if s.Stack > 0 {
		return s.Stack
	}
	best, least, known := unmeasured, math.Inf(1), e.readPaces(s, name)
	for _, k := range candidates(n) {
		measured := slices.ContainsFunc(known.Paces, func(p pace) bool { return p.Seeds == k })
		if seconds := known.seconds(n, k); measured && seconds < least {
			best, least = k, seconds
		}
	}
	return best
}

// seconds is how long a step of n seeds takes in groups of k.
func (p paces) seconds(n, k int) float64 {
	sum := 0.
	for _, size := range shares(n, k) {
		sum += float64(size) / p.perSec(size)
	}
	return sum
}

// perSec is the pace of the largest measured number up to k; infinite where there is none.
func (p paces) perSec(k int) float64 {
	near := pace{PerSec: math.Inf(1)}
	for _, other := range p.Paces {
		if other.Seeds <= k && other.Seeds >= near.Seeds {
			near = other
		}
	}
	return near.PerSec
}

// MeasureStack measures how many seeds train fastest together on this machine, where the
// settings leave it open and it is not yet known: for every one of the series, with as
// many programs side by side as there are workers. It takes half a minute, and tells on
// Env.Log what it found. Jobs that are asked for afterwards are grouped so.
func MeasureStack(ctx context.Context, e *Env, s Settings, series []string, seeds, workers int) error {
	if s.Stack > 0 {
		return nil
	}
	for _, name := range series {
		known := e.readPaces(s, name)
		for _, k := range candidates(seeds) {
			if slices.ContainsFunc(known.Paces, func(p pace) bool { return p.Seeds == k }) {
				continue
			}
			perSec, err := e.measure(ctx, s, name, k, max(workers, 1))
			if err != nil {
				return fmt.Errorf("measuring how many seeds train fastest together: %w", err)
			}
			known.Paces = append(known.Paces, pace{k, perSec})
			if e.Log != nil {
				fmt.Fprintf(e.Log, "%s/%s: %d together make %.0f steps a second on this machine\n", s.Scenario, shapeName(name), k, perSec)
			}
			if err := e.keepPaces(s, name, known); err != nil {
				return err
			}
		}
	}
	return nil
}

// measure trains k seeds in each of so many programs, for a moment.
func (e *Env) measure(ctx context.Context, s Settings, name string, k, workers int) (perSec float64, err error) {
	s.Horizon = min(s.Horizon, stackEpisode)
	s.BurnIn = s.Horizon
	seeds := make([]int64, k)
	for i := range seeds {
		seeds[i] = int64(i)
	}
	trainings := make([]*training, workers)
	for i := range trainings {
		t, stop, err := e.training(ctx, s, shapeName(name), seeds)
		if err != nil {
			return 0, err
		}
		defer stop()
		if err := t.renew(); err != nil {
			return 0, err
		}
		trainings[i] = t
	}
	for range 2 { // one episode without updates, and one that compiles
		if _, err := together(trainings, func(t *training) (int, error) { return 0, t.next(ctx) }); err != nil {
			return 0, err
		}
	}
	begin := time.Now()
	steps, err := together(trainings, func(t *training) (steps int, err error) {
		for {
			if err := t.next(ctx); err != nil {
				return steps, err
			}
			if steps += s.Horizon * k; time.Since(begin) >= cmp.Or(e.moment, stackDuration) {
				return steps, nil
			}
		}
	})
	return float64(steps) / time.Since(begin).Seconds(), err
}

// next is one more episode, unless ctx has ended.
func (t *training) next(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return t.train()
}

// together calls do for all trainings side by side and adds up what it counts.
func together(trainings []*training, do func(t *training) (int, error)) (sum int, err error) {
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

// shapeName is the learner that is measured in place of another: omega is a small part of
// its time.
func shapeName(name string) string {
	if learners[name].context {
		return "sac-context"
	}
	return "sac"
}

// stackKey is everything on which the fastest stack can depend.
func (e *Env) stackKey(s Settings, name string) map[string]string {
	key := e.Backend.Info.Identity()
	maps.Copy(key, map[string]string{"scenario": s.Scenario, "learner": shapeName(name), "network": fmt.Sprintf("%d layers of %d", s.Layers, s.Hidden),
		"batch": fmt.Sprint(s.Batch), "update-every": fmt.Sprint(s.UpdateEvery), "device": e.Backend.Info.Device, "cpus": fmt.Sprint(runtime.NumCPU())})
	if learners[name].context {
		key["context"] = fmt.Sprintf("%d units, %d steps", s.ContextHidden, s.History)
	}
	return key
}

func (e *Env) stackFile(s Settings, name string) (string, map[string]string) {
	key := e.stackKey(s, name)
	id := runs.Spec{Experiment: s.Scenario, Learner: shapeName(name), Settings: key}.ID()
	return filepath.Join(e.CacheDir, "stacks", id+".json"), key
}

// readPaces reads what is kept; nothing where there is none, or it makes no sense.
func (e *Env) readPaces(s Settings, name string) paces {
	file, key := e.stackFile(s, name)
	out := paces{}
	if text, err := os.ReadFile(file); err != nil || json.Unmarshal(text, &out) != nil {
		out = paces{}
	}
	out.Paces = slices.DeleteFunc(out.Paces, func(p pace) bool { return p.Seeds < 1 || p.PerSec <= 0 })
	out.For = key
	return out
}

func (e *Env) keepPaces(s Settings, name string, p paces) error {
	file, _ := e.stackFile(s, name)
	text, err := json.MarshalIndent(p, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o755)
	}
	if err == nil {
		err = renameio.WriteFile(file, append(text, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("how many seeds train fastest together cannot be kept (%w): make the cache writable, or give the number with --set stack=N", err)
	}
	return nil
}
