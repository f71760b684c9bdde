package robots

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/data/artifact"
	"tvps/data/env"
	"tvps/gomlx_models/backend"
	"tvps/gomlx_models/sac"
	"tvps/replicate/experiment"
	"tvps/replicate/runs"
)

// value is the value of a metric at a step.
func value(t *testing.T, rows []runs.Row, metric string, at int) float64 {
	t.Helper()
	for _, r := range ofMetric(rows, metric) {
		if r.T == at {
			return r.Value
		}
	}
	t.Fatalf("no %s at %d in %v", metric, at, rows)
	return 0
}

// The rows of an evaluation are means of made-up episodes, computed by hand.
func TestReport(t *testing.T) {
	e := config{scenario: Scenario{Success: true}, settings: miniature()}
	tasks := []start{{"a", 0, 0}, {"a", 1, 0}, {"b", 2, 0}, {"b", 3, 0}, {trial: -1, episode: 8}}
	got := e.report(8, tasks, []outcome{{1, true}, {3, false}, {10, true}, {20, true}, {-5, false}})
	want := []runs.Row{{T: 8, Metric: "return", Value: 8.5}, {T: 8, Metric: "return-next", Value: -5},
		{T: 8, Metric: "return-a", Value: 2}, {T: 8, Metric: "return-b", Value: 15}, {T: 8, Metric: "success", Value: .75}}
	demand.List(t, got, want, "rows")
	coming := []start{{trial: -1, episode: 8}, {trial: -1, episode: 9}}
	got = e.report(8, coming, []outcome{{-5, true}, {-3, false}})
	want = []runs.Row{{T: 8, Metric: "return", Value: -4}, {T: 8, Metric: "return-next", Value: -5},
		{T: 8, Metric: "success", Value: .5}}
	demand.List(t, got, want, "rows")
}

// Doing nothing and an agent's evaluation of the coming episodes: a cart at rest at x earns -5 (x - place)^2.
func TestReferenceRuns(t *testing.T) {
	h, s := carts(t), miniature()
	s.Episodes = 8
	rows := run(t, h, open(t), s, "nothing", 0, 1)
	for place := range 3 {
		far, near := float64(place)-1, float64(place)-1.1
		want := -5 * (far*far + near*near) / 2
		for _, at := range []int{4, 8} {
			if got := value(t, rows[1], fmt.Sprint("return-place", place), at); math.Abs(got-want) > 1e-12 {
				t.Errorf("place %d at %d: %v, want %v", place, at, got, want)
			}
		}
	}
	if got := value(t, rows[0], "return", 4); got != value(t, rows[1], "return", 8) {
		t.Error("doing nothing depends on seed or step")
	}
	if value(t, rows[0], "return-next", 4) == value(t, rows[1], "return-next", 4) {
		t.Error("the next episode has the same noise for every seed")
	}
	random := run(t, h, open(t), s, "random", 0, 1)
	if value(t, random[0], "return", 4) != value(t, random[0], "return", 8) ||
		value(t, random[0], "return", 4) == value(t, random[1], "return", 4) {
		t.Errorf("random actions %v, want them to depend on the seed only", random)
	}
	if all := run(t, h, open(t), s, "random", 0); !reflect.DeepEqual(all[0], random[0]) {
		t.Error("random actions depend on the other seeds")
	}
}

// An evaluation changes no training: neither which episodes it has nor how many. Next is the first of the coming ones.
func TestEvaluationsOfBothKinds(t *testing.T) {
	h, s := carts(t), miniature()
	s.Episodes = 8
	tasks := run(t, h, open(t), s, "sac-context", 0, 1)
	s.Evaluate = EvaluateComing
	coming := run(t, h, open(t), s, "sac-context", 0, 1)
	for seed := range int64(2) {
		for _, at := range []int{4, 8} {
			for _, metric := range []string{nextReturn, trainingReturn} {
				if a, b := value(t, tasks[seed], metric, at), value(t, coming[seed], metric, at); a != b {
					t.Errorf("seed %d, %s at %d: %v with tasks, %v with coming episodes", seed, metric, at, a, b)
				}
			}
			mean := 0.0
			for place := range 3 {
				mean += value(t, tasks[seed], fmt.Sprint("return-place", place), at) / 3
			}
			if got := value(t, tasks[seed], MeasureReturn, at); math.Abs(got-mean) > 1e-12 {
				t.Errorf("seed %d: return %v at %d, the mean of the tasks is %v", seed, got, at, mean)
			}
		}
	}
}

