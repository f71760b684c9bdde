package robots

import (
	"context"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"

	"tvps/ci/demand"
	"tvps/data/env"
	"tvps/gomlx_models/sac"
	"tvps/replicate/runs"
)

// Similarity tells which episodes have the same place.
func (c *cart) Similarity(s, t int) float64 {
	if s%3 == t%3 {
		return 1
	}
	return 0
}

func (c *cart) TaskWeight(s, t int) float64 { return c.Similarity(s, t) }

// TestOmegaIsRecorded: each evaluation of a learner with omega has its rows, in their ranges, and
// no other learner has any.
func TestOmegaIsRecorded(t *testing.T) {
	h, s := carts(t), miniature()
	rows := run(t, h, open(t), s, "sac-omega", 1, 2)
	for metric, valid := range map[string][2]float64{
		OmegaMean: {0, 1}, OmegaShare: {0, 1}, OmegaSpread: {0, 60}, OmegaLoss: {0, 5}, OmegaSimilarity: {-1, 1},
		OmegaRecency: {-1, 1},
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

// TestOmegaOfLatestEpisodes: omega that grows with the episode's number has a recency of 1.
func TestOmegaOfLatestEpisodes(t *testing.T) {
	r := sac.OmegaRecord{Last: 9, Episodes: []int{3, 5, 6, 8, 9}, Means: []float64{.3, .5, .6, .8, 0}}
	if got := recency(r); math.Abs(got-1) > 1e-12 {
		t.Errorf("recency %v, not 1", got)
	}
	r.Means = []float64{.8, .6, .5, .3, 55}
	if got := recency(r); math.Abs(got+1) > 1e-12 {
		t.Errorf("recency %v, not -1", got)
	}
}

// TestSimilarityOfARecord compares with a correlation by hand. T itself does not count.
func TestSimilarityOfARecord(t *testing.T) {
	r := sac.OmegaRecord{Last: 6, Episodes: []int{2, 3, 4, 5, 6}, Means: []float64{.1, .9, .2, .2, 55}}
	got := correlation(r, (&cart{}).Similarity)
	// (.1, .9, .2, .2) against (0, 1, 0, 0): covariance .55, sums of squares .41 and .75.
	if want := .55 / math.Sqrt(.41*.75); math.Abs(got-want) > 1e-12 {
		t.Errorf("correlation %v, not %v", got, want)
	}
	r.Means = []float64{.5, .5, .5, .5, .5}
	if got := correlation(r, (&cart{}).Similarity); got != 0 {
		t.Errorf("correlation of a constant is %v", got)
	}
	if got := correlation(sac.OmegaRecord{Last: -1}, (&cart{}).Similarity); got != 0 {
		t.Errorf("correlation of nothing is %v", got)
	}
}

// TestTaskAndRecentLearners: both train to other numbers than plain SAC. If the weights are all 1,
// and if the latest episodes are all of them, they train to the same ones.
func TestTaskAndRecentLearners(t *testing.T) {
	h, s := carts(t), miniature()
	plain := run(t, h, open(t), s, "sac", 1)[1]
	if got := run(t, h, open(t), s, "sac-task", 1)[1]; reflect.DeepEqual(got, plain) {
		t.Error("sac-task trains as sac")
	}
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
	identity := func(recent int, learner string) string {
		s.Recent = recent
		return jobs(t, h, s, learner, 1)[0].Spec.Settings["recent"]
	}
	if identity(7, "sac-recent") != "7" || identity(7, "sac") != "" {
		t.Error("recent is not part of the identity of sac-recent alone")
	}
}

// TestTaskNeedsSimilarity: an environment that does not know its tasks.
func TestTaskNeedsSimilarity(t *testing.T) {
	h := carts(t)
	declareCart(func(context.Context, Settings, int64, io.Writer) (env.Env, error) {
		return struct{ env.Env }{&cart{}}, nil // without the methods of env.Similar
	})
	report, err := runs.Execute(t.Context(), open(t), jobs(t, h, miniature(), "sac-task", 1), runs.Options{Workers: 1})
	if err == nil {
		err = report.Err()
	}
	demand.Error(t, err, "sac-task", "similarity of tasks", "cart")
}
