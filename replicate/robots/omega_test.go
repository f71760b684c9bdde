package robots

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"tvps/gomlx_models/sac"
)

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
	if got := correlation(sac.OmegaRecord{Last: -1}, recency); got != 0 {
		t.Errorf("correlation of nothing is %v", got)
	}
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