// newTestClaw is a claw with two valves and short episodes.
func newTestClaw(ctx context.Context, _ Settings, seed int64, log io.Writer) (env.Env, error) {
	return env.NewClaw(ctx, env.ClawOptions{Log: log, Repeat: 2, Tasks: []int{0, 8}, Seed: seed, Horizon: 5})
}

// The claw's evaluations report the return of each of its valves.
func TestClawReportsValves(t *testing.T) {
	claw, err := newTestClaw(t.Context(), Settings{}, 0, nil)
	if errors.Is(err, env.ErrPlatform) || errors.Is(err, artifact.ErrNetwork) {
		t.Skip(err)
	}
	demand.NoError(t, err)
	claw.Close()
	declareCart(newTestClaw)
	h, s := &experiment.Host{Backend: backend.ForTest(t, backend.Go)}, miniature()
	s.Episodes = 4
	rows := run(t, h, open(t), s, "sac-omega", 0)[0]
	mean := (value(t, rows, "return-valve-0", 4) + value(t, rows, "return-valve-8", 4)) / 2
	if got := value(t, rows, MeasureReturn, 4); math.Abs(got-mean) > 1e-9 {
		t.Errorf("the return is %v, the mean of both valves %v", got, mean)
	}
}

// Similarity tells which episodes have the same place.
func (c *cart) Similarity(s, t int) float64 {
	if s%3 == t%3 {
		return 1
	}
	return 0
}

// TestOmegaIsRecorded: each evaluation of a learner with omega has its rows, in their ranges, and
// no other learner has any.
func TestOmegaIsRecorded(t *testing.T) {
	h, s := carts(t), miniature()
	rows := run(t, h, open(t), s, "sac-omega", 1, 2)
	for metric, valid := range map[string][2]float64{
		omegaMean: {0, 1}, omegaShare: {0, 1}, omegaSpread: {0, 60}, omegaLoss: {0, 5}, omegaSimilarity: {-1, 1},
		omegaRecency: {-1, 1},
	} {
		values := ofMetric(rows[2], metric)
		if len(values) != len(s.PlannedSteps()) {
			t.Fatalf("%s: %d rows for %d evaluations", metric, len(values), len(s.PlannedSteps()))
		}
		for _, v := range values {
			if !(v.Value >= valid[0] && v.Value <= valid[1]) {
				t.Errorf("%s is %v", metric, v)
			}
		}
		if values[len(values)-1].Value == values[0].Value {
			t.Errorf("%s stays at %v while g is trained", metric, values[0])
		}
	}
	for _, r := range run(t, h, open(t), s, "sac", 1)[1] {
		if strings.HasPrefix(r.Metric, "omega-") {
			t.Errorf("plain SAC reports %s", r.Metric)
		}
	}
}

// TestSimilarityOfARecord compares with a correlation by hand. T itself does not count. An omega that grows with the
// episode's number has a recency of 1.
func TestSimilarityOfARecord(t *testing.T) {
	episodes := []int{2, 3, 4, 5, 6}
	for _, c := range []struct {
		means []float64
		of    func(s, t int) float64
		want  float64
	}{
		// (.1, .9, .2, .2) against (0, 1, 0, 0): covariance .55, sums of squares .41 and .75.
		{[]float64{.1, .9, .2, .2, 55}, (&cart{}).Similarity, .55 / math.Sqrt(.41*.75)},
		{[]float64{.5, .5, .5, .5, .5}, (&cart{}).Similarity, 0},
		{[]float64{.2, .3, .4, .5, 0}, recency, 1}, {[]float64{.8, .7, .6, .5, 55}, recency, -1},
	} {
		got := correlation(sac.OmegaRecord{Last: 6, Episodes: episodes, Means: c.means}, c.of)
		if math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v has the correlation %v, not %v", c.means, got, c.want)
		}
	}
	demand.Equal(t, correlation(sac.OmegaRecord{Last: -1}, recency), 0, "correlation of nothing")
}

// TestRecentLearners: they train to other numbers than plain SAC, and to the same ones if the latest episodes are all.
func TestRecentLearners(t *testing.T) {
	h, s := carts(t), miniature()
	plain := run(t, h, open(t), s, "sac", 1)[1]
	s.Recent = 2
	if got := run(t, h, open(t), s, "sac-recent", 1)[1]; reflect.DeepEqual(got, plain) {
		t.Error("sac-recent trains as sac")
	}
	for _, recent := range []int{0, s.Episodes} {
		s.Recent = recent
		if got := run(t, h, open(t), s, "sac-recent", 1)[1]; !reflect.DeepEqual(got, plain) {
			t.Errorf("recent=%d trains to other numbers than sac", recent)
		}
	}
}
